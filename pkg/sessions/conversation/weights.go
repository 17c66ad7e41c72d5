package conversation

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
)

// The weights are fit on the tuning sets by hack/quality -fit, which writes the file.
//
//go:embed weights.txt
var weightsText string

// weights are what each feature counts.
type weights features

// fit is what was fit: rank orders the sentences of a question, sure makes of the best
// one's features the log-odds that it answers, and least is the likelihood from which an
// answer is given.
type fit struct {
	rank, sure weights
	least      float64
}

var fitted = func() fit {
	f, err := readWeights(weightsText)
	if err != nil {
		panic(err) // the file is part of the program
	}
	return f
}()

func readWeights(text string) (f fit, err error) {
	for line := range strings.Lines(text) {
		var of, name string
		var value float64
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		if _, err := fmt.Sscan(line, &of, &name, &value); err != nil {
			return f, fmt.Errorf("weights.txt: %q: %w", line, err)
		}
		at := slices.Index(names[:], name)
		switch {
		case of == "least":
			f.least = value
		case at >= 0 && of == "rank":
			f.rank[at] = value
		case at >= 0 && of == "sure":
			f.sure[at] = value
		default:
			return f, fmt.Errorf("weights.txt: there is no feature %s of %s", name, of)
		}
	}
	return f, nil
}

// of is the sum of features, each by its weight.
func (w *weights) of(f *features) float64 {
	sum := 0.0
	for n := range f {
		sum += w[n] * f[n]
	}
	return sum
}

// likelihood is a probability by its log-odds.
func likelihood(odds float64) float64 { return 1 / (1 + math.Exp(-odds)) }
