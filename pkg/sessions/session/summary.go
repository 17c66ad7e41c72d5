package session

import (
	"strings"
)

// The bounds of a summary: its lines, and the characters of each side of one.
const (
	maxSummaryTopics = 8
	maxSummaryLine   = 200
)

// Summarize sums a conversation up in its own words: what was asked, and how each
// answer began. Nothing is in it that was not said. Nil without a question.
func Summarize(turns []Turn) *string {
	var (
		lines    []string
		question string
	)
	for _, t := range turns {
		said := strings.TrimSpace(t.Heard())
		switch {
		case said == "":
		case t.Speaker == User:
			question = said
		case question != "" && len(lines) < maxSummaryTopics:
			lines = append(lines, shorten(question)+" → "+shorten(firstSentence(said)))
			question = ""
		}
	}
	if len(lines) == 0 {
		return nil
	}
	summary := strings.Join(lines, "\n")
	return &summary
}

// firstSentence is a text up to its first full stop that ends a sentence.
func firstSentence(text string) string {
	for i, r := range text {
		end := i + len(string(r))
		switch r {
		case '.', '!', '?':
			if end == len(text) || text[end] == ' ' || text[end] == '\n' {
				return text[:end]
			}
		case '。', '！', '？', '\n':
			return text[:end]
		}
	}
	return text
}

// shorten is the beginning of a text, on one line.
func shorten(text string) string {
	var b strings.Builder
	count := 0
	for word := range strings.FieldsSeq(text) {
		if count > 0 {
			b.WriteByte(' ')
			count++
		}
		for _, r := range word {
			if count >= maxSummaryLine {
				return strings.TrimSpace(b.String()) + "…"
			}
			b.WriteRune(r)
			count++
		}
	}
	return b.String()
}
