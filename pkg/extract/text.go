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
	var paragraph []string
	flush := func() {
		b.paragraph(strings.Join(paragraph, " "))
		paragraph = paragraph[:0]
	}
	for line := range strings.Lines(newlines(decode(data))) {
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

// newlines writes every end of a line or page as a line feed.
func newlines(s string) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n", "\f", "\n\n", "\u2028", "\n", "\u2029", "\n\n").Replace(s)
}
