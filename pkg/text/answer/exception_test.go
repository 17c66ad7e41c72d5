package answer

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExceptionIn(t *testing.T) {
	for _, c := range []struct {
		language, sentence, rule, except string
		want                             Verdict
	}{
		{"en", "Dogs are not allowed, except guide dogs.", "Dogs are not allowed", "guide dogs", Holds},
		{"en", "Except for guide dogs, dogs are not allowed.", "dogs are not allowed", "guide dogs", Holds},
		{"en", "Children may not use the sauna unless an adult is with them.", "Children may not use the sauna", "an adult is with them", Holds},
		{"en", "Dogs are welcome everywhere apart from the restaurant.", "Dogs are welcome everywhere", "the restaurant", Fails},
		{"en", "No drinks other than water.", "No drinks", "water", Holds},
		{"en", "Everything is included, with the exception of drinks.", "Everything is included", "drinks", Unclear},
		{"de", "Hunde sind nicht erlaubt, außer Blindenhunden.", "Hunde sind nicht erlaubt", "Blindenhunden", Holds},
		{"de", "Hunde sind verboten, Blindenhunde ausgenommen.", "Hunde sind verboten", "Blindenhunde", Holds},
		{"de", "Grillen ist erlaubt, es sei denn, es herrscht Waldbrandgefahr.", "Grillen ist erlaubt", "es herrscht Waldbrandgefahr", Fails},
		{"fr", "Les chiens sont interdits, sauf les chiens guides.", "Les chiens sont interdits", "les chiens guides", Holds},
		{"fr", "Les animaux ne sont pas admis, à l'exception des chiens guides.", "Les animaux ne sont pas admis", "chiens guides", Holds},
		{"es", "No se admiten perros, salvo perros guía.", "No se admiten perros", "perros guía", Holds},
		{"es", "Se permite comer, excepto en la biblioteca.", "Se permite comer", "en la biblioteca", Fails},
		{"it", "I cani non sono ammessi, tranne i cani guida.", "I cani non sono ammessi", "i cani guida", Holds},
		{"it", "È vietato l'ingresso ai cani, ad eccezione dei cani guida.", "È vietato l'ingresso ai cani", "cani guida", Holds},
		{"pt", "Não são permitidos cães, exceto cães-guia.", "Não são permitidos cães", "cães-guia", Holds},
		{"nl", "Honden zijn niet toegestaan, behalve blindengeleidehonden.", "Honden zijn niet toegestaan", "blindengeleidehonden", Holds},
		{"nl", "Fietsen zijn verboden, kinderfietsen uitgezonderd.", "Fietsen zijn verboden", "kinderfietsen", Holds},
		{"pl", "Psy nie są wpuszczane, oprócz psów przewodników.", "Psy nie są wpuszczane", "psów przewodników", Holds},
		{"pl", "Zakaz wstępu ze zwierzętami, z wyjątkiem psów przewodników.", "Zakaz wstępu ze zwierzętami", "psów przewodników", Holds},
		{"pl", "Wstęp wzbroniony, z wyjątkiem pracowników.", "Wstęp wzbroniony", "pracowników", Holds},
		{"tr", "Rehber köpekler hariç köpekler giremez.", "köpekler giremez", "Rehber köpekler", Holds},
		{"tr", "Köpek yasaktır, rehber köpekler dışında.", "Köpek yasaktır", "rehber köpekler", Holds},
		{"zh", "除导盲犬外，禁止携带宠物。", "禁止携带宠物", "导盲犬", Holds},
		{"zh", "禁止携带宠物，导盲犬除外。", "禁止携带宠物", "导盲犬", Holds},
		{"ja", "盲導犬以外、犬は入れません。", "犬は入れません", "盲導犬", Holds},
		{"ja", "犬は盲導犬を除いて入れません。", "犬は入れません", "盲導犬", Holds},
		{"ar", "الكلاب ممنوعة باستثناء كلاب الإرشاد.", "الكلاب ممنوعة", "كلاب الإرشاد", Holds},
		{"ar", "لا يسمح بالكلاب، إلا كلاب الإرشاد.", "لا يسمح بالكلاب", "كلاب الإرشاد", Holds},
	} {
		e, ok := ExceptionIn(c.language, c.sentence)
		require.True(t, ok, c.sentence)
		require.Equal(t, c.rule, e.Rule, c.sentence)
		require.Equal(t, c.except, e.Except, c.sentence)
		require.Equal(t, c.want, Excepted(c.language, e), c.sentence)
	}
	for language, sentences := range map[string][]string{
		"en": {"Apart from cash, we also accept cards.", "Dogs are allowed.", "The exceptional view is free.", "It closes at 6.", "Except."},
		"de": {"Außerdem gibt es Kuchen.", "Hunde sind außerhalb der Anlage zu führen.", "Bis auf Weiteres geschlossen."},
		"fr": {"La sauvegarde est gratuite.", "À part les espèces, nous acceptons aussi les cartes."}, "es": {"Aparte de efectivo, también aceptamos tarjetas."},
		"it": {"A parte le monete, accettiamo anche le carte."}, "nl": {"Afgezien van contant geld nemen we ook kaarten aan."}, "pl": {"Oprócz gotówki przyjmujemy też karty."},
		"tr": {"Dışarıda bekleyin.", "Nakit dışında kartla da ödeyebilirsiniz.", "Otelin dışında köpek gezdirebilirsiniz."},
		"zh": {"除了现金外，还可以刷卡。"}, "ja": {"犬は入れません。", "現金以外にもカードが使えます。"}, "xx": {"Dogs except cats."},
	} {
		for _, sentence := range sentences {
			_, ok := ExceptionIn(language, sentence)
			require.False(t, ok, sentence)
		}
	}
}

