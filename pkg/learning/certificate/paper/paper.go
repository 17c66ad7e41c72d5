// Package paper prints certificates: one page of A4 across, as a PDF that holds its fonts and
// has what anybody verifies it with, as a code to scan and in letters.
package paper

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/boombuler/barcode/qr"
	tag "golang.org/x/text/language"

	"visavis.dev/pkg/text/typeset"
)

// Content is what a certificate says.
type Content struct {
	// Recipient is who it is awarded to, Title what for, Organization by whom; of 200
	// characters at most each, in any script.
	Recipient, Title, Organization string
	// Number is the certificate's, and VerifyURL where it is verified.
	Number, VerifyURL string
	// Language is that of the words around them, as a code: the nearest of those that there
	// are, or English.
	Language  string
	Plain     bool
	IssuedAt  time.Time
	ExpiresAt *time.Time
}

// A4 across, in points.
const (
	width  = 841.89
	height = 595.28
)

// atOnce bounds how many certificates are printed side by side: each takes some megabytes.
var atOnce = make(chan struct{}, 4)

// Print makes the PDF. The same content makes the same bytes. The error is that of the
// context, or a fault of the program.
func Print(ctx context.Context, c Content) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err // select would choose either where a place is free
	}
	select {
	case atOnce <- struct{}{}:
		defer func() { <-atOnce }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return c.print()
}

//go:embed strings/*.json
var stringFiles embed.FS

// words are what certificates say by themselves.
type words struct {
	Title, Presented, Completed, Issued, Expires, By, Number, Verify string
}

// fallback is the language of what no other has.
const fallback = "en"

func wordsIn(code string) (words, error) {
	base, _ := tag.Make(code).Base()
	text, err := stringFiles.ReadFile("strings/" + base.String() + ".json")
	if err != nil {
		text, err = stringFiles.ReadFile("strings/" + fallback + ".json")
	}
	var w words
	if err == nil {
		err = json.Unmarshal(text, &w)
	}
	return w, err
}

// The colors: ink, a quieter one for what is around, gold, and the paper of the classic.
var (
	ink   = typeset.Color{0.09, 0.13, 0.24}
	quiet = typeset.Color{0.33, 0.36, 0.43}
	gold  = typeset.Color{0.66, 0.52, 0.22}
	cream = typeset.Color{0.992, 0.984, 0.957}
	white = typeset.Color{1, 1, 1}
)

// painter draws one certificate.
type painter struct {
	*typeset.Sheet
	*typeset.Setter
	content Content
	words   words
	accent  typeset.Color
}

func (c Content) print() ([]byte, error) {
	w, err := wordsIn(c.Language)
	if err != nil {
		return nil, err
	}
	p := &painter{Sheet: typeset.NewSheet(), Setter: typeset.NewSetter(c.Language), content: c, words: w, accent: gold}
	if c.Plain {
		p.accent = quiet
		p.plainly()
	} else {
		p.classically()
	}
	p.middle()
	if err := p.foot(); err != nil {
		return nil, err
	}
	return p.Write(width, height, typeset.About{
		Title: w.Title + " " + c.Number, Author: c.Organization, Language: c.Language, At: c.IssuedAt,
	})
}

// plainly draws a page with a line at its top alone.
func (p *painter) plainly() {
	p.Box(0, 0, width, height, white)
	p.Box(0, height-14, width, 14, ink)
	p.Rule(92, 182, width-184, 0.6, quiet)
}

// classically draws the frame of the classic: two lines, and an ornament in each corner.
func (p *painter) classically() {
	p.Box(0, 0, width, height, cream)
	p.Frame(22, 22, width-44, height-44, 2.4, ink)
	p.Frame(29, 29, width-58, height-58, 0.7, gold)
	const in = 36.0
	p.Frame(in, in, width-2*in, height-2*in, 0.5, gold)
	for _, corner := range [][4]float64{{in, in, 1, 1}, {width - in, in, -1, 1}, {in, height - in, 1, -1}, {width - in, height - in, -1, -1}} {
		p.corner(corner[0], corner[1], corner[2], corner[3])
	}
	p.seal(width/2, 118, 38)
}

// corner draws an ornament that opens into the page.
func (p *painter) corner(x, y, dx, dy float64) {
	p.Stroke(gold)
	p.Draw("1.1 w")
	for _, size := range []float64{46, 36, 26} {
		p.Draw("%.2f %.2f m %.2f %.2f %.2f %.2f %.2f %.2f c S", x+dx*size, y, x+dx*size, y+dy*size*0.62, x+dx*size*0.62, y+dy*size, x, y+dy*size)
	}
	p.circle(x+dx*12, y+dy*12, 3.2)
	p.Fill(gold)
	p.Draw("f")
}

// circle makes the path of a circle.
func (p *painter) circle(x, y, r float64) {
	const k = 0.5522847498
	p.Draw("%.2f %.2f m", x+r, y)
	for _, q := range [][6]float64{{1, k, k, 1, 0, 1}, {-k, 1, -1, k, -1, 0}, {-1, -k, -k, -1, 0, -1}, {k, -1, 1, -k, 1, 0}} {
		p.Draw("%.2f %.2f %.2f %.2f %.2f %.2f c", x+q[0]*r, y+q[1]*r, x+q[2]*r, y+q[3]*r, x+q[4]*r, y+q[5]*r)
	}
}

