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
