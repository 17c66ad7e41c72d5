package conversation

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A question about an exception is answered by it, one about the rule by the rule as it stands.
func TestExceptionsAnswer(t *testing.T) {
	for _, c := range []struct{ language, text, excepted, ruled, other, yes string }{
		{"en", "Dogs are not allowed in the building, except guide dogs.", "May I bring my guide dog?", "May I bring my dog?", "Are dogs allowed in the building?", "Yes."},
		{"de", "Hunde sind im Haus nicht erlaubt, außer Blindenhunden.", "Darf ich meinen Blindenhund mitbringen?", "Darf ich meinen Hund mitbringen?", "Sind Hunde im Haus erlaubt?", "Ja."},
		{"fr", "Les chiens sont interdits dans le bâtiment, sauf les chiens guides.", "Puis-je amener mon chien guide ?", "Puis-je amener mon chien ?", "Les chiens sont-ils autorisés ?", "Oui."},
		{"es", "No se admiten perros en el edificio, salvo perros guía.", "¿Puedo llevar mi perro guía?", "¿Puedo llevar mi perro?", "¿Se admiten perros en el edificio?", "Sí."},
		{"it", "I cani non sono ammessi nell'edificio, tranne i cani guida.", "Posso portare il mio cane guida?", "Posso portare il mio cane?", "I cani sono ammessi?", "Sì."},
		{"pt", "Não são permitidos cães no edifício, exceto cães-guia.", "Posso levar o meu cão-guia?", "Posso levar o meu cão?", "São permitidos cães?", "Sim."},
		{"nl", "Honden zijn niet toegestaan in het gebouw, behalve blindengeleidehonden.", "Mag ik mijn blindengeleidehond meenemen?", "Mag ik mijn hond meenemen?", "Zijn honden toegestaan?", "Ja."},
		{"pl", "Psy nie są dozwolone w budynku, oprócz psów przewodników.", "Czy mogę wejść z psem przewodnikiem?", "Czy mogę wejść z psem?", "Czy psy są dozwolone?", "Tak."},
		{"tr", "Rehber köpekler hariç köpekler binaya giremez.", "Rehber köpeğimle girebilir miyim?", "Köpeğimle girebilir miyim?", "Köpekler binaya girebilir mi?", "Evet."},
		{"zh", "除导盲犬外，禁止携带狗进入。", "可以带导盲犬吗？", "可以带狗吗？", "允许带狗进入吗？", "是的。"},
		{"ja", "盲導犬以外、犬は入れません。", "盲導犬は入れますか？", "犬は入れますか？", "犬を連れて行けますか？", "はい。"},
		{"ar", "الكلاب ممنوعة في المبنى باستثناء كلاب الإرشاد.", "هل يمكنني إحضار كلب إرشاد؟", "هل يمكنني إحضار كلب؟", "هل الكلاب مسموحة؟", "نعم."},
	} {
		p := pack{{Title: "House rules", Heading: "", Text: c.text, Language: c.language, Score: 0.9}}
		text, _ := answered(t, builtinBrain(p), Question{Text: c.excepted, Language: c.language})
		require.Contains(t, text, c.yes, "%s: %s", c.language, c.excepted)
		require.Contains(t, text, c.text)
		for _, question := range []string{c.ruled, c.other} {
			text, _ = answered(t, builtinBrain(p), Question{Text: question, Language: c.language})
			require.NotContains(t, text, c.yes, "%s: %s", c.language, question)
		}
	}
}

func TestExceptionsToWhatIsAllowed(t *testing.T) {
	p := pack{{Title: "House rules", Text: "Dogs are welcome everywhere except in the restaurant.", Language: "en", Score: 0.9}}
	text, _ := answered(t, builtinBrain(p), Question{Text: "Are dogs allowed in the restaurant?", Language: "en"})
	require.Equal(t, "No. Dogs are welcome everywhere except in the restaurant.", text)
	text, _ = answered(t, builtinBrain(p), Question{Text: "Are dogs forbidden in the restaurant?", Language: "en"})
	require.NotContains(t, text, "No.")
}

// A rule is not said without the exception that follows it.
func TestARuleIsSaidWithItsException(t *testing.T) {
	p := pack{{Title: "House rules", Text: "Dogs are not allowed in the hall. This does not apply to guide dogs. Bikes stay outside.", Language: "en", Score: 0.9}}
	for _, question := range []string{"Are dogs allowed in the hall?", "Is my guide dog allowed?"} {
		text, _ := answered(t, builtinBrain(p), Question{Text: question, Language: "en"})
		require.Contains(t, text, "Dogs are not allowed in the hall. This does not apply to guide dogs.", question)
		require.NotContains(t, text, "Bikes")
	}
}
