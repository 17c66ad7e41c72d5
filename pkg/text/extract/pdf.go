package extract

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"visavis.dev/pkg/text/extract/pdf"
)

// extractPDF joins the lines of every page into paragraphs. Lines in larger letters
// are headings.
func extractPDF(ctx context.Context, data []byte, b *builder) error {
	file, err := pdf.Read(ctx, data, maxText)
	switch {
	case errors.Is(err, pdf.ErrTooManyPages):
		return ErrTooComplex
	case err != nil:
		return err
	}
	if err := readPages(ctx, file, b); err != nil {
		return err
	}
	return b.check(ctx)
}

func readPages(ctx context.Context, file pdf.File, b *builder) error {
	pages := file.Pages
	b.document.Title = file.Title
	running := runningLines(pages)
	body := bodySize(pages)
	for i, lines := range pages {
		if err := b.check(ctx); err != nil {
			return err
		}
		b.startPage(i + 1)
		p := &flow{builder: b, body: body, right: rightEdge(lines)}
		for j, l := range lines {
			if !edge(j, len(lines)) || !running[pattern(l.Text)] {
				p.add(l)
			}
		}
		p.flush()
	}
	return nil
}

// digits differ from page to page in what runs along.
var digits = regexp.MustCompile(`\d+`)

func pattern(text string) string { return digits.ReplaceAllString(clean(text), "0") }

// edge says whether line i of n is where headers and footers are drawn: producers
// draw them first or last.
func edge(i, n int) bool { return i < 2 || i >= n-2 }

// runningLines are the headers and footers: what stands at the edge of most pages.
func runningLines(pages [][]pdf.Line) map[string]bool {
	counts := map[string]int{}
	for _, lines := range pages {
		seen := map[string]bool{}
		for i, l := range lines {
			if p := pattern(l.Text); edge(i, len(lines)) && !seen[p] {
				seen[p] = true
				counts[p]++
			}
		}
	}
	running := map[string]bool{}
	for p, n := range counts {
		running[p] = n >= 3 && n > len(pages)/2
	}
	return running
}

// bodySize is the size that most letters have.
func bodySize(pages [][]pdf.Line) float64 {
	counts := map[float64]int{}
	for _, lines := range pages {
		for _, l := range lines {
			counts[l.Size] += len(l.Text)
		}
	}
	body, most := 0.0, 0
	for size, n := range counts {
		if n > most || n == most && size < body {
			body, most = size, n
		}
	}
	return body
}

// rightEdge is where full lines end: nine of ten end there or before.
func rightEdge(lines []pdf.Line) float64 {
	if len(lines) == 0 {
		return 0
	}
	ends := make([]float64, len(lines))
	for i, l := range lines {
		ends[i] = l.Right
	}
	slices.Sort(ends)
	return ends[len(ends)*9/10]
}

// Measures of a page, in sizes of its letters.
const (
	headingSize = 1.15
	maxLeading  = 1.7 // from line to line within a paragraph
	shortLine   = 8.0 // before the right edge: the last line of a paragraph
	maxLarge    = 200 // bytes
)

// flow makes paragraphs of lines.
type flow struct {
	builder *builder
	body    float64
	right   float64
	text    []byte
	last    pdf.Line
	heading bool
}

func (p *flow) add(l pdf.Line) {
	heading := l.Size > headingSize*p.body && len(l.Text) < maxLarge
	if len(p.text) > 0 && !p.continues(l, heading) {
		p.flush()
	}
	p.heading = heading
	p.text = joinLine(p.text, l.Text)
	p.last = l
}

// continues says whether a line belongs to the paragraph of the last.
func (p *flow) continues(l pdf.Line, heading bool) bool {
	step := l.Down - p.last.Down
	sameSize := max(l.Size, p.last.Size) < 1.1*min(l.Size, p.last.Size)
	switch {
	case heading != p.heading, !sameSize, item.MatchString(l.Text):
		return false
	case step <= 0 || step > maxLeading*max(l.Size, 1):
		return false
	}
	return heading || !endsSentence(p.last.Text) || p.last.Right > p.right-shortLine*p.last.Size
}

func (p *flow) flush() {
	text := string(p.text)
	p.text = p.text[:0]
	switch {
	case p.heading:
		p.builder.startHeading(text)
	case item.MatchString(text):
		p.builder.line(text)
	default:
		p.builder.paragraph(text)
	}
}

func endsSentence(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(strings.TrimRight(s, " )]”\"’'"))
	return strings.ContainsRune(".!?:。！？", r)
}

// joinLine appends a line, taking back a hyphen that divides a word: one between
// letters whose second is small.
func joinLine(text []byte, next string) []byte {
	text = bytes.TrimRightFunc(text, unicode.IsSpace)
	next = strings.TrimLeftFunc(next, unicode.IsSpace)
	first, _ := utf8.DecodeRuneInString(next)
	stem, hyphened := text, false
	for _, hyphen := range []string{"-", "\u2010", "\u00ad"} {
		if !hyphened {
			stem, hyphened = bytes.CutSuffix(text, []byte(hyphen))
		}
	}
	last, _ := utf8.DecodeLastRune(stem)
	switch {
	case hyphened && unicode.IsLower(last) && unicode.IsLower(first):
		text = stem
	case len(text) > 0 && !hyphened && !unicode.In(first, unicode.Han, unicode.Hiragana, unicode.Katakana):
		text = append(text, ' ')
	}
	return append(text, next...)
}
