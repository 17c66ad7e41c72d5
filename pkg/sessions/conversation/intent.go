package conversation

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// intent is what an utterance wants that no knowledge is needed for.
type intent int

const (
	question intent = iota // anything else
	sayGreeting
	sayThanks
	askWellness
	askWho
	askRepeat
	sayGoodbye
	askPerson
	sayYes
	sayNo
	sayOkay
	askAbility
	sayInsult
	sayInjection
	sayNonsense
	askClock
	askLanguages
	// askKept asks what is kept of the conversation, which nobody may take for a question of who speaks alone.
	askKept
	// askSure asks whether the last answer is sure.
	askSure
)

// small is how much besides its phrase an utterance of an intent may hold:
// "thanks a lot, Mia" is thanks, "hello, what does it cost?" is a question.
const (
	smallWords = 2
	smallWide  = 4
)

// intentOf reads an utterance. The longest phrase wins, so that "how are you"
// is not taken for what "how" could begin.
func intentOf(language, utterance string) intent {
	book := bookOf(language)
	said := plain(utterance)
	best, longest := question, 0
	for _, heard := range []struct {
		phrases string
		means   intent
	}{
		{book.hearPerson, askPerson}, {book.hearGoodbye, sayGoodbye}, {book.hearWho, askWho},
		{book.hearWellness, askWellness}, {book.hearRepeat, askRepeat}, {book.hearThanks, sayThanks},
		{book.hearGreeting, sayGreeting}, {book.hearYes, sayYes}, {book.hearNo, sayNo},
	} {
		for phrase := range strings.SplitSeq(heard.phrases, "|") {
			phrase = plain(phrase)
			if len(phrase) > longest && nearlyAll(said, phrase, heard.means) {
				best, longest = heard.means, len(phrase)
			}
		}
	}
	return best
}

// nearlyAll says whether an utterance is a phrase and little else. A person may
// be asked for at length.
func nearlyAll(said, phrase string, means intent) bool {
	if first, _ := utf8.DecodeRuneInString(phrase); isWide(first) {
		return strings.Contains(said, phrase) &&
			utf8.RuneCountInString(said)-utf8.RuneCountInString(phrase) <= smallWide
	}
	before, after, found := strings.Cut(" "+said+" ", " "+phrase+" ")
	if !found {
		return false
	}
	rest := len(strings.Fields(before)) + len(strings.Fields(after))
	switch means {
	case askPerson:
		return rest <= 6
	case sayYes, sayNo:
		return rest == 0 || strings.TrimSpace(before) == "" && rest <= smallWords
	default:
		return rest <= smallWords
	}
}

// plain is an utterance in lower case without punctuation, words apart by one
// blank; apostrophes and hyphens within words stay.
func plain(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '’':
			return '\''
		case strings.ContainsRune(".,;:!?¿¡…。、，！？؟،\"“”„()", r):
			return ' '
		default:
			return r
		}
	}, lower(text))
	return strings.Join(strings.Fields(text), " ")
}

// asks says whether an utterance is a question rather than a statement.
func asks(language, utterance string) bool {
	if strings.ContainsAny(utterance, "?？؟") {
		return true
	}
	book := bookOf(language)
	said := plain(utterance)
	return slices.ContainsFunc([]string{book.askWhen, book.askWhere, book.askNumber}, func(bars string) bool {
		return startsWithAny(said, bars)
	})
}

func startsWithAny(said, bars string) bool {
	for phrase := range strings.SplitSeq(bars, "|") {
		if strings.HasPrefix(said+" ", phrase+" ") {
			return true
		}
	}
	return false
}

func containsAny(said, bars string) bool {
	for phrase := range strings.SplitSeq(bars, "|") {
		first, _ := utf8.DecodeRuneInString(phrase)
		if isWide(first) && strings.Contains(said, phrase) || strings.Contains(" "+said+" ", " "+phrase+" ") {
			return true
		}
	}
	return false
}
