package typeset

import (
	"bytes"
	"compress/zlib"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/go-text/typesetting/font"
)

// Sheet is pages that are being drawn one after the other, in points from their lower left corners.
type Sheet struct {
	body bytes.Buffer
	// done are the pages before.
	done [][]byte
	// used are the glyphs that were drawn, with what they stand for, by typeface in the order
	// in which these were first used.
	used  map[*typeface]map[uint16]string
	order []*typeface
}

// NewSheet begins the first page.
func NewSheet() *Sheet { return &Sheet{used: map[*typeface]map[uint16]string{}} }

// Break ends the page and begins the next.
func (p *Sheet) Break() {
	p.done = append(p.done, bytes.Clone(p.body.Bytes()))
	p.body.Reset()
}

// Draw writes operators of a page (ISO 32000).
func (p *Sheet) Draw(format string, args ...any) { fmt.Fprintf(&p.body, format+"\n", args...) }

// Color is red, green and blue from 0 to 1.
type Color [3]float64

// Fill sets the color of areas and letters, and Stroke that of lines.
func (p *Sheet) Fill(c Color) { p.Draw("%.3f %.3f %.3f rg", c[0], c[1], c[2]) }

// Stroke is beside Fill.
func (p *Sheet) Stroke(c Color) { p.Draw("%.3f %.3f %.3f RG", c[0], c[1], c[2]) }

// Frame strokes a rectangle.
func (p *Sheet) Frame(x, y, w, h, thick float64, c Color) {
	p.Stroke(c)
	p.Draw("%.2f w %.2f %.2f %.2f %.2f re S", thick, x, y, w, h)
}

// Box fills a rectangle.
func (p *Sheet) Box(x, y, w, h float64, c Color) {
	p.Fill(c)
	p.Draw("%.3f %.3f %.3f %.3f re f", x, y, w, h)
}

// Rule strokes a level line.
func (p *Sheet) Rule(x, y, w, thick float64, c Color) {
	p.Stroke(c)
	p.Draw("%.2f w %.2f %.2f m %.2f %.2f l S", thick, x, y, x+w, y)
}

// Text draws a line whose left end is at a place.
func (p *Sheet) Text(l Line, x, y, size float64, c Color) {
	p.Fill(c)
	// Readers put what is written from right to left in order by the places of its glyphs.
	if !l.rtl {
		p.Draw("/Span <</ActualText <%s>>> BDC", utf16Hex("\ufeff"+l.text))
	}
	p.Draw("BT")
	for _, g := range l.glyphs {
		f := p.font(g.of)
		if known, ok := p.used[g.of][g.id]; !ok || known == "" {
			p.used[g.of][g.id] = g.text
		}
		p.Draw("/F%d %.2f Tf 1 0 0 1 %.3f %.3f Tm <%04x> Tj", f, size, x+g.x*size/em, y+g.y*size/em, g.id)
	}
	p.Draw("ET")
	if !l.rtl {
		p.Draw("EMC")
	}
}

// font is the number of a typeface's font.
func (p *Sheet) font(t *typeface) int {
	if at := slices.Index(p.order, t); at >= 0 {
		return at
	}
	p.order, p.used[t] = append(p.order, t), map[uint16]string{}
	return len(p.order) - 1
}

// Centered draws lines one below the other around a place, the first at y, and answers where
// the next would be.
func (p *Sheet) Centered(lines []Line, x, y, size, leading float64, c Color) float64 {
	for _, l := range lines {
		p.Text(l, x-l.Width(size)/2, y, size, c)
		y -= size * leading
	}
	return y
}

// document writes PDFs object by object.
type document struct {
	out     bytes.Buffer
	offsets []int
}

// add writes an object and answers its number.
func (d *document) add(body string) int {
	d.offsets = append(d.offsets, d.out.Len())
	fmt.Fprintf(&d.out, "%d 0 obj\n%s\nendobj\n", len(d.offsets), body)
	return len(d.offsets)
}

// stream writes an object with data.
func (d *document) stream(entries string, data []byte) (int, error) {
	var packed bytes.Buffer
	w, err := zlib.NewWriterLevel(&packed, zlib.BestCompression)
	if err != nil {
		return 0, err
	}
	if _, err := w.Write(data); err != nil {
		return 0, err
	}
	if err := w.Close(); err != nil {
		return 0, err
	}
	return d.add(fmt.Sprintf("<</Filter/FlateDecode/Length %d%s>>\nstream\n%s\nendstream", packed.Len(), entries, packed.Bytes())), nil
}

// About is what a document says of itself.
type About struct {
	Title, Author string
	// Language is a code.
	Language string
	At       time.Time
}

