package memory

import (
	"maps"
	"slices"
	"strings"

	"visavis.dev/pkg/sessions/session"
)

// maxSaid is how many things a session adds that were just said.
const maxSaid = 8

// openings are how people begin to speak of themselves, by language, in lower
// case. Of other languages only what goals collected is remembered.
var openings = map[string][]string{
	"de": {"mein name ist", "ich heiße", "ich heisse", "ich arbeite", "ich wohne", "ich lebe", "ich bevorzuge", "ich mag", "ich lerne", "ich studiere", "mein beruf ist"},
	"en": {"my name is", "i am called", "i'm called", "i work", "i live", "i prefer", "i like", "i study", "i am learning", "i'm learning", "my job is"},
	"es": {"me llamo", "mi nombre es", "trabajo", "yo trabajo", "vivo", "yo vivo", "prefiero", "me gusta", "me gustan", "estudio", "yo estudio"},
	"fr": {"je m'appelle", "mon nom est", "je travaille", "j'habite", "je vis", "je préfère", "j'aime", "j'étudie", "j'apprends"},
	"it": {"mi chiamo", "il mio nome è", "lavoro", "io lavoro", "vivo", "abito", "preferisco", "mi piace", "mi piacciono", "studio"},
	"nl": {"mijn naam is", "ik heet", "ik werk", "ik woon", "ik leef", "ik geef de voorkeur aan", "ik studeer", "ik leer"},
	"pt": {"meu nome é", "o meu nome é", "me chamo", "chamo-me", "trabalho", "eu trabalho", "moro", "eu moro", "prefiro", "eu prefiro", "eu gosto", "gosto de", "estudo"},
}

// collected are what the goals of a session found out, by their names.
func collected(s session.Session) []Item {
	var items []Item
	for _, name := range slices.Sorted(maps.Keys(s.Collected)) {
		if text := storable(s.Collected[name]); text != "" {
			items = append(items, Item{Key: name, Text: text, Session: s.ID, At: *s.EndedAt})
		}
	}
	return items
}

// said are the sentences in which the person spoke of themselves, word for word,
// the last first.
func said(turns []session.Turn) []string {
	var found []string
	for _, t := range slices.Backward(turns) {
		if t.Speaker != session.User {
			continue
		}
		base, _, _ := strings.Cut(t.Language, "-")
		for _, sentence := range slices.Backward(sentences(t.Heard())) {
			if len(found) < maxSaid && opens(sentence, openings[base]) {
				found = append(found, sentence)
			}
		}
	}
	return found
}

// opens says whether a sentence begins with one of some phrases, and says more.
func opens(sentence string, phrases []string) bool {
	// People type one apostrophe or the other.
	folded := strings.ToLower(strings.ReplaceAll(sentence, "’", "'"))
	return slices.ContainsFunc(phrases, func(phrase string) bool {
		rest, ok := strings.CutPrefix(folded, phrase+" ")
		return ok && len(wordsOf(rest)) > 0
	})
}

// sentences are those of a text that are no questions and short enough to be
// remembered.
func sentences(text string) []string {
	var found []string
	for text != "" {
		end := ending(text)
		sentence := storable(text[:end])
		text = text[end:]
		if sentence != "" && !strings.HasSuffix(sentence, "?") {
			found = append(found, sentence)
		}
	}
	return found
}

// ending is where the first sentence of a text ends.
func ending(text string) int {
	for i, r := range text {
		next := i + len(string(r))
		switch r {
		case '\n':
			return next
		case '.', '!', '?':
			if next == len(text) || text[next] == ' ' || text[next] == '\n' {
				return next
			}
		}
	}
	return len(text)
}
