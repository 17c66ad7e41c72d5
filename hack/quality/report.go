package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"visavis.dev/pkg/sessions/conversation"
)

// outcome is what came of a question.
type outcome struct {
	domain   string
	question *question
	answer   answer
	verdict  verdict
	// took is from the question to the end of its answer.
	took time.Duration
	// traces are how the engine chose the answers to it.
	traces []conversation.Trace
}

// helps says whether an answer holds the facts, however sure it is of them.
func (o *outcome) helps() bool {
	return judge(o.question, answer{o.answer.text, conversation.ActAnswer}) == good
}

// tally counts verdicts.
type tally struct{ good, refused, wrong int }

func (t tally) plus(o tally) tally {
	return tally{t.good + o.good, t.refused + o.refused, t.wrong + o.wrong}
}

func (t tally) all() int { return t.good + t.refused + t.wrong }

func tallyOf(v verdict) tally {
	switch v {
	case good:
		return tally{good: 1}
	case refused:
		return tally{refused: 1}
	default:
		return tally{wrong: 1}
	}
}

// shares are the counts as percentages.
func (t tally) shares() string {
	if t.all() == 0 {
		return fmt.Sprintf("%7s %7s %7s", "-", "-", "-")
	}
	percent := func(n int) float64 { return 100 * float64(n) / float64(t.all()) }
	return fmt.Sprintf("%6.1f%% %6.1f%% %6.1f%%", percent(t.good), percent(t.refused), percent(t.wrong))
}

// report prints what came of the questions beside the baseline.
func report(w io.Writer, all []outcome, ranked []ranking, before baseline) {
	var domains []string
	for _, o := range all {
		if !slices.Contains(domains, o.domain) {
			domains = append(domains, o.domain)
		}
	}
	before = before.only(domains)
	sum := func(matches func(outcome) bool) (t tally) {
		for _, o := range all {
			if matches(o) {
				t = t.plus(tallyOf(o.verdict))
			}
		}
		return t
	}
	line := func(name string, now, then tally) {
		marked := ""
		if then.all() != 0 && then.all() != now.all() {
			marked = fmt.Sprintf("  (of %d then)", then.all())
		}
		fmt.Fprintf(w, "%-18s %5d  %s   %s%s\n", name, now.all(), now.shares(), then.shares(), marked)
	}
	head := func(name string) {
		fmt.Fprintf(w, "%-18s %5s  %7s %7s %7s   %7s %7s %7s\n", name, "n", "good", "refused", "wrong", "good", "refused", "wrong")
	}
	if before.commit != "" {
		fmt.Fprintf(w, "%-18s %5s  %-23s   baseline, at %s\n", "", "", "now", before.commit)
	}
	head("class")
	for _, class := range classes {
		line(class, sum(func(o outcome) bool { return o.question.Class == class }), before.of("", class))
	}
	fmt.Fprintln(w, strings.Repeat("-", 76))
	head("domain")
	for _, domain := range domains {
		line(domain, sum(func(o outcome) bool { return o.domain == domain }), before.of(domain, ""))
	}
	fmt.Fprintln(w, strings.Repeat("-", 76))
	line("all", sum(func(outcome) bool { return true }), before.of("", ""))
	fmt.Fprintf(w, "offered            %s\n", offersOf(all))
	took := make([]time.Duration, len(all))
	for i, o := range all {
		took[i] = o.took
	}
	slices.Sort(took)
	percentile := func(p int) float64 { return float64(took[(len(took)*p+99)/100-1]) / 1e6 }
	fmt.Fprintf(w, "latency            p50 %.1f ms  p99 %.1f ms\n", percentile(50), percentile(99))
	ours, plain, n := 0.0, 0.0, 0
	for _, r := range ranked {
		ours, plain, n = ours+r.ours, plain+r.plain, n+r.questions
	}
	if n > 0 {
		fmt.Fprintf(w, "nDCG@10            search %.3f  plain BM25 %.3f  (%d questions)\n", ours/float64(n), plain/float64(n), n)
	}
}

// offersOf tells of the questions that the handbook answers and the persona said not to know
// for certain: to how many the sentences that it offered with that hold the facts.
func offersOf(all []outcome) string {
	refusals, helped := 0, 0
	for _, o := range all {
		if o.verdict == refused && o.question.Expect == expectKnow && o.answer.act == conversation.ActUnknown {
			refusals++
			if o.helps() {
				helped++
			}
		}
	}
	return fmt.Sprintf("%d of %d that were not known for certain hold the facts (%.1f%% of all)", helped, refusals, 100*float64(helped)/float64(max(len(all), 1)))
}

// explain prints the questions that were not answered well, or all of them, with what
// was said.
func explain(w io.Writer, all []outcome, well bool) {
	for _, o := range all {
		if o.verdict == good && !well {
			continue
		}
		fmt.Fprintf(w, "%s/%s  %s, %s", o.domain, o.question.ID, o.question.Class, o.verdict)
		if o.verdict != good && o.traces != nil {
			fmt.Fprintf(w, ", %s", lossOf(&o))
		}
		if o.verdict == refused && o.helps() {
			fmt.Fprint(w, ", the facts were offered")
		}
		fmt.Fprintln(w)
		for _, turn := range o.question.Ask {
			fmt.Fprintf(w, "    > %s\n", turn)
		}
		fmt.Fprintf(w, "    [%s] %s\n", o.answer.act, strings.ReplaceAll(o.answer.text, "\n", "\n      "))
		for _, t := range o.traces {
			chosen(w, o.question, t)
		}
		switch {
		case len(o.question.Facts) > 0:
			fmt.Fprintf(w, "    %s: %q never %q\n", o.question.Expect, o.question.Facts, o.question.Never)
		default:
			fmt.Fprintf(w, "    %s\n", o.question.Expect)
		}
		fmt.Fprintln(w)
	}
}

// chosen prints how the engine chose an answer: what it looked for, the best sentence and
// the first that would have been good.
func chosen(w io.Writer, q *question, t conversation.Trace) {
	fmt.Fprintf(w, "    %q read as %s, asks for %q:", t.Question.Text, t.Language, t.Kind)
	for _, u := range t.Wanted {
		fmt.Fprintf(w, " %s %v %.1f;", strings.Join(u.Words, "+"), u.Concepts, u.Weight)
	}
	fmt.Fprintf(w, " likely %.2f of %.2f\n", t.Sure, t.Threshold)
	for n, c := range t.Candidates {
		good := judge(q, answer{c.Said, conversation.ActAnswer}) == good
		if n > 0 && !good {
			continue
		}
		fmt.Fprintf(w, "    %d. %.2f %s | %s\n      ", n+1, c.Score, c.Passage.Heading, c.Text)
		for _, name := range conversation.Features() {
			if c.Features[name] != 0 {
				fmt.Fprintf(w, " %s %.2f", name, c.Features[name])
			}
		}
		fmt.Fprintln(w)
		if good {
			break
		}
	}
}