// star makes the path of a star.
func (p *painter) star(x, y, outer, inner float64, points int) {
	for i := range 2 * points {
		r, op := outer, "l"
		if i%2 == 1 {
			r = inner
		}
		if i == 0 {
			op = "m"
		}
		turn := math.Pi/2 + float64(i)*math.Pi/float64(points)
		p.Draw("%.2f %.2f %s", x+r*math.Cos(turn), y+r*math.Sin(turn), op)
	}
	p.Draw("h")
}

// seal draws a rosette with a star.
func (p *painter) seal(x, y, r float64) {
	p.Fill(gold)
	p.star(x, y, r, r*0.88, 28)
	p.Draw("f")
	p.Stroke(cream)
	p.Draw("1 w")
	p.circle(x, y, r*0.74)
	p.Draw("S")
	p.Fill(cream)
	p.star(x, y, r*0.46, r*0.19, 5)
	p.Draw("f")
}

// middle says who gets it for what.
func (p *painter) middle() {
	const x, span = width / 2, 640
	c := p.content
	y := p.Centered([]typeset.Line{p.Shape(p.words.Title)}, x, height-134, 50, 1, ink)
	p.Rule(x-60, y+24, 120, 1.2, p.accent)
	y = p.Centered([]typeset.Line{p.Shape(p.words.Presented)}, x, y-14, 15, 1, quiet)
	names, size := p.Fit(c.Recipient, span, 44, 12, 2)
	y = p.Centered(names, x, y-size*0.95-14, size, 1.3, ink)
	y += size*0.3 - 2
	p.Rule(x-span/2+90, y+size*0.55, span-180, 0.6, p.accent)
	y = p.Centered([]typeset.Line{p.Shape(p.words.Completed)}, x, y+size*0.55-32, 15, 1, quiet)
	titles, size := p.Fit(c.Title, span, 28, 11, 2)
	p.Centered(titles, x, y-size-10, size, 1.3, ink)
}

// foot says by whom and when, and how to verify it. The sides change with the direction of
// the language.
func (p *painter) foot() error {
	const low, margin, side = 80.0, 92.0, 80.0
	mirrored := typeset.IsRTL(p.words.Title)
	code, err := qr.Encode(p.content.VerifyURL, qr.M, qr.Unicode)
	if err != nil {
		return fmt.Errorf("paper: the code of %q: %w", p.content.VerifyURL, err)
	}
	left := width - margin - side
	if mirrored {
		left = margin
	}
	p.Box(left-4, low-4, side+8, side+8, white)
	modules := code.Bounds().Dx()
	unit := side / float64(modules)
	for y := range modules {
		for x := range modules {
			if r, _, _, _ := code.At(x, y).RGBA(); r == 0 {
				p.Box(left+float64(x)*unit, low+side-float64(y+1)*unit, unit+0.02, unit+0.02, typeset.Color{})
			}
		}
	}
	p.beside(left, side, mirrored)
	p.facts(margin, mirrored)
	return nil
}

// beside says beside the code what it says.
func (p *painter) beside(left, side float64, mirrored bool) {
	y := 80 + side - 8
	for _, each := range []struct {
		text string
		size float64
		c    typeset.Color
	}{
		{p.words.Number, 8.5, quiet}, {p.content.Number, 9.5, ink}, {p.words.Verify, 8.5, quiet},
	} {
		l := p.Shape(each.text)
		p.Text(l, p.aside(left, side, l.Width(each.size), mirrored), y, each.size, each.c)
		y -= each.size * 1.5
	}
	lines, size := p.Fit(breakable(p.content.VerifyURL), 172, 8, 6, 3)
	for _, l := range lines {
		p.Text(l, p.aside(left, side, l.Width(size), mirrored), y, size, ink)
		y -= size * 1.35
	}
}

// aside is where a text begins beside the code, on the side of the page's middle.
func (*painter) aside(left, side, wide float64, mirrored bool) float64 {
	if mirrored {
		return left + side + 12
	}
	return left - 12 - wide
}

// breakable is an address as words can be broken: before its last part.
func breakable(address string) string {
	if at := strings.LastIndexByte(address, '/'); at >= 0 {
		return address[:at+1] + " " + address[at+1:]
	}
	return address
}

// facts says by whom it was issued, when, and until when it counts.
func (p *painter) facts(margin float64, mirrored bool) {
	const span = 260
	c, y := p.content, 158.0
	put := func(name, text string, most int) {
		label := p.Shape(name)
		lines, size := p.Fit(text, span, 12, 9, most)
		at := func(wide float64) float64 {
			if mirrored {
				return width - margin - wide
			}
			return margin
		}
		p.Text(label, at(label.Width(8.5)), y, 8.5, quiet)
		y -= 13
		for _, l := range lines {
			p.Text(l, at(l.Width(size)), y, size, ink)
			y -= size * 1.2
		}
		y -= 3
	}
	put(p.words.By, c.Organization, 2)
	put(p.words.Issued, c.IssuedAt.UTC().Format(time.DateOnly), 1)
	if c.ExpiresAt != nil {
		put(p.words.Expires, c.ExpiresAt.UTC().Format(time.DateOnly), 1)
	}
}
