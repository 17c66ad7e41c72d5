package extract

import (
	"context"
	"regexp"
	"strings"
)

// item is how an item of a list begins.
var item = regexp.MustCompile(`^\s*([-*•‣–]|\d{1,3}[.)])\s+\S`)

// extractText takes blank lines for the ends of paragraphs, as people write them.
func extractText(ctx context.Context, data []byte, b *builder) error {
	text := newlines(decode(data))
	if tooMany(text, "\n", maxLines) {
		return ErrTooComplex
	}
	var paragraph []string
	flush := func() {
		b.paragraph(strings.Join(paragraph, " "))
		paragraph = paragraph[:0]
	}
	for line := range strings.Lines(text) {
		if err := b.check(ctx); err != nil {
			return err
		}
		switch {
		case strings.TrimSpace(line) == "":
			flush()
		case item.MatchString(line):
			flush()
			b.line(line)
		default:
			paragraph = append(paragraph, line)
		}
	}
	flush()
	return nil
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
