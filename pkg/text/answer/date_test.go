package answer

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDates(t *testing.T) {
	for _, c := range []struct {
		language, text string
		want           []Dates
	}{
		{"en", "From April 1 to October 31 we are open.", []Dates{{401, 1031}}},
		{"en", "We are closed on December 24 and 25, and January 1.", []Dates{{1224, 1224}, {1225, 1225}, {101, 101}}},
		{"en", "On 24 and 31 December we close at noon.", []Dates{{1224, 1224}, {1231, 1231}}},
		{"en", "You may not go up.", nil},
		{"en", "Open from May to September.", []Dates{{501, 931}}},
		{"de", "Hauptsaison ist vom 15. Juni bis zum 15. September sowie vom 20. Dezember bis zum 6. Januar.", []Dates{{615, 915}, {1220, 106}}},
		{"fr", "Le 24 et le 31 décembre, elle ferme à 12h00.", []Dates{{1224, 1224}, {1231, 1231}}},
		{"es", "del 17 al 24 de julio", []Dates{{717, 724}}},
		{"es", "En julio atendemos únicamente por la mañana.", []Dates{{701, 731}}},
		{"it", "dal 1 marzo al 31 ottobre", []Dates{{301, 1031}}},
		{"pl", "od 1 maja do 30 września", []Dates{{501, 930}}},
		{"zh", "7月1日至8月31日开放", []Dates{{701, 831}}},
		{"ja", "12月24日は休館です", []Dates{{1224, 1224}}},
		{"ar", "من 1 مايو إلى 30 سبتمبر", []Dates{{501, 930}}},
		{"en", "are you open on christmas eve", []Dates{{1224, 1224}}},
		{"de", "Am 24.12. und 31.12.2026 ist das Büro zu.", []Dates{{1224, 1224}, {1231, 1231}}},
		{"de", "Vom 20.12. bis 6.1. geschlossen.", []Dates{{1220, 106}}},
		{"es", "El 24/12 cerramos a las 14 h.", []Dates{{1224, 1224}}},
		{"en", "On 12/24 we close early.", []Dates{{1224, 1224}}},
		{"en", "Half board costs 1/2 of it.", nil},
		{"de", "Von 9.30 bis 12.15 Uhr.", nil},
		{"en", "The hotline is reachable 24/7.", nil},
		{"en", "Are you open 24/7?", nil},
		{"de", "Der Notruf ist 24/7 besetzt.", nil},
		{"tr", "Resepsiyon 7/24 açıktır.", nil},
		{"es", "Abierto 24/7.", nil},
		{"es", "El 24/7/2026 cerramos.", []Dates{{724, 724}}},
		{"de", "3.2. Hunde sind an der Leine zu führen.", nil},
		{"de", "24.12. geschlossen", []Dates{{1224, 1224}}},
		{"de", "Am 24.12. Winterruhe", []Dates{{1224, 1224}}},
		{"en", "See Section 4.5.", nil},
		{"en", "It is rated 4.5.", nil},
		{"de", "Siehe Abschnitt 4.5.", nil},
		{"de", "Das Museum schließt um 12.10.", nil},
		{"de", "Offen von 9.30 bis 12.10.", nil},
		{"nl", "Wij sluiten om 12.10.", nil},
		{"it", "La visita comincia alle 12.10.", nil},
		{"fr", "La visite commence à 12.10.", nil},
		{"fr", "Nous fermons le 24.12.2026.", []Dates{{1224, 1224}}},
		{"pl", "W dniach 24.12. i 31.12. nieczynne.", []Dates{{1224, 1224}, {1231, 1231}}},
		{"it", "la vigilia di Ferragosto", []Dates{{814, 814}}},
		{"it", "la vigilia della festa", nil},
		{"pl", "od nowego roku szkolnego", nil},
	} {
		require.Equal(t, c.want, DatesIn(c.language, c.text), c.text)
	}
}

// A holiday and its date are the same day.
func TestHolidaysAreDates(t *testing.T) {
	for language, days := range map[string][2][]string{
		"en": {{"Christmas Eve", "24 December", "December 24"}, {"New Year's Eve", "31 December", "NYE"}},
		"de": {{"Heiligabend", "24. Dezember", "24.12."}, {"Silvester", "31. Dezember", "in der Silvesternacht"}},
		"fr": {{"la veille de Noël", "le 24 décembre"}, {"la Saint-Sylvestre", "le 31 décembre", "la veille du Nouvel An"}},
		"es": {{"Nochebuena", "el 24 de diciembre"}, {"Nochevieja", "el 31 de diciembre", "fin de año"}},
		"it": {{"la vigilia di Natale", "il 24 dicembre"}, {"San Silvestro", "il 31 dicembre"}},
		"pt": {{"véspera de Natal", "24 de dezembro"}, {"véspera de Ano Novo", "31 de dezembro", "passagem de ano"}},
		"nl": {{"kerstavond", "24 december"}, {"oudejaarsavond", "31 december", "oudejaarsdag"}},
		"pl": {{"Wigilia", "24 grudnia", "w Wigilię"}, {"Sylwester", "31 grudnia", "w Sylwestra"}},
		"tr": {{"Noel arifesi", "24 Aralık"}, {"yılbaşı gecesi", "31 Aralık"}},
		"zh": {{"平安夜", "12月24日"}, {"跨年夜", "12月31日"}},
		"ja": {{"クリスマスイブ", "12月24日"}, {"大晦日", "12月31日"}},
		"ar": {{"ليلة عيد الميلاد", "24 ديسمبر"}, {"ليلة رأس السنة", "31 ديسمبر"}},
	} {
		for n, want := range []int{1224, 1231} {
			for _, said := range days[n] {
				require.Equal(t, []Dates{{want, want}}, DatesIn(language, said), "%s: %s", language, said)
			}
		}
	}
}

func TestDigits(t *testing.T) {
	require.Equal(t, "can my 6 year old come", digits("en", "can my six year old come"))
	require.Equal(t, 4, AskedAge("de", "was zahlt meine vierjährige Tochter"))
	require.Equal(t, 14, AskedAge("de", "darf unser 14-jähriger in die Sauna"))
	require.Equal(t, 6, AskedAge("en", "can my six year old go up the tower with me"))
}

func TestNumbered(t *testing.T) {
	require.Equal(t, []string{"3 zimm"}, Numbered("de", "wie viele Anteile für drei Zimmer"))
	require.Equal(t, []string{"3 room"}, Numbered("en", "a flat with 3 rooms"))
	require.Equal(t, []string{"2 pers"}, Numbered("fr", "pour deux personnes"))
	require.Empty(t, Numbered("en", "how many rooms"))
}
