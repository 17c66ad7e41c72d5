package report

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/sessions/printed"
	"visavis.dev/pkg/text/typeset"
)

// groupView is a report of people together as people read it.
type groupView struct {
	Language, Direction, Title, Name string
	Words                            words
	Facts                            []fact
	// Few says that figures of few are left out.
	Few string
	// Overview compares the subjects; nil of one.
	Overview *table
	Parts    []partView
	Notice   string
	Foot     []fact
}

// partView is what is said of a subject.
type partView struct {
	Title   string
	Facts   []fact
	Nothing string
	Tables  []table
}

// table has a name in its first column.
type table struct {
	ID, Title, Hint string
	Head            []string
	Rows            []line
}

// line is a row of a table. Where it is Barred its last column is a share in percent, which is drawn too.
type line struct {
	Name   string
	Cells  []string
	Bar    int64
	Barred bool
}

// unknown stands for what is left out.
const unknown = "–"

func (c *Group) view() (v groupView, err error) {
	w, err := wordsIn(c.Language)
	if err != nil {
		return v, err
	}
	v = groupView{
		Language: c.Language, Direction: "ltr", Title: w["cohortTitle"], Name: c.Portal, Words: w, Few: w["few"], Notice: w["groupNotice"],
		Foot: []fact{{w["number"], fmt.Sprintf("%s · %d", c.ReportID, c.Version)}, {w["produced"], date(&c.ProducedAt)}},
	}
	if typeset.IsRTL(w["title"]) {
		v.Direction = "rtl"
	}
	whole := c.Kind == printed.OfPortal
	if whole {
		v.Title = w["portalTitle"]
	} else if len(c.Cohorts) > 0 {
		v.Name = c.Cohorts[0].Subject
	}
	v.Facts = append(v.Facts, fact{w["portal"], c.Portal})
	if c.Assignment != nil {
		v.Facts = append(v.Facts, fact{w["assignment"], *c.Assignment})
	}
	if c.Audience != nil {
		v.Facts = append(v.Facts, fact{w["audience"], w["audience_"+*c.Audience]})
	}
	if len(c.Units) > 0 {
		v.Facts = append(v.Facts, fact{w["units"], strings.Join(c.Units, ", ")})
	}
	if len(c.Untold) > 0 {
		v.Facts = append(v.Facts, fact{w["untold"], strings.Join(c.Untold, ", ")})
	}
	if whole && len(c.Cohorts) > 0 {
		v.Overview = c.overview(w)
	}
	for i := range c.Cohorts {
		part := c.Cohorts[i].view(w, fmt.Sprintf("s%d-", i+1))
		if !whole {
			part.Title = ""
		}
		v.Parts = append(v.Parts, part)
	}
	if len(c.Cohorts) == 0 {
		v.Parts = append(v.Parts, partView{Nothing: w["nothing"]})
	}
	return v, nil
}

func (c *Group) overview(w words) *table {
	t := &table{ID: "overview", Title: w["overview"], Head: []string{w["subject"], w["scored"], w["passed"], w["average"]}}
	for _, k := range c.Cohorts {
		cells := []string{unknown, unknown, unknown}
		if r := k.Results; r != nil {
			cells = []string{people(&r.People), people(r.Passed), percent(r.AveragePercent)}
		}
		t.Rows = append(t.Rows, line{Name: k.Subject, Cells: cells})
	}
	return t
}

func people(n *int64) string {
	if n == nil {
		return unknown
	}
	return strconv.FormatInt(*n, 10)
}

// view is what is said of a subject; ids of its parts begin with something that no other's do.
func (k *Cohort) view(w words, prefix string) partView {
	v := partView{Title: k.Subject}
	if !k.Told() {
		v.Nothing = w["nothing"]
		return v
	}
	if r := k.Results; r != nil {
		v.Facts = []fact{
			{w["scored"], people(&r.People)}, {w["average"], percent(r.AveragePercent)}, {w["passed"], people(r.Passed)},
			{w["notPassed"], people(r.NotPassed)}, {w["counted"], date(&r.CountedAt)},
		}
	}
	for _, t := range []table{k.spread(w), k.mastery(w)} {
		if len(t.Rows) > 0 {
			t.ID = prefix + t.ID
			v.Tables = append(v.Tables, t)
		}
	}
	return v
}

