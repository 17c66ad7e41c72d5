package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// baseline is what an engine of before made of the sets of a directory.
type baseline struct {
	commit string
	// tallies are by domain and class.
	tallies map[[2]string]tally
}

// of sums up what is of a domain and a class; an empty one is any.
func (b baseline) of(domain, class string) (sum tally) {
	for at, t := range b.tallies {
		if (domain == "" || at[0] == domain) && (class == "" || at[1] == class) {
			sum = sum.plus(t)
		}
	}
	return sum
}

// only leaves the domains that are asked now.
func (b baseline) only(domains []string) baseline {
	left := baseline{b.commit, map[[2]string]tally{}}
	for at, t := range b.tallies {
		if slices.Contains(domains, at[0]) {
			left.tallies[at] = t
		}
	}
	return left
}

const baselineName = "baseline.txt"

// readBaseline reads the baseline beside the sets; there may be none.
func readBaseline(folder string) (baseline, error) {
	b := baseline{tallies: map[[2]string]tally{}}
	data, err := os.ReadFile(filepath.Join(folder, baselineName))
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err != nil {
		return b, err
	}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if commit, ok := strings.CutPrefix(line, "commit "); ok {
			b.commit = commit
		}
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "commit ") {
			continue
		}
		var at [2]string
		var t tally
		if _, err := fmt.Sscan(line, &at[0], &at[1], &t.good, &t.refused, &t.wrong); err != nil {
			return b, fmt.Errorf("%s: %q: %w", baselineName, line, err)
		}
		b.tallies[at] = t
	}
	return b, nil
}

// writeBaseline writes an outcome as the baseline; domains that were not asked keep
// theirs.
func writeBaseline(folder, commit string, all []outcome) error {
	b, err := readBaseline(folder)
	if err != nil {
		return err
	}
	for at := range b.tallies {
		if slices.ContainsFunc(all, func(o outcome) bool { return o.domain == at[0] }) {
			delete(b.tallies, at)
		}
	}
	for _, o := range all {
		at := [2]string{o.domain, o.question.Class}
		b.tallies[at] = b.tallies[at].plus(tallyOf(o.verdict))
	}
	var out strings.Builder
	fmt.Fprintln(&out, "# What the engine made of these sets: domain, class, good, refused, wrong.")
	fmt.Fprintln(&out, "commit", commit)
	lines := make([]string, 0, len(b.tallies))
	for at, t := range b.tallies {
		lines = append(lines, fmt.Sprintf("%02d %s %s %d %d %d", slices.Index(classes, at[1]), at[0], at[1], t.good, t.refused, t.wrong))
	}
	slices.SortFunc(lines, func(a, b string) int {
		one, other := strings.Fields(a), strings.Fields(b)
		return strings.Compare(one[1]+" "+one[0], other[1]+" "+other[0])
	})
	for _, line := range lines {
		fmt.Fprintln(&out, line[3:])
	}
	return os.WriteFile(filepath.Join(folder, baselineName), []byte(out.String()), 0o600)
}
