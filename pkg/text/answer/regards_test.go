package answer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/text/answer"
)

// Whom to talk to about a matter is no question for who is speaking, and not for just anybody.
func TestWhomToTalkToAboutAMatter(t *testing.T) {
	t.Parallel()

	for text, language := range map[string]string{
		"who can I talk to about data protection?": "en", "who do I speak to about a refund": "en", "my boss is bullying me, who can I talk to": "en", "can I talk to someone about my invoice": "en",
		"mit wem spreche ich wegen der Rechnung": "de", "an wen wende ich mich wegen einer Beschwerde": "de",
		"à qui je parle pour ma facture": "fr", "à qui parler pour une réclamation": "fr",
		"con quién hablo para una queja": "es", "siamo in 20, con chi parlo per la cena?": "it", "com quem falo sobre a matrícula": "pt",
		"met wie kan ik praten over een klacht": "nl", "z kim rozmawiam w sprawie faktury": "pl", "z kim mogę porozmawiać o moich danych osobowych": "pl", "fatura hakkında kiminle konuşabilirim": "tr",
		"关于发票我可以找谁咨询": "zh", "請求書について誰に相談すればいいですか": "ja", "مع من يمكنني التحدث عن الفاتورة": "ar",
	} {
		require.True(t, answer.Regards(language, text), text)
		require.NotEqual(t, answer.Disclosure, answer.Hear(language, text).Act, text)
	}
	for text, language := range map[string]string{
		"who am I talking to?": "en", "mit wem spreche ich": "de", "avec qui je parle": "fr",
		"con quién hablo": "es", "con chi parlo": "it", "com quem falo": "pt", "met wie spreek ik": "nl", "z kim rozmawiam": "pl",
		"con quién hablo de verdad": "es", "avec qui je parle au téléphone": "fr", "com quem falo do outro lado": "pt", "con chi parlo di preciso": "it",
		"mit wem spreche ich zur Zeit": "de", "con chi parlo per davvero": "it",
	} {
		require.False(t, answer.Regards(language, text), text)
		require.Equal(t, answer.Disclosure, answer.Hear(language, text).Act, text)
	}
	require.False(t, answer.Regards("en", "hello, who can I talk to"))
	require.Equal(t, answer.Disclosure, answer.Hear("es", "tengo una pregunta sobre mi factura, ¿con quién hablo?").Act)
	require.False(t, answer.Regards("en", "who can I talk to about you being a robot?"))
	require.NotEqual(t, answer.Disclosure, answer.Hear("pl", "czy ktoś u was mówi po rosyjsku?").Act)
}

// Who wishes to talk to somebody about a matter does not ask whom to turn to in it.
func TestWhomToTurnToOrSomebodyToTalkTo(t *testing.T) {
	t.Parallel()

	for text, language := range map[string]string{
		"who can I talk to about data protection?": "en", "who can I talk to about prices?": "en", "an wen wende ich mich wegen einer Beschwerde": "de", "à qui parler pour une réclamation": "fr",
		"con quién hablo para una queja": "es", "siamo in 20, con chi parlo per la cena?": "it", "com quem falo sobre a matrícula": "pt", "met wie kan ik praten over een klacht": "nl",
		"z kim rozmawiam w sprawie faktury": "pl", "fatura hakkında kiminle konuşabilirim": "tr", "关于发票我可以找谁咨询": "zh", "請求書について誰に相談すればいいですか": "ja", "مع من يمكنني التحدث عن الفاتورة": "ar",
	} {
		require.True(t, answer.SeeksWhom(language, text), text)
	}
	for text, language := range map[string]string{
		"Can I talk to someone about the Silver Pass?": "en", "I want to speak to somebody about my invoice": "en", "Can I talk to a person?": "en",
		"Kann ich mit jemandem über die Rechnung sprechen?": "de", "who am I talking to?": "en",
	} {
		require.False(t, answer.SeeksWhom(language, text), text)
	}
}

// What tells how somebody is reached has an address or a number, or a name and what they do.
func TestHowSomebodyIsReached(t *testing.T) {
	t.Parallel()

	for text, language := range map[string]string{
		"Complaints: help@house.example": "en", "For invoices call 020 7946 0018.": "en", "Our head of billing is Ann Carter.": "en", "Ansprechpartner für Rechnungen ist unser Leiter Jens Vogt.": "de",
		"Contact Maria Lopes about enrolment.": "en", "Our data protection officer is Tomás Quirke.": "en", "Notre déléguée est Mme Anne Leroy.": "fr", "Il referente per le fatture è Marco Bassi.": "it",
		"Rechnungen: 030 2026 1234": "de",
	} {
		require.True(t, answer.Reaches(language, text), text)
	}
	for text, language := range map[string]string{
		"The Silver Pass costs 120 euros.": "en", "The Silver Pass is sold at www.house.example": "en", "See https://house.example/Silver for the Silver Pass": "en",
		"The Silver Pass is for the season 2026/2027.": "en", "Der Silberpass gilt bis 31.12.2026 - 31.12.2027.": "de", "The Silver Pass costs 120 000 000 pesos.": "en",
	} {
		require.False(t, answer.Reaches(language, text), text)
	}
}
