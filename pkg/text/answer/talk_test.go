package answer

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTalkFilesAreSound(t *testing.T) {
	for language := range talks {
		read, err := openTalk(language)
		require.NoError(t, err, language)
		for _, key := range []string{"ability", "abilityNone", "nearby", "nearest", "insult", "injection", "nonsense", "emergency", "person", "contact", "foreign", "okay", "yes", "no", "clock", "languages",
			"keptDays", "keptDay", "keptOver", "keptOpen", "keptNone", "keptReach", "keptJoin", "keptRead", "keptSound", "keptAsked", "keptSilent", "keptStopped", "keptNotice", "keptUnknown", "keptWords", "sure", "unsure"} {
			require.NotEmpty(t, read.say[key], "%s %s", language, key)
		}
		for _, w := range weighty {
			require.NotNil(t, read.anywhere[string(w.act)], "%s %s", language, w.act)
		}
		for _, section := range []string{"nature", "self", "here", "matter", "aside", "lead", "filler", "peril", "calm", "summons", "thing", "plain", "taught", "helping", "others", "talking", "wishing", "errand", "kept", "chats", "sure"} {
			require.NotNil(t, read.anywhere[section], "%s %s", language, section)
		}
		for _, act := range courtesies {
			require.NotNil(t, read.begins[string(act)], "%s %s", language, act)
		}
	}
}

// The words of whom to turn to and of a number are what is asked for, and no words of asking.
func TestWhatIsNoWordOfAsking(t *testing.T) {
	for language, words := range map[string][]string{
		"en": {"complain", "complaint", "report", "responsible", "dial", "approach"},
		"de": {"wahlen", "zustandig", "ansprechpartner", "verantwortlich"}, "fr": {"occupe"}, "pl": {"zajmuje"},
	} {
		for _, word := range words {
			require.False(t, OfAsking(language, word), "%s %s", language, word)
		}
	}
	for language, words := range map[string][]string{"it": {"qual", "vostro", "suo"}, "es": {"cual"}, "pt": {"vosso", "seu"}, "de": {"eure", "ihre"}} {
		for _, word := range words {
			require.True(t, OfAsking(language, word), "%s %s", language, word)
		}
	}
	require.True(t, OfAsking("en", "who"))
	require.True(t, OfAsking("de", "wann"))
}
