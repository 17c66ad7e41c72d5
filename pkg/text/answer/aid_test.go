package answer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/text/answer"
)

// An injury is one that first aid is for; danger of another kind is none.
func TestInjuriesThatAreTold(t *testing.T) {
	t.Parallel()

	for text, language := range map[string]string{
		"I cut my hand": "en", "my son fell down the stairs": "en", "she is bleeding": "en", "I burnt my arm": "en", "I was stung by a wasp": "en", "I sprained my ankle": "en",
		"ich habe mich geschnitten": "de", "meine Tochter ist gestürzt": "de", "je me suis brûlé la main": "fr", "me he cortado el dedo": "es", "mi sono tagliato": "it", "ele caiu e está a sangrar": "pt",
		"hij is gevallen": "nl", "ona krwawi": "pl", "elim kanıyor": "tr", "他流血了": "zh", "指を切りました": "ja", "يدي تنزف": "ar",
	} {
		require.True(t, answer.Hurt(language, text), text)
	}
	for text, language := range map[string]string{
		"I want to kill myself": "en", "there is a fire": "en", "a man with a gun": "en", "he is unconscious": "en", "I wonder what is burning": "en",
		"ich will mich umbringen": "de", "es brennt": "de", "er ist bewusstlos": "de", "je veux mourir": "fr", "au feu": "fr", "hay un incendio": "es", "c'è fumo": "it", "não respira": "pt",
		"er is brand": "nl", "pali się": "pl", "yangın var": "tr", "着火了": "zh", "火事です": "ja", "هناك حريق": "ar",
	} {
		require.False(t, answer.Hurt(language, text), text)
	}
}

// First aid is told by name.
func TestWhatTellsOfFirstAid(t *testing.T) {
	t.Parallel()

	aids := func(language, text string) bool {
		e := answer.EvidenceIn(language, text)
		return e.Aids(text)
	}
	for text, language := range map[string]string{
		"The first-aid kit is at the desk.": "en", "Ersthelfer ist Jens Vogt.": "de", "L'infirmerie est au rez-de-chaussée.": "fr", "El botiquín está en recepción.": "es",
		"EHBO-post: naast de kassa.": "nl", "Apteczka jest w recepcji.": "pl", "急救箱在前台。": "zh", "救急箱は受付にあります。": "ja",
	} {
		require.True(t, aids(language, text), text)
	}
	for text, language := range map[string]string{
		"The plaster on the ceiling dates from 1890.": "en", "First aid course on Mondays.": "en", "A first aid kit costs 12 euros.": "en",
		"Verletzungen durch Dritte sind mitversichert.": "de", "Erste-Hilfe-Kurs jeden Montag.": "de", "Rany kłute w sztuce": "pl",
	} {
		require.False(t, aids(language, text), text)
	}
}
