package conversation

import (
	"strings"
	"unicode/utf8"

	"visavis.dev/pkg/text/answer"
)

// affirms says whether words are a yes and nothing else, as what cannot be undone is done by:
// one yes or several, with courtesies.
func affirms(language, text string) bool {
	if strings.ContainsAny(text, "?？؟") {
		return false
	}
	said := plain(text)
	if first, _ := utf8.DecodeRuneInString(said); isWide(first) {
		said = strings.ReplaceAll(said, " ", "")
	}
	return consistsOf(said, strings.Split(bookOf(language).hearYes, "|"), strings.Split(politeWords, "|"), false)
}

// consistsOf says whether a text is made of these phrases alone, and of one of the first at
// least.
func consistsOf(said string, needed, allowed []string, had bool) bool {
	if said == "" {
		return had
	}
	for i, phrase := range append(append([]string{}, needed...), allowed...) {
		phrase = plain(phrase)
		rest, found := strings.CutPrefix(said, phrase)
		if !found {
			continue
		}
		if first, _ := utf8.DecodeRuneInString(phrase); !isWide(first) && rest != "" && rest[0] != ' ' {
			continue // only the beginning of a word
		}
		if consistsOf(strings.TrimPrefix(rest, " "), needed, allowed, had || i < len(needed)) {
			return true
		}
	}
	return false
}

// politeWords may stand beside a yes.
const politeWords = "please|please do|thanks|thank you|bitte|danke|gerne|s'il vous plaît|merci|por favor|gracias|per favore|grazie|" +
	"obrigado|obrigada|alsjeblieft|graag|dank je|proszę|dziękuję|lütfen|teşekkürler|tack|من فضلك|شكرا|请|谢谢|お願いします"

// doubts says whether words that sound like a yes take it back, or ask. Of a language in
// which that is not known, nothing but a yes is one.
func doubts(language, text string) bool {
	n, known := answer.NegationIn(language, text)
	return strings.ContainsAny(text, "?？؟") || n.Any() || !known && !affirms(language, text) || containsAny(plain(text), particles[base(language)])
}

// particles make what they stand in a question.
var particles = map[string]string{"tr": "mi|mı|mu|mü", "zh": "吗", "ja": "違"}
