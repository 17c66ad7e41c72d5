package conversation

import (
	"slices"
	"strings"
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

// A wrong yes is far worse than none: where an exception is of something else, or the sentence is no plain
// rule, it is said without a verdict.
func TestExceptionsGiveNoVerdictInDoubt(t *testing.T) {
	for language, of := range map[string]map[string][]string{
		"en": {
			"Dogs are not allowed, except dogs of residents.":                           {"May I bring my dog?", "Are dogs allowed?"},
			"Dogs are not allowed, except guide dogs.":                                  {"Can our guide bring his dog?", "May I bring my dog on a guided tour?", "Do guide dogs need a muzzle?", "May I pet the guide dog?", "May I bring my guide dog to the kitchen?", "May I not bring my guide dog?"},
			"Dogs are not allowed, except guide dogs, which may not enter the kitchen.": {"May I bring my guide dog into the kitchen?", "May I bring my guide dog?"},
			"Dogs are not allowed, except small and quiet dogs.":                        {"May I bring my small dog?", "May I bring my quiet dog?"},
			"Dogs are not allowed, except guide and police dogs.":                       {"Can the guide bring a dog?"},
			"Dogs are not allowed, except on a lead and with a muzzle.":                 {"May I bring my dog on a lead?", "May I bring my dog with a muzzle?"},
			"Dogs are not allowed, not even on a lead, except guide dogs.":              {"May I bring my dog on a lead?"},
			"The tablets can be taken with no restriction except during pregnancy.":     {"Can I take the tablets during pregnancy?"},
			"Dogs are welcome at no extra charge except in the restaurant.":             {"Are dogs allowed in the restaurant?"},
			"Dogs are welcome on a lead, except guide dogs.":                            {"May I bring my guide dog?", "May I bring my guide dog on a lead?"},
			"Smoking is prohibited, except on the terrace.":                             {"Can I smoke near the terrace?", "Can I eat on the terrace?"},
			"Dogs pay half price, except guide dogs.":                                   {"May I bring my guide dog?"},
			"No booking is needed, except for groups.":                                  {"May I come with a group?", "Can I book for groups?"},
			"Apart from cash, we also accept cards.":                                    {"Can I pay in cash?", "Can I pay by card?"},
			"Apart from cash, we accept cards.":                                         {"Can I pay in cash?"},
			"Water is provided except in the gym.":                                      {"May I bring water to the gym?", "Can I drink water in the gym?"},
		},
		"de": {
			"Hunde sind nicht erlaubt, auch nicht an der Leine, außer Blindenhunden.": {"Darf mein Hund an der Leine mit?"},
			"Rauchen ist verboten, außer auf der Terrasse.":                           {"Darf ich neben der Terrasse rauchen?"},
			"Hunde sind nicht erlaubt, außer Hunden von Mietern und Gästen.":          {"Darf ich meinen Hund mitbringen?", "Darf ich als Gast meinen Hund mitbringen?"},
			"Eine Reservierung ist nicht nötig, außer für Gruppen.":                   {"Darf ich mit einer Gruppe kommen?"},
			"Abgesehen von Bargeld nehmen wir auch Karten.":                           {"Kann ich mit Bargeld zahlen?", "Kann ich bar zahlen?"},
		},
		"fr": {
			"Les chiens sont interdits, sauf les chiens guides en laisse.": {"Puis-je amener mon chien en laisse ?", "Puis-je amener mon chien ?"},
			"À part les espèces, nous acceptons aussi les cartes.":         {"Puis-je payer en espèces ?"},
			"En dehors des espèces, les cartes sont également acceptées.":  {"Peut-on payer en espèces ?"},
		},
		"es": {
			"No se admiten perros, salvo perros guía en el jardín.": {"¿Puedo llevar mi perro al jardín?", "¿Puedo llevar mi perro?"},
			"Aparte de efectivo, también aceptamos tarjetas.":       {"¿Puedo pagar en efectivo?"},
		},
		"it": {"A parte le monete, accettiamo anche le carte.": {"Posso pagare con le monete?"}},
		"pt": {"Tirando dinheiro, também aceitamos cartões.": {"Posso pagar em dinheiro?"}},
		"nl": {"Honden zijn niet toegestaan, behalve honden van bewoners.": {"Mag ik mijn hond meenemen?"}},
		"pl": {"Oprócz gotówki przyjmujemy też karty.": {"Czy mogę zapłacić gotówką?"}},
		"tr": {
			"Nakit dışında kartla da ödeyebilirsiniz.": {"Nakit ödeyebilir miyim?"},
			"Otelin dışında köpek gezdirebilirsiniz.":  {"Otelde köpek gezdirebilir miyim?"},
		},
		"zh": {"禁止携带狗进入，导盲犬除外。": {"可以摸导盲犬吗？", "可以带狗吗？"}, "除了现金外，还可以刷卡。": {"可以用现金吗？", "可以付现金吗？"}},
		"ja": {"盲導犬以外、犬は入れません。": {"盲導犬を撫でてもいいですか？", "盲導犬をなでてもいいですか？", "盲導犬の犬舎に入れますか？"}, "現金以外にもカードが使えます。": {"現金は使えますか？"}},
		"ar": {"الكلاب ممنوعة باستثناء كلاب النزلاء.": {"هل يمكنني إحضار كلب؟"}},
	} {
		for text, questions := range of {
			for _, question := range questions {
				p := pack{{Title: "House rules", Text: text, Language: language, Score: 0.9}}
				said, _ := answered(t, builtinBrain(p), Question{Text: question, Language: language})
				require.NotRegexp(t, `^(?:Yes|No|Ja|Nein|Nee|Oui|Non|Sí|Sì|Sim|Não|Tak|Nie|Evet|Hayır|是的|不是|不|はい|いいえ|نعم|لا)[.。،,]`, said, question)
			}
		}
	}
}

// Where something may not be leads of who asks for that, and where it may of who asks for this.
func TestWhereIsDenied(t *testing.T) {
	for _, c := range []struct{ language, denied, allowed, not, may string }{
		{"en", "You may not park your bike in the courtyard.", "You may park your bike in the garage.", "Where may I not park my bike?", "Where may I park my bike?"},
		{"de", "Fahrräder dürfen nicht im Hof parken.", "Fahrräder dürfen in der Garage parken.", "Wo dürfen Fahrräder nicht parken?", "Wo dürfen Fahrräder parken?"},
		{"es", "No se puede fumar en la terraza.", "Se puede fumar en el jardín.", "¿Dónde no se puede fumar?", "¿Dónde se puede fumar?"},
	} {
		passages := []Passage{{Title: "House rules", Text: c.denied + " " + c.allowed, Language: c.language, Score: 0.9}}
		_, first := ranked(Question{Text: c.not, Language: c.language}, passages)
		require.Equal(t, c.denied, first[0].text)
		_, first = ranked(Question{Text: c.may, Language: c.language}, passages)
		require.Equal(t, c.allowed, first[0].text)
	}
}

// A question of many words is not searched for the words of its date, one after the other.
func TestTheDateOfALongQuestion(t *testing.T) {
	i := inquire(Question{Text: "Are you open on Christmas Eve?", Language: "en"})
	require.True(t, slices.ContainsFunc(i.units, func(u wanted) bool { return u.dated }))
	i = inquire(Question{Text: strings.Repeat("cat dog fish bird horse ", 8) + "are you open on Christmas Eve?", Language: "en"})
	require.False(t, slices.ContainsFunc(i.units, func(u wanted) bool { return u.dated }))
}
