// Command quality asks personas the questions of a directory of sets and prints how
// many are answered well, refused and answered wrong: by class and by domain, beside
// what the engine made of them when the baseline was taken. The format of the sets is
// in README.md beside it.
//
// The path is a caller's: a handbook is read into a knowledge pack as a document, a
// persona answers from it, and the conversation is the engine's. It needs a database
// server, which hack/withdb gives it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"visavis.dev/pkg/text/extract/sandbox"
)

// heldout is the directory whose texts are for nobody who tunes the engine.
const heldout = "heldout"

// options are what the command line says.
type options struct {
	root, sets, domain string
	// explain prints the questions that were not answered well.
	explain bool
	// answers prints the others too, to see whether the judge is right.
	answers bool
	// losses prints at which stage questions were lost.
	losses bool
	// baseline, when it is not empty, writes what was measured as the figures to
	// compare with, under that name of a commit.
	baseline string
	// pages are added to each pack that answer nothing.
	pages int
	// fit, when it is not empty, fits the weights of the engine and writes them to that
	// file; wrong is the share of questions that may be answered wrong.
	fit   string
	wrong float64
	// by are the domains by which the threshold is chosen.
	by string
}

func main() {
	sandbox.Become()
	var o options
	flag.StringVar(&o.root, "root", "hack/quality/sets", "the `directory` of the directories of sets")
	flag.StringVar(&o.sets, "sets", "tuning", "which `directories` of sets to ask, with commas between them: tuning, heldout or visitors")
	flag.StringVar(&o.domain, "domain", "", "the only `domains` to ask, with commas between them")
	flag.BoolVar(&o.explain, "explain", false, "print every question that was not answered well, with its answer; not of held-out sets")
	flag.BoolVar(&o.answers, "answers", false, "print every question with its answer, as -explain does")
	flag.BoolVar(&o.losses, "losses", false, "print at which stage the questions were lost that were not answered well; not of held-out sets")
	flag.StringVar(&o.baseline, "baseline", "", "write the outcome as the baseline, measured at this `commit`")
	flag.IntVar(&o.pages, "pages", 0, "add so many `pages` of other text to each pack, and use one core: for the latency in large packs")
	flag.StringVar(&o.fit, "fit", "", "fit the weights of the built-in engine on what comes of the questions, and write them to this `file`; not on held-out sets")
	flag.Float64Var(&o.wrong, "wrong", 0.12, "the `share` of questions of domains not seen that may be answered wrong, for -fit")
	flag.StringVar(&o.by, "by", "", "the `domains` that -fit chooses the threshold by and shows the outcome of, with commas between them; all without it")
	flag.Parse()
	ctrl.SetLogger(logr.Discard())
	if err := run(context.Background(), o); err != nil {
		fmt.Fprintln(os.Stderr, "quality:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	sets, err := loadAll(o)
	if err != nil {
		return err
	}
	folder := filepath.Join(o.root, o.sets)
	if o.pages > 0 {
		runtime.GOMAXPROCS(1)
		for i := range sets {
			sets[i].filler = filler(&sets[i], o.pages)
		}
	}
	before, err := readBaseline(folder)
	if err != nil {
		return err
	}
	f, err := newFixture(ctx)
	if err != nil {
		return err
	}
	defer f.backend.Close()
	var all []outcome
	var ranked []ranking
	for i := range sets {
		made, rank, err := f.ask(ctx, &sets[i], o.fit != "" || o.explain || o.losses)
		if err != nil {
			return fmt.Errorf("%s: %w", sets[i].domain, err)
		}
		if o.explain || o.answers {
			explain(os.Stdout, made, o.answers)
		}
		all, ranked = append(all, made...), append(ranked, rank)
	}
	report(os.Stdout, all, ranked, before)
	if o.losses {
		lost(os.Stdout, all, sets)
	}
	if o.fit != "" {
		return fit(os.Stdout, o.fit, all, o.wrong, strings.FieldsFunc(o.by, func(r rune) bool { return r == ',' }))
	}
	if o.baseline != "" {
		return writeBaseline(folder, o.baseline, all)
	}
	return nil
}

// loadAll reads the sets that are asked.
func loadAll(o options) (sets []set, err error) {
	for name := range strings.SplitSeq(o.sets, ",") {
		if (o.explain || o.answers || o.losses || o.fit != "") && filepath.Base(name) == heldout {
			return nil, errors.New("held-out sets are not explained: who has read them cannot be judged by them any more")
		}
		some, err := load(filepath.Join(o.root, name))
		if err != nil {
			return nil, err
		}
		sets = append(sets, some...)
	}
	if o.domain != "" {
		only := strings.Split(o.domain, ",")
		sets = slices.DeleteFunc(sets, func(s set) bool { return !slices.Contains(only, s.domain) })
	}
	if len(sets) == 0 {
		return nil, fmt.Errorf("there is no such set in %s", filepath.Join(o.root, o.sets))
	}
	return sets, nil
}