func TestExempts(t *testing.T) {
	for language, sentence := range map[string]string{
		"en": "This does not apply to guide dogs.", "de": "Ausgenommen sind Blindenhunde.", "fr": "Cela ne s'applique pas aux chiens guides.", "es": "Esto no se aplica a los perros guía.",
		"it": "Ciò non vale per i cani guida.", "pt": "Isto não se aplica aos cães-guia.", "nl": "Dit geldt niet voor blindengeleidehonden.", "pl": "Nie dotyczy to psów przewodników.",
		"tr": "Bu, rehber köpekler için geçerli değildir.", "zh": "导盲犬例外。", "ja": "ただし、盲導犬は入れます。", "ar": "لا ينطبق ذلك على كلاب الإرشاد.",
	} {
		require.True(t, Exempts(language, sentence), sentence)
	}
	require.False(t, Exempts("en", "Guide dogs are at the door."))
}

func TestForbids(t *testing.T) {
	require.True(t, Forbids("en", "No food in the galleries."))
	require.True(t, Forbids("en", "Food is prohibited."))
	require.False(t, Forbids("en", "Food is not prohibited."))
	require.False(t, Forbids("en", "Water bottles are fine."))
	require.True(t, Forbids("en", "No one may enter."))
	require.False(t, Forbids("en", "Dogs are no problem."))
	require.False(t, Forbids("de", "Das ist nicht verboten."))
	require.False(t, Forbids("en", "The tablets can be taken with no restriction."))
	require.False(t, Forbids("en", "No extra charge is made."))
	require.True(t, Forbids("it", "È vietato fumare."))
	require.True(t, Forbids("ja", "ペットはお断りします。"))
}

// What neither gives nor refuses leave in plain words excepts nothing for certain.
func TestExceptedInDoubt(t *testing.T) {
	for language, sentences := range map[string][]string{
		"en": {"The tablets can be taken with no restriction except during pregnancy.", "Dogs are welcome at no extra charge except in the restaurant.", "No booking is needed, except for groups.", "Dogs are welcome on a lead, except guide dogs.",
			"Apart from cash, we accept cards.", "Dogs are not forbidden, except guide dogs.", "Dogs are not allowed, except guide dogs, which have to stay outside.", "Water is provided except in the gym.",
			"Bikes are not allowed but dogs are welcome, except in the restaurant.", "Bikes are forbidden and dogs are allowed, except in the restaurant.", "Bikes are not allowed, dogs are, except in the restaurant."},
		"de": {"Räder sind verboten, Hunde aber erlaubt, außer im Restaurant.", "Hunde sind nicht verboten, außer Kampfhunden.", "Hunde dürfen an der Leine mit, außer Blindenhunden.", "Eine Reservierung ist nicht nötig, außer für Gruppen."},
		"fr": {"Les vélos sont interdits mais les chiens sont admis, sauf au restaurant.", "Les chiens ne sont pas interdits, sauf les chiens guides.", "Les chiens sont admis en laisse, sauf les chiens guides."},
		"es": {"No está prohibido fumar, salvo en el jardín.", "Se admiten perros con correa, salvo perros guía."},
		"pt": {"Não é proibido fumar, exceto no jardim.", "São permitidos cães com trela, exceto cães-guia."},
		"it": {"Non è vietato fumare, tranne in giardino."}, "nl": {"Honden zijn niet verboden, behalve blindengeleidehonden."}, "pl": {"Wstęp wykluczony, z wyjątkiem pracowników.", "Nie jest zabronione palenie, z wyjątkiem ogrodu."},
	} {
		for _, sentence := range sentences {
			e, ok := ExceptionIn(language, sentence)
			require.True(t, ok, sentence)
			require.Equal(t, Unclear, Excepted(language, e), sentence)
		}
	}
}

// A list is parted by the words of its own language alone, and not where words bind its parts.
func TestItems(t *testing.T) {
	for _, c := range []struct {
		language, except string
		want             []string
	}{
		{"en", "guide dogs, police dogs and rescue dogs", []string{"guide dogs", "police dogs", "rescue dogs"}},
		{"en", "dogs of residents", []string{"dogs of residents"}},
		{"en", "small and quiet dogs", []string{"small and quiet dogs"}},
		{"en", "on a lead and with a muzzle", []string{"on a lead and with a muzzle"}},
		{"nl", "honden of katten", []string{"honden", "katten"}},
		{"nl", "honden van bewoners of gasten", []string{"honden van bewoners of gasten"}},
		{"fr", "les chiens guides en laisse", []string{"les chiens guides en laisse"}},
		{"es", "perros guía en el jardín", []string{"perros guía en el jardín"}},
		{"es", "perros y gatos", []string{"perros", "gatos"}},
		{"zh", "导盲犬和警犬", []string{"导盲犬", "警犬"}},
		{"ja", "盲導犬や警察犬", []string{"盲導犬", "警察犬"}},
	} {
		require.Equal(t, c.want, (&Exception{Except: c.except}).Items(c.language), c.except)
	}
}
