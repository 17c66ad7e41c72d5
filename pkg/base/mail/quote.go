package mail

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// How programs write that a quotation follows, in the languages that mails are written in.
var (
	original = regexp.MustCompile(`(?i)^\s*-{2,}\s*(original message|forwarded message|ursprüngliche nachricht|message d['’]origine|mensaje original|الرسالة الأصلية)`)
	fromLine = regexp.MustCompile(`(?i)^\s*\*?(from|von|de|من)\s?:\*?\s+\S`)
	headLine = regexp.MustCompile(`(?i)^\s*\*?(sent|date|to|subject|gesendet|datum|an|betreff|envoyé|à|objet|enviado|fecha|para|asunto|تاريخ|إلى|الموضوع)\s?:\*?\s`)
)

// longestLine is how much of a line is looked at.
const longestLine = 1000

// Unquote is what somebody wrote in an answer, without what they answer. Where nothing would be left it is all.
func Unquote(text string) string {
	lines := strings.Split(text, "\n")
	var kept []string
	for n := 0; n < len(lines); n++ {
		if begins(lines, n) {
			break
		}
		if length := attributed(lines, n); length > 0 {
			next := n + length
			for next < len(lines) && strings.TrimSpace(lines[next]) == "" {
				next++
			}
			if next >= len(lines) || !quoted(lines[next]) { // what follows is quoted without marks
				break
			}
			n = next
		}
		if !quoted(lines[n]) {
			kept = append(kept, strings.TrimRight(lines[n], " \t"))
		}
	}
	if left := tidy(kept); left != "" {
		return left
	}
	return tidy(lines)
}

func quoted(line string) bool { return strings.HasPrefix(strings.TrimLeft(line, " \t"), ">") }

func short(line string) string { return line[:min(len(line), longestLine)] }

// begins says whether the mail that is answered begins at a line, to the end.
func begins(lines []string, n int) bool {
	line := short(lines[n])
	if original.MatchString(line) {
		return true
	}
	if !fromLine.MatchString(line) {
		return false
	}
	heads := 0
	for _, next := range lines[n+1 : min(n+6, len(lines))] {
		if headLine.MatchString(short(next)) {
			heads++
		}
	}
	return heads >= 2
}

// attributed is how many lines say that a quotation follows: up to three, where the first was broken; 0 for none.
func attributed(lines []string, n int) int {
	all := ""
	for length := 1; length <= 3 && n+length <= len(lines); length++ {
		line := lines[n+length-1]
		if strings.TrimSpace(line) == "" || quoted(line) {
			return 0
		}
		if all = strings.TrimSpace(all + " " + short(line)); attributes(all) {
			return length
		}
	}
	return 0
}

// How an attribution begins and which verb it has, in the languages that mails are written in.
var (
	attributionWords = []string{"on", "am", "le", "el", "في"}
	attributionVerbs = []string{"wrote", "schrieb", "a écrit", "escribió", "كتب"}
)

// attributes says whether a line without spaces around it is as "On Monday, Kim wrote:".
func attributes(line string) bool {
	text, found := strings.CutSuffix(line, ":")
	if !found {
		return false
	}
	text = strings.ToLower(text)
	word, rest, _ := strings.Cut(strings.ReplaceAll(text, "\t", " "), " ")
	if !slices.Contains(attributionWords, word) {
		return false
	}
	return slices.ContainsFunc(attributionVerbs, func(verb string) bool {
		at := strings.LastIndex(rest, verb)
		if at < 0 {
			return false
		}
		before, after := utf8.RuneCountInString(rest[:at]), utf8.RuneCountInString(rest[at+len(verb):])
		return before >= 5 && before <= 400 && after <= 200
	})
}

// tidy leaves out empty lines around a text, and all but one between.
func tidy(lines []string) string {
	var kept []string
	for _, line := range lines {
		if line = strings.TrimRight(line, " \t"); line == "" && (len(kept) == 0 || kept[len(kept)-1] == "") {
			continue
		}
		kept = append(kept, line)
	}
	return strings.TrimSpace(strings.Join(kept, "\n"))
}
