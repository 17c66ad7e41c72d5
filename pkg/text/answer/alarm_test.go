package answer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/text/answer"
)

func TestCallsForHelpAreHeard(t *testing.T) {
	for language, text := range map[string]string{
		"en": "there is smoke in the stairwell", "de": "mein mann kriegt keine luft und hat druck auf der brust", "fr": "y a de la fumée au 2e étage !!",
		"es": "mi padre no responde", "it": "c'è fumo nel corridoio", "pt": "ele não respira", "nl": "er is rook in de gang", "pl": "on nie oddycha",
		"tr": "nefes alamıyor", "zh": "他没有反应", "ja": "意識がない人がいます", "ar": "هناك دخان في الممر",
	} {
		require.True(t, answer.Endangered(language, text), text)
	}
	for language, text := range map[string]string{
		"en": "can i smoke on the terrace", "de": "wo darf man rauchen", "fr": "où peut-on fumer", "es": "cómo te llamas", "pt": "como te chamas",
	} {
		require.False(t, answer.Endangered(language, text), text)
	}
}

func TestCallsForPersonsAreHeard(t *testing.T) {
	for language, text := range map[string]string{
		"en": "can someone ring me back", "de": "soll mich wer anrufen", "fr": "j'aimerais qu'on me rappelle", "es": "que me llamen por favor",
		"it": "richiamatemi per favore", "nl": "kan iemand me bellen", "zh": "请给我打电话",
	} {
		require.Equal(t, answer.Person, answer.Hear(language, text).Act, text)
	}
}

func TestWhomToCallInDanger(t *testing.T) {
	heading := answer.EvidenceIn("de", "Notfall")
	for sentence, want := range map[string]float64{
		"112 bei Brustschmerz und Atemnot.": 1, "Rufen Sie 0661 900 14 88 an.": 0.75, "Ärztlicher Bereitschaftsdienst: 116 117.": 0, "Bitte ruhig bleiben.": 0,
	} {
		e := answer.EvidenceIn("de", sentence)
		require.InDelta(t, want, e.Alarms(&heading), 0.001, sentence)
	}
	e := answer.EvidenceIn("de", "112 Plätze hat der Saal.")
	require.Zero(t, e.Alarms(nil))
}
