package extract

import (
	"context"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// item is how an item of a list begins.
var item = regexp.MustCompile(`^\s*([-*•‣–]|\d{1,3}[.)])\s+\S`)

// markdownMarks are what only Markdown writes: a heading by its hashes or by a line of equals
// signs, and the line of hyphens under the first row of a table.
var markdownMarks = regexp.MustCompile(`(?m)^#{1,6} +\S|^\S.*\n={3,}[ \t]*$|^[ \t]*\|?[ :]*-{3,}[ :]*(\|[ :]*-{3,}[ :]*)+\|?[ \t]*$`)

// extractText takes blank lines for the ends of paragraphs and short lines between them for
// headings, as people write them. Text with the marks of Markdown is read as that.
func extractText(ctx context.Context, data []byte, b *builder) error {
	text := newlines(decode(data))
	if tooMany(text, "\n", maxLines) {
		return ErrTooComplex
	}
	if markdownMarks.MatchString(text) {
		if source, err := markdownSource(text); err == nil {
			return readMarkdown(ctx, source, b)
		}
	}
	blocks := append(blocksOf(text), nil)
	p := plain{builder: b}
	for i, lines := range blocks[:len(blocks)-1] {
		if err := b.check(ctx); err != nil {
			return err
		}
		p.block(lines, blocks[i+1])
	}
	return nil
}

// plain reads plain text.
type plain struct {
	*builder
	// asked says that a question was the last thing read: "Q: Is there parking?"
	asked bool
}

// block reads the lines of a block, before another one or nil.
func (p *plain) block(lines, next []string) {
	p.answer(lines)
	if len(p.document.Sections) < maxSections/2 && isHeading(lines, next) {
		p.startHeading(speaker.ReplaceAllString(lines[0], ""))
		p.asked = speaker.MatchString(lines[0])
		lines = lines[1:]
		p.answer(lines)
	}
	p.lines(lines)
}

// answer takes the letter off an answer: "A: There are twelve spaces."
func (p *plain) answer(lines []string) {
	if p.asked && len(lines) > 0 {
		lines[0] = speaker.ReplaceAllString(lines[0], "")
		p.asked = false
	}
}

// blocksOf are the lines between blank ones.
func blocksOf(text string) [][]string {
	var all [][]string
	var block []string
	for line := range strings.Lines(text) {
		if line = strings.TrimRightFunc(line, unicode.IsSpace); line != "" {
			block = append(block, line)
			continue
		}
		if len(block) > 0 {
			all, block = append(all, block), nil
		}
	}
	if len(block) > 0 {
		all = append(all, block)
	}
	return all
}

// wrapWidth is how long the longest line of a block is, in characters, that another one
// follows: where lines are broken to fit a page, that is its width.
func wrapWidth(lines []string) int {
	width := 0
	for i, line := range lines {
		if i+1 < len(lines) {
			width = max(width, utf8.RuneCountInString(line))
		}
	}
	return width
}

// isHeading says whether the first line of a block is a heading to what follows it.
func isHeading(lines, next []string) bool {
	switch first := lines[0]; {
	case !isTitle(first):
		return false
	case len(lines) == 1:
		return next != nil && (len(next) > 1 || !isTitle(next[0]))
	default:
		return breaks(first, lines[1], wrapWidth(lines)) && explains(lines[1:])
	}
}

const (
	maxTitle      = 60 // characters
	maxTitleWords = 8
)

// section is the number before a heading: "3." or "2.1".
var section = regexp.MustCompile(`^\d{1,2}(\.\d{1,2})*[.)]?\s+`)

// speaker is the letter before a question or its answer: "Q: Is there parking?"
var speaker = regexp.MustCompile(`^\p{Lu}[:.)]\s+`)

// isTitle says whether a line looks like a heading: a few words that begin large, state
// nothing and hold no figure that somebody may ask for.
func isTitle(line string) bool {
	title := section.ReplaceAllString(speaker.ReplaceAllString(line, ""), "")
	first, _ := utf8.DecodeRuneInString(title)
	last, _ := utf8.DecodeLastRuneInString(title)
	switch {
	case !unicode.IsLetter(first) || unicode.IsLower(first), utf8.RuneCountInString(title) > maxTitle, len(strings.Fields(title)) > maxTitleWords:
		return false
	case strings.ContainsRune("?？؟", last):
		return true
	}
	return !strings.ContainsAny(title, "0123456789@:;\t") && !strings.ContainsRune(".,!…。，！：؛،", last)
}

// explains says whether lines are what a heading stands above: sentences, items or figures.
func explains(lines []string) bool {
	for _, line := range lines {
		if endsSentence(line) || item.MatchString(line) || strings.ContainsAny(line, "0123456789") || utf8.RuneCountInString(line) > maxTitle {
			return true
		}
	}
	return false
}

// lines adds a block: what was broken to fit the page is joined again, and what stands on a
// line of its own stays there.
func (b *builder) lines(lines []string) {
	width := wrapWidth(lines)
	var whole []string
	for i, line := range lines {
		if i > 0 && !breaks(lines[i-1], line, width) {
			whole[len(whole)-1] += " " + line
		} else {
			whole = append(whole, line)
		}
	}
	for _, line := range whole {
		if item.MatchString(line) || len(whole) > 1 && !endsSentence(line) {
			b.line(line)
		} else {
			b.paragraph(line)
		}
	}
	b.endBlock()
}

// narrow is the width, in characters, below which nobody breaks the lines of a text.
const narrow = 50

// breaks says whether somebody ended a line on purpose, before the one that follows it. A
// line that was broken to fit the page is as long as the page is wide.
func breaks(line, next string, width int) bool {
	if item.MatchString(next) {
		return true
	}
	first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(next, unicode.IsSpace))
	if item.MatchString(line) && unicode.IsSpace(rune(next[0])) {
		return false // an item goes on under its own beginning
	}
	if unicode.IsLower(first) {
		return width < narrow && strings.ContainsAny(line, "0123456789") && strings.ContainsAny(next, "0123456789")
	}
	word, _, _ := strings.Cut(strings.TrimSpace(next), " ")
	if unspaced(first) {
		return utf8.RuneCountInString(line) < max(width, utf8.RuneCountInString(next))*3/5
	}
	return width < narrow || utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= width*17/20
}

// unspaced says whether a script writes no spaces between words.
func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// tooMany says whether more than so many bytes of a text are of some.
func tooMany[T string | []byte](text T, some string, limit int) bool {
	n := 0
	for i := range len(text) {
		if strings.IndexByte(some, text[i]) >= 0 {
			if n++; n > limit {
				return true
			}
		}
	}
	return false
}

// newlines writes every end of a line or page as a line feed.
func newlines(s string) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n", "\f", "\n\n", "\u2028", "\n", "\u2029", "\n\n").Replace(s)
}