// Write makes a PDF of the pages, which are of one size. The same pages make the same bytes.
func (p *Sheet) Write(width, height float64, a About) ([]byte, error) {
	d := &document{}
	d.out.WriteString("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
	var fonts strings.Builder
	for i, t := range p.order {
		n, err := d.font(t, p.used[t])
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&fonts, "/F%d %d 0 R", i, n)
	}
	bodies := append(slices.Clone(p.done), p.body.Bytes())
	// Each page is its content and itself, and what holds them all follows.
	pages := len(d.offsets) + 2*len(bodies) + 1
	var kids strings.Builder
	for _, body := range bodies {
		content, err := d.stream("", body)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&kids, "%d 0 R ", d.add(fmt.Sprintf("<</Type/Page/Parent %d 0 R/MediaBox[0 0 %.2f %.2f]/Contents %d 0 R/Resources<</Font<<%s>>>>>>",
			pages, width, height, content, fonts.String())))
	}
	d.add(fmt.Sprintf("<</Type/Pages/Kids[%s]/Count %d>>", strings.TrimSpace(kids.String()), len(bodies)))
	root := d.add(fmt.Sprintf("<</Type/Catalog/Pages %d 0 R/Lang(%s)/ViewerPreferences<</DisplayDocTitle true>>>>", pages, safe(a.Language)))
	info := d.add(fmt.Sprintf("<</Title<%s>/Author<%s>/CreationDate(%s)>>", utf16Hex("\ufeff"+a.Title), utf16Hex("\ufeff"+a.Author),
		a.At.UTC().Format("D:20060102150405Z")))
	start := d.out.Len()
	fmt.Fprintf(&d.out, "xref\n0 %d\n0000000000 65535 f \n", len(d.offsets)+1)
	for _, at := range d.offsets {
		fmt.Fprintf(&d.out, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&d.out, "trailer\n<</Size %d/Root %d 0 R/Info %d 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(d.offsets)+1, root, info, start)
	return d.out.Bytes(), nil
}

// safe is a language's code without anything else.
func safe(code string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, code)
}

// font embeds some glyphs of a typeface.
func (d *document) font(t *typeface, used map[uint16]string) (int, error) {
	read, data := t.read()
	wanted, glyphs := map[uint16]bool{}, make([]uint16, 0, len(used))
	for g := range used {
		wanted[g], glyphs = true, append(glyphs, g)
	}
	slices.Sort(glyphs)
	cut, err := subset(data, wanted)
	if err != nil {
		return 0, err
	}
	file, err := d.stream(fmt.Sprintf("/Length1 %d", len(cut)), cut)
	if err != nil {
		return 0, err
	}
	face := newFaces().open(t)
	scale := 1000 / float64(read.Upem())
	var widths strings.Builder
	for _, g := range glyphs {
		fmt.Fprintf(&widths, "%d[%.0f]", g, float64(face.HorizontalAdvance(font.GID(g)))*scale)
	}
	unicode, err := d.stream("", toUnicode(glyphs, used))
	if err != nil {
		return 0, err
	}
	name := "EMBEDS+" + t.name
	extents, _ := face.FontHExtents()
	descriptor := d.add(fmt.Sprintf("<</Type/FontDescriptor/FontName/%s/Flags 4/FontBBox[-1000 -1000 3000 2000]/ItalicAngle 0/Ascent %.0f/Descent %.0f/CapHeight 700/StemV 80/FontFile2 %d 0 R>>",
		name, float64(extents.Ascender)*scale, float64(extents.Descender)*scale, file))
	descendant := d.add(fmt.Sprintf("<</Type/Font/Subtype/CIDFontType2/BaseFont/%s/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>/FontDescriptor %d 0 R/CIDToGIDMap/Identity/W[%s]>>",
		name, descriptor, widths.String()))
	return d.add(fmt.Sprintf("<</Type/Font/Subtype/Type0/BaseFont/%s/Encoding/Identity-H/DescendantFonts[%d 0 R]/ToUnicode %d 0 R>>",
		name, descendant, unicode)), nil
}

// toUnicode says what glyphs stand for, to who copies or searches.
func toUnicode(glyphs []uint16, used map[uint16]string) []byte {
	var b bytes.Buffer
	b.WriteString("/CIDInit/ProcSet findresource begin 12 dict begin begincmap\n/CMapName/Adobe-Identity-UCS def/CMapType 2 def\n" +
		"1 begincodespacerange <0000><ffff> endcodespacerange\n")
	for chunk := range slices.Chunk(glyphs, 100) {
		var lines []string
		for _, g := range chunk {
			if used[g] != "" {
				lines = append(lines, fmt.Sprintf("<%04x><%s>\n", g, utf16Hex(used[g])))
			}
		}
		fmt.Fprintf(&b, "%d beginbfchar\n%sendbfchar\n", len(lines), strings.Join(lines, ""))
	}
	b.WriteString("endcmap CMapName currentdict/CMap defineresource pop\n" + strings.Repeat("end\n", 2))
	return b.Bytes()
}

// utf16Hex is a text in UTF-16 as PDFs write it.
func utf16Hex(text string) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(text)) {
		b = append(b, byte(u>>8), byte(u))
	}
	return hex.EncodeToString(b)
}
