package conversation

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"visavis.dev/pkg/sessions/session"
)

// patterns find the values whose form is known, by the kind that the name of an
// output tells.
var patterns = map[string]*regexp.Regexp{
	"email":  regexp.MustCompile(`[\p{L}\p{N}._%+\-]{1,64}@[\p{L}\p{N}\-]{1,63}(?:\.[\p{L}\p{N}\-]{1,63}){1,5}`),
	"phone":  regexp.MustCompile(`\+?\(?\d[\d\s()./\-]{5,20}\d`),
	"date":   regexp.MustCompile(`\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./]\d{1,2}[./](?:\d{4}|\d{2})|\d{1,2}\.?\s?(?:de\s)?\p{L}{3,12}(?:\s(?:de\s)?\d{4})?|\p{L}{3,12}\s\d{1,2}(?:st|nd|rd|th)?(?:,?\s\d{4})?|\d{1,2}月\d{1,2}日`),
	"number": regexp.MustCompile(`[+\-]?\d+(?:[.,]\d+)*`),
}

// patternOf is the kind of a value that the name of an output tells, or "".
func patternOf(output string) string {
	if strings.HasPrefix(output, session.AnswerTo) {
		return ""
	}
	name, words := lower(output), wordsOfName(output)
	for _, kind := range []struct{ kind, words string }{
		{"email", "mail"}, {"phone", "phone|telefon|mobile|tel"}, {"date", "date|datum|day|birthday|fecha"},
		{"number", "number|count|amount|quantity|age|budget|size"}, {"name", "name"}, {"company", "company|firma|organization|organization"},
	} {
		for word := range strings.SplitSeq(kind.words, "|") {
			// A short one is a part of others: the age of message, the tel of hotel.
			if len(word) > 3 && strings.Contains(name, word) || slices.Contains(words, word) {
				return kind.kind
			}
		}
	}
	return ""
}

// wordsOfName are the words of a name, in lower case: is, read and by of isReadBy.
func wordsOfName(name string) []string {
	var apart strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) || !unicode.IsLetter(r) {
			apart.WriteByte(' ')
		}
		if unicode.IsLetter(r) {
			apart.WriteRune(unicode.ToLower(r))
		}
	}
	return strings.Fields(apart.String())
}

// isPattern says whether an output takes nothing but a value of its form.
func isPattern(output string) bool { return patterns[patternOf(output)] != nil }

// valueOf reads an output from an utterance. Names and companies are what
// follows the words that introduce them, or the whole of an answer to a prompt
// that wants nothing else.
func valueOf(output, utterance string, alone bool) (value string, found bool) {
	kind := patternOf(output)
	if pattern := patterns[kind]; pattern != nil {
		value = strings.Trim(pattern.FindString(utterance), " .-/")
		return value, value != ""
	}
	if kind != "name" && kind != "company" {
		return "", false
	}
	if match := introductions[kind].FindStringSubmatch(utterance); match != nil {
		return strings.TrimRight(match[1], " .,!"), true
	}
	bare := strings.Trim(utterance, " .,!")
	if alone && len(strings.Fields(bare)) <= 4 && !strings.ContainsFunc(bare, unicode.IsDigit) {
		return bare, bare != ""
	}
	return "", false
}

const nameWords = `(\p{Lu}[\p{L}'’\-]*(?:\s\p{Lu}[\p{L}'’\-]*){0,3})`

var introductions = map[string]*regexp.Regexp{
	"name": regexp.MustCompile(`(?:(?i:my name is|my name's|i am|i'm|this is|ich heiße|ich bin|mein name ist|je m'appelle|je suis|mon nom est|me llamo|soy|mi nombre es|mi chiamo|sono|meu nome é|eu sou|ik ben|mijn naam is|ik heet|nazywam się|jestem|jag heter|jeg hedder|benim adım|adım))\s+` + nameWords),
	"company": regexp.MustCompile(`(?:(?i:i work at|i work for|i am with|i'm with|company is|our company is|from|at|ich arbeite bei|firma|bei|je travaille chez|chez|trabajo en|lavoro per|trabalho na|ik werk bij|jag jobbar på))\s+` +
		`(\p{Lu}[\p{L}\p{N}&.'’\-]*(?:\s[\p{Lu}&][\p{L}\p{N}&.'’\-]*){0,4})`),
}