func (k *Cohort) spread(w words) table {
	t := table{ID: "spread", Title: w["spread"], Head: []string{w["outcome"], w["people"], w["share"]}}
	if k.Results == nil {
		return t
	}
	for _, b := range k.Results.Bands {
		name := w[b.From]
		if b.To != b.From {
			name += " – " + w[b.To]
		}
		all := k.Results.People
		t.Rows = append(t.Rows, line{Name: name, Cells: []string{people(&b.People)}, Bar: (200*b.People + all) / (2 * all), Barred: true})
	}
	return t
}

func (k *Cohort) mastery(w words) table {
	t := table{ID: "objectives", Title: w["objectives"], Head: []string{w["objective"], w["people"], w["secureBy"], w["mastery"], w["level"], w["counted"]}}
	for _, o := range k.Objectives {
		t.Rows = append(t.Rows, line{Name: o.Text, Cells: []string{people(&o.People), people(o.Secure), percent(100 * o.AverageMastery), w[string(o.Level)], date(&o.CountedAt)}})
	}
	return t
}

// anyOf is a text in some language, always the same; otherwise where it has none.
func anyOf(w language.Words, otherwise string) string {
	codes := make([]string, 0, len(w))
	for code, text := range w {
		if text != "" {
			codes = append(codes, code)
		}
	}
	if len(codes) == 0 {
		return otherwise
	}
	return w[slices.Min(codes)]
}

func (c *Group) pdf(ctx context.Context) ([]byte, error) {
	v, err := c.view()
	if err != nil {
		return nil, err
	}
	p, leave, err := newPrinter(ctx, c.Language, v.Direction)
	if err != nil {
		return nil, err
	}
	defer leave()
	p.printGroup(v)
	return p.Write(width, height, typeset.About{Title: v.Title + ": " + v.Name, Author: c.Portal, Language: c.Language, At: c.ProducedAt})
}

func (p *printer) printGroup(v groupView) {
	p.lines(v.Title, 0, span, 11, quiet)
	p.y -= 4
	p.lines(v.Name, 0, span, 20, ink)
	p.y -= 8
	for _, f := range v.Facts {
		p.pair(f)
	}
	p.y -= 6
	p.lines(v.Few, 0, span, 9, quiet)
	if v.Overview != nil {
		p.table(*v.Overview)
	}
	for _, part := range v.Parts {
		p.y -= 6
		if part.Title != "" {
			p.y -= 8
			p.room(90)
			p.lines(part.Title, 0, span, 16, ink)
			p.y -= 4
		}
		for _, f := range part.Facts {
			p.pair(f)
		}
		if part.Nothing != "" {
			p.lines(part.Nothing, 0, span, 10, ink)
		}
		for _, t := range part.Tables {
			p.table(t)
		}
	}
	p.y -= 14
	p.room(70)
	p.Rule(margin, p.y+8, span, 0.6, quiet)
	p.lines(v.Notice, 0, span, 9, ink)
	for _, f := range v.Foot {
		p.lines(f.Name+": "+f.Text, 0, span, 8.5, quiet)
	}
}

// table sets each row as its name, and below that what the columns say of it, by their heads.
func (p *printer) table(t table) {
	p.heading(t.Title)
	if t.Hint != "" {
		p.lines(t.Hint, 0, span, 9, quiet)
	}
	for _, l := range t.Rows {
		p.room(32)
		p.lines(l.Name, 0, span, 10, ink)
		var facts []string
		for i, cell := range l.Cells {
			facts = append(facts, t.Head[i+1]+": "+cell)
		}
		if l.Barred {
			facts = append(facts, t.Head[len(l.Cells)+1]+": "+percent(float64(l.Bar)))
		}
		p.lines(strings.Join(facts, " · "), 14, span-14, 9, quiet)
		if l.Barred {
			const most = 200
			long := most * float64(l.Bar) / 100
			x := margin + 14
			if p.mirrored {
				x = width - margin - 14 - long
			}
			p.Box(x, p.y+3, long, 4, ink)
			p.y -= 5
		}
		p.y -= 2
	}
}
