package pdf

import (
	"math"
	"strings"
	"unicode"

	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
)

// Characters that pdfium writes for a hyphen at the end of a line, after which it goes
// on without a new one.
const (
	lineHyphen    = '\x02'
	lineHyphenToo = '\ufffe'
)

// lines reads the characters of a page. pdfium writes a line feed where a line ends.
func (r *reader) lines(page references.FPDF_TEXTPAGE) ([]Line, error) {
	count, err := r.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: page})
	if err != nil {
		return nil, err
	}
	b := &lineBuilder{reader: r, page: page, first: -1}
	for i := range count.Count {
		got, err := r.FPDFText_GetUnicode(&requests.FPDFText_GetUnicode{TextPage: page, Index: i})
		if err != nil {
			return nil, err
		}
		if err := b.add(i, rune(got.Unicode)); err != nil {
			return nil, err
		}
		// The caller's bound tells the error; more is only not gathered.
		if r.left < 0 {
			break
		}
	}
	return b.done, b.end()
}

// lineBuilder gathers a line and measures it by its first and last letters.
type lineBuilder struct {
	*reader
	page        references.FPDF_TEXTPAGE
	done        []Line
	text        strings.Builder
	first, last int // that show something; first is -1 before there is one
}

func (b *lineBuilder) add(i int, c rune) error {
	switch c {
	case '\r', 0:
		return nil
	case '\n':
		return b.end()
	case lineHyphen, lineHyphenToo:
		b.write('-')
		return b.end()
	}
	if !unicode.IsSpace(c) {
		if b.first < 0 {
			b.first = i
		}
		b.last = i
	}
	b.write(c)
	return nil
}

func (b *lineBuilder) write(c rune) {
	n, _ := b.text.WriteRune(c)
	b.left -= n
}

func (b *lineBuilder) end() error {
	text := b.text.String()
	b.text.Reset()
	if b.first < 0 {
		return nil
	}
	l := Line{Text: text}
	if err := b.measure(&l); err != nil {
		return err
	}
	b.done = append(b.done, l)
	b.first = -1
	return nil
}

func (b *lineBuilder) measure(l *Line) error {
	for _, i := range []int{b.first, b.last} {
		box, err := b.FPDFText_GetCharBox(&requests.FPDFText_GetCharBox{TextPage: b.page, Index: i})
		if err != nil {
			return err
		}
		size, err := b.size(i)
		if err != nil {
			return err
		}
		l.Right, l.Size = max(l.Right, finite(box.Right)), max(l.Size, size)
	}
	at, err := b.FPDFText_GetCharOrigin(&requests.FPDFText_GetCharOrigin{TextPage: b.page, Index: b.first})
	if err != nil {
		return err
	}
	l.Down = -finite(at.Y)
	return nil
}

// size is that of a letter as it is shown: fonts are scaled on the way to the page.
func (b *lineBuilder) size(i int) (float64, error) {
	font, err := b.FPDFText_GetFontSize(&requests.FPDFText_GetFontSize{TextPage: b.page, Index: i})
	if err != nil {
		return 0, err
	}
	m, err := b.FPDFText_GetMatrix(&requests.FPDFText_GetMatrix{TextPage: b.page, Index: i})
	if err != nil {
		return 0, err
	}
	size := finite(font.FontSize * math.Hypot(float64(m.Matrix.C), float64(m.Matrix.D)))
	return math.Round(size*10) / 10, nil
}

func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}
