package main

import (
	"fmt"
	"io"
)

// counts are how the scorer did over many answers.
type counts struct {
	all, sure []pair
	doubtful  int // answers that a person doubts
	asked     int // of those, where the scorer asks for a person
	clear     int // answers that a person does not doubt
	needless  int // of those, where the scorer asks for a person all the same
}

func (c *counts) add(p pair) {
	c.all = append(c.all, p)
	if p.sure {
		c.sure = append(c.sure, p)
	}
	switch {
	case p.doubtful && !p.sure:
		c.doubtful, c.asked = c.doubtful+1, c.asked+1
	case p.doubtful:
		c.doubtful++
	case !p.sure:
		c.clear, c.needless = c.clear+1, c.needless+1
	default:
		c.clear++
	}
}

func (c *counts) print(to io.Writer) {
	line := func(name string, n int, value float64, unit string) {
		fmt.Fprintf(to, "BenchmarkAgreement/%s\t%8d\t%12.3f %s\n", name, n, value, unit)
	}
	line("sure", len(c.sure), kappa(c.sure), "weighted-kappa")
	line("all", len(c.all), kappa(c.all), "weighted-kappa")
	line("sure-and-the-same", len(c.sure), same(c.sure), "of-1")
	line("doubtful-left-to-a-person", c.doubtful, float64(c.asked)/float64(c.doubtful), "of-1")
	line("clear-left-to-a-person", c.clear, float64(c.needless)/float64(c.clear), "of-1")
}

// same is the share of answers that got the same score.
func same(pairs []pair) float64 {
	var n int
	for _, p := range pairs {
		if p.person == p.machine {
			n++
		}
	}
	return float64(n) / float64(len(pairs))
}

// kappa is Cohen's, with quadratic weights, of scores as shares of what could be reached: 1 for
// full agreement, 0 for what chance would give.
func kappa(pairs []pair) float64 {
	var observed, expected float64
	for _, p := range pairs {
		observed += apart(p.person, p.most, p.machine, p.most)
		for _, o := range pairs {
			expected += apart(p.person, p.most, o.machine, o.most)
		}
	}
	return 1 - observed*float64(len(pairs))/expected
}

// apart is the weight of a disagreement: the square of the distance of two shares.
func apart(a, ofA, b, ofB int) float64 {
	d := float64(a)/float64(ofA) - float64(b)/float64(ofB)
	return d * d
}
