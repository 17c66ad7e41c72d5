package answer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/text/answer"
)

func TestWishesAreToldApart(t *testing.T) {
	for _, c := range []struct {
		language, text string
		want           []string
	}{
		{"en", "phone number and address", []string{"phone number", "address"}},
		{"de", "Telefonnummer und Adresse bitte", []string{"Telefonnummer", "Adresse bitte"}},
		{"fr", "votre téléphone et votre courriel", []string{"votre téléphone", "votre courriel"}},
		{"en", "bread and butter", []string{"bread and butter"}}, // neither is one
		{"en", "price and cost", []string{"price and cost"}},     // one and the same
		{"en", "the address", []string{"the address"}},           // one alone
		{"en", "phone, email and address", []string{"phone", "email", "address"}},
	} {
		require.Equal(t, c.want, answer.Wishes(c.language, c.text), c.text)
	}
}

func TestWhatGoesOnFromBefore(t *testing.T) {
	for language, text := range map[string]string{
		"en": "and on Tuesday?", "de": "und am Dienstag?", "fr": "et le mardi ?", "es": "¿y el martes?", "it": "e martedì?", "nl": "en op dinsdag?",
	} {
		require.True(t, answer.GoesOn(language, text), text)
	}
	for language, text := range map[string]string{"en": "when do you open?", "de": "Wann öffnet das Museum?", "en-GB": "please tell me the price", "xx": "and now?"} {
		require.False(t, answer.GoesOn(language, text), text)
	}
}

func TestWordsOfState(t *testing.T) {
	require.True(t, answer.OfState("en", "open"))
	require.True(t, answer.OfState("de", "kostenlos"))
	require.False(t, answer.OfState("en", "tower"))
}
