package answer

import (
	"slices"
	"strings"
)

// keptRest is how many words may stand beside a question for what is kept of a conversation.
const keptRest = 3

// AsksKept says whether what was said asks what is kept of the conversation itself, or who may
// read it ([kept] in the files under talk): "do you record this?". Of the organization's own
// records that is no question: "are the lectures recorded?".
func AsksKept(language, text string) bool {
	for _, t := range likely(language, text) {
		if _, kept := t.stands(hear(text, t.spellings), "kept", keptRest, nil); kept {
			return true
		}
	}
	return false
}

// AsksSelf says whether what was said asks of the conversation itself: with a question mark, or in words
// that ask nothing else, as speech has no marks.
func AsksSelf(language, text string) bool {
	if strings.ContainsAny(text, "?？؟吗") {
		return true
	}
	return slices.ContainsFunc(likely(language, text), func(t *talk) bool {
		said := hear(text, t.spellings)
		_, kept := t.stands(said, "kept", 0, nil)
		_, plain := t.stands(said, "plain", 0, nil)
		return kept || plain
	})
}

// OfTalkKept says whether a sentence speaks of conversations with an avatar ([chats]), so that what it
// says of records may be of them.
func OfTalkKept(language, sentence string) bool {
	e := EvidenceIn(language, sentence)
	t := talkOf(language)
	return e.has("ai_assistant") || t != nil && t.mentions("chats", hear(sentence, t.spellings))
}
