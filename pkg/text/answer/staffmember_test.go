package answer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/text/answer"
)

// Who takes the avatar for one of the staff is told what it is; who asks after the staff is not.
func TestTakenForOneOfTheStaff(t *testing.T) {
	for text, language := range map[string]string{
		"are you one of the nurses": "en", "Are you one of your doctors?": "en", "is this just a recorded message or what": "en",
		"wer ist denn da am apparat": "de", "Sind Sie eine von den Schwestern?": "de",
	} {
		require.Equal(t, answer.Disclosure, answer.Hear(language, text).Act, text)
	}
	for text, language := range map[string]string{
		"is one of the nurses free today": "en", "who is one of your doctors": "en", "Ist eine von den Schwestern heute da?": "de", "wer ist am Montag da": "de",
		"can I leave a recorded message for the nurse": "en",
	} {
		require.NotEqual(t, answer.Disclosure, answer.Hear(language, text).Act, text)
	}
}
