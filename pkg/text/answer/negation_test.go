package answer

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNegationIn(t *testing.T) {
	for _, c := range []struct {
		language string
		// plain says a thing, denies denies it, and unclear may mean another.
		plain, denies, unclear []string
	}{
		{"en", []string{"We leave by the stairs.", "Not only the stairs are safe.", "Call the police without delay."},
			[]string{"Don't use the lift.", "We don’t leave", "It cannot be opened", "They won't go", "dont go", "Do not use it", "Nobody calls"},
			[]string{"Police are no help.", "We leave without bags.", "Avoid the lift.", "Use the stairs instead of the lift."}},
		{"de", []string{"Wir nehmen die Treppe."}, []string{"Wir nehmen nicht die Treppe.", "Nehmt keinen Aufzug.", "Nie den Aufzug."}, []string{"Ohne den Aufzug.", "Meiden Sie den Aufzug."}},
		{"fr", []string{"Prenez l'escalier."}, []string{"Ne prenez pas l'ascenseur.", "Jamais l'ascenseur.", "Aucun ascenseur."}, []string{"Sans l'ascenseur.", "N'utilisez que l'escalier.", "Évitez l'ascenseur."}},
		{"es", []string{"Usa la escalera."}, []string{"No uses el ascensor.", "Nunca el ascensor."}, []string{"Sin ascensor.", "Evitar el ascensor."}},
		{"it", []string{"Usa le scale."}, []string{"Non usare l'ascensore.", "Mai l'ascensore."}, []string{"Senza ascensore.", "Evitare l'ascensore."}},
		{"pt", []string{"Use as escadas no prédio."}, []string{"Não use o elevador.", "Nunca use o elevador."}, []string{"Sem elevador.", "Evite o elevador."}},
		{"nl", []string{"Neem de trap."}, []string{"Neem niet de lift.", "Geen lift gebruiken.", "Nooit de lift."}, []string{"Zonder lift.", "Vermijd de lift."}},
		{"pl", []string{"Idź schodami."}, []string{"Nie używaj windy.", "Nigdy windą."}, []string{"Bez windy.", "Unikaj windy."}},
		{"tr", []string{"Merdivenleri kullanın.", "Tamam, merdiven."}, []string{"Asansörü kullanmayın.", "Asansör kullanılmaz.", "Asansör kullanmıyoruz.", "Bu doğru değil."}, []string{"Asansörü kullanmadan.", "Asansörü kullanma.", "Asansör yok."}},
		{"ar", []string{"استخدم الدرج"}, []string{"لا تستخدم المصعد", "لم أستخدم المصعد", "استخدام المصعد ممنوع", "لن نستخدم المصعد"}, []string{"بدون المصعد", "تجنب المصعد"}},
		{"zh", []string{"走楼梯", "非常安全", "特别安全"}, []string{"不要坐电梯", "别坐电梯", "没有电梯", "禁止使用电梯"}, []string{"避免坐电梯"}},
		{"ja", []string{"階段を使います", "階段を使わなければなりません", "必ず階段を使う"}, []string{"エレベーターを使わない", "エレベーターは使いません", "エレベーター禁止", "使わずに降りる"}, []string{"エレベーターを避けます"}},
		{"sv", []string{"Ta trappan."}, []string{"Ta inte hissen."}, []string{"Utan hiss."}},
		{"da", []string{"Tag trappen."}, []string{"Brug ikke elevatoren."}, []string{"Uden elevator."}},
		{"nb", []string{"Ta trappen."}, []string{"Bruk ikke heisen."}, []string{"Uten heis."}},
		{"ru", []string{"Идите по лестнице."}, []string{"Не пользуйтесь лифтом."}, []string{"Без лифта."}},
	} {
		t.Run(c.language, func(t *testing.T) {
			read := func(text string) Negation {
				n, known := NegationIn(c.language, text)
				require.True(t, known)
				return n
			}
			for _, text := range c.plain {
				if n := read(text); n.Any() && c.language != "tr" || n.Denials > 0 {
					t.Errorf("%q denies: %+v", text, n)
				}
			}
			for _, text := range c.denies {
				require.Positive(t, read(text).Denials, text)
			}
			for _, text := range c.unclear {
				require.True(t, read(text).Unclear, text)
				require.Zero(t, read(text).Denials, text)
			}
		})
	}
	for _, language := range Languages() {
		_, known := NegationIn(language, "")
		require.True(t, known, "there is a list in %s", language)
	}
	_, known := NegationIn("cs", "Nejezdi výtahem.")
	require.False(t, known)
}

// A word that denies in one language is another word elsewhere.
func TestNegationIsOfItsLanguage(t *testing.T) {
	for language, text := range map[string]string{"de": "In der Not die Treppe nehmen.", "pt": "No prédio, use as escadas.", "nl": "Het past.", "it": "Ne prendo due."} {
		n, _ := NegationIn(language, text)
		require.False(t, n.Any(), "%s: %s", language, text)
	}
	require.Equal(t, Fails, Negated("en-GB", "Children under 8 can't go up.", Holds))
	require.Equal(t, Fails, Negated("es", "Los menores de 8 años no pueden subir.", Holds))
}
