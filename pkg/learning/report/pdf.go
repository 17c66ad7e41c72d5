package report

import (
	"context"
	"strings"

	"visavis.dev/pkg/text/typeset"
)

// A4 upright, in points, and what is left free around it.
const (
	width  = 595.28
	height = 841.89
	margin = 56.0
	span   = width - 2*margin
	// foot is how high the lowest line of a page may be.
	foot = margin + 24
)

// The colors: ink, and a quieter one for what is around.
var (
	ink   = typeset.Color{0.09, 0.13, 0.24}
	quiet = typeset.Color{0.33, 0.36, 0.43}
)

// atOnce bounds how many reports are printed side by side: each takes some megabytes.
var atOnce = make(chan struct{}, 2)

// printer sets a report line by line, from the top of each page down.
type printer struct {
	*typeset.Sheet
	*typeset.Setter
	y        float64
	mirrored bool
}

// pdf prints the report. The error is that of the context, or a fault of the program.
func (c *Content) pdf(ctx context.Context) ([]byte, error) {
	v, err := c.view()
	if err != nil {
		return nil, err
	}
	p, leave, err := newPrinter(ctx, c.Language, v.Direction)
	if err != nil {
		return nil, err
	}
	defer leave()
	p.print(v)
	return p.Write(width, height, typeset.About{Title: v.Title + ": " + v.Subject, Author: c.Portal, Language: c.Language, At: c.ProducedAt})
}

// newPrinter begins a report; leave lets another begin. The error is that of the context.
func newPrinter(ctx context.Context, language, direction string) (p *printer, leave func(), err error) {
	select {
	case atOnce <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	p = &printer{Sheet: typeset.NewSheet(), Setter: typeset.NewSetter(language), y: height - margin - 12, mirrored: direction == "rtl"}
	return p, func() { <-atOnce }, nil
}

func (p *printer) print(v view) {
	p.lines(v.Title, 0, span, 11, quiet)
	p.y -= 4
	p.lines(v.Subject, 0, span, 20, ink)
	p.y -= 8
	for _, f := range v.Facts {
		p.pair(f)
	}
	if v.Contested != "" {
		p.y -= 6
		p.lines(v.Contested, 0, span, 10, ink)
	}
	if len(v.Summary) > 0 {
		p.heading(v.Words["summary"])
	}
	for _, l := range v.Summary {
		p.lines(l, 0, span, 10, ink)
	}
	if len(v.Criteria) > 0 {
		p.heading(v.Words["criteria"])
	}
	for _, k := range v.Criteria {
		p.criterion(k, v.Words)
	}
	if len(v.Objectives) > 0 {
		p.heading(v.Words["objectives"])
	}
	for _, o := range v.Objectives {
		p.room(30)
		p.lines(o.Text, 0, span, 10, ink)
		p.lines(v.Words["mastery"]+": "+o.Mastery+" · "+o.Level+" · "+v.Words["previous"]+": "+o.Previous, 14, span-14, 9, quiet)
	}
	p.y -= 14
	p.room(70)
	p.Rule(margin, p.y+8, span, 0.6, quiet)
	p.lines(v.Notice, 0, span, 9, ink)
	for _, f := range v.Foot {
		p.lines(f.Name+": "+f.Text, 0, span, 8.5, quiet)
	}
}

// heading begins a part, never as the last line of a page.
func (p *printer) heading(text string) {
	p.y -= 12
	p.room(60)
	p.lines(text, 0, span, 14, ink)
	p.Rule(margin, p.y+8, span, 0.6, quiet)
	p.y -= 6
}

func (p *printer) criterion(k criterionView, w words) {
	p.room(44)
	p.lines(k.Label, 0, span, 11, ink)
	facts := []string{w["score"] + ": " + k.Score}
	if k.Level != "" {
		facts = append(facts, w["level"]+": "+k.Level)
	}
	facts = append(facts, w["weight"]+": "+k.Weight, w["confidence"]+": "+k.Confidence, w["decided"]+": "+k.By)
	p.lines(strings.Join(facts, " · "), 14, span-14, 9, quiet)
	if k.Rationale != "" {
		p.lines(w["rationale"]+": "+k.Rationale, 14, span-14, 10, ink)
	}
	if k.Reason != "" {
		p.lines(w["reason"]+": "+k.Reason, 14, span-14, 10, ink)
	}
	for _, q := range k.Quotes {
		p.lines(w["quotes"]+": "+q, 14, span-14, 10, ink)
	}
	p.y -= 6
}

// pair sets a fact: its name, and beside it what it is.
func (p *printer) pair(f fact) {
	const beside = 150
	p.room(16)
	y := p.y
	p.lines(f.Name, 0, beside-10, 10, quiet)
	after := p.y
	if after > y { // the name began a page
		y = height - margin - 12
	}
	p.y = y
	p.lines(f.Text, beside, span-beside, 10, ink)
	p.y = min(p.y, after)
}

// lines sets a text of any length in lines of a width that begin so far from the edge.
func (p *printer) lines(text string, in, wide, size float64, c typeset.Color) {
	const leading = 1.45
	lines, _ := p.Fit(text, wide, size, size, 1)
	for _, l := range lines {
		p.room(size * leading)
		x := margin + in
		if p.mirrored {
			x = width - margin - in - l.Width(size)
		}
		p.Text(l, x, p.y, size, c)
		p.y -= size * leading
	}
}

// room begins another page where there is not so much left of this.
func (p *printer) room(needs float64) {
	if p.y-needs < foot {
		p.Break()
		p.y = height - margin - 12
	}
}
