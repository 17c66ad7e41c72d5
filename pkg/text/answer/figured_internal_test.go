package answer

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFigured(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"en The museum opens at nine and closes at six in the evening.":  "The museum opens at 9:00 and closes at 6:00 in the evening.",
		"en Open from nine until five.":                                  "Open from 9:00 until 17:00.",
		"en The café is open until five.":                                "The café is open until 17:00.",
		"en It takes one hour and costs four euros.":                     "It takes one hour and costs 4 euros.",
		"en Groups of twenty book from two weeks ahead.":                 "Groups of 20 book from 2 weeks ahead.",
		"en A tour starts at half past ten.":                             "A tour starts at half past 10:30.",
		"de Geöffnet von neun bis achtzehn Uhr.":                         "Geöffnet von 9:00 bis 18:00 Uhr.",
		"de Samstags geöffnet von zehn bis vierzehn Uhr.":                "Samstags geöffnet von 10:00 bis 14:00 Uhr.",
		"de Die Führung beginnt um halb zehn.":                           "Die Führung beginnt um halb 9:30.",
		"de Der Eintritt kostet zwölf Euro.":                             "Der Eintritt kostet 12 Euro.",
		"fr Ouvert de dix heures à dix-huit heures.":                     "Ouvert de 10:00 heures à 18:00 heures.",
		"fr La visite dure deux heures.":                                 "La visite dure 2 heures.",
		"es Dura dos horas.":                                             "Dura 2 horas.",
		"en It takes two hours, and there are four historic rooms.":      "It takes 2 hours, and there are 4 historic rooms.",
		"de Alle zwei bis drei Wochen.":                                  "Alle 2 bis 3 Wochen.",
		"de Kinder bis sechs.":                                           "Kinder bis 6.",
		"es Abre a las diez y media.":                                    "Abre a las 10 y media.",
		"en We close at ten to nine.":                                    "We close at 10 to 9.",
		"en Open from nine until five, on Saturday from ten until four.": "Open from 9:00 until 17:00, on Saturday from 10:00 until 16:00.",
		"en Open from eight in the evening until two.":                   "Open from 8:00 in the evening until 2:00.",
		"en Open until five, on Fridays from nine in the morning.":       "Open until 17:00, on Fridays from 9:00 in the morning.",
		"en The museum closes at eight.":                                 "The museum closes at 20:00.",
		"ja 二時間かかります。":                                                   "2時間かかります。",
		"es Abre a las diez y cierra a las siete de la tarde.":           "Abre a las 10:00 y cierra a las 7:00 de la tarde.",
		"zh 早上九点开门。":                                                     "早上9:00点开门。",
		"en Groups between five and ten people.":                         "Groups between 5 and 10 people.",
		"en We open at half nine.":                                       "We open at half 9:30.",
		"nl We beginnen om half tien.":                                   "We beginnen om half 9:30.",
		"en Nothing here.":                                               "Nothing here.",
	} {
		require.Equal(t, want, figured(said[:2], said[3:]), said)
	}
}

func TestTimesInWords(t *testing.T) {
	t.Parallel()
	for said, want := range map[string][]int{
		"en The museum opens at nine and closes at six in the evening.": {9 * 60, 18 * 60},
		"en Open from nine until five.":                                 {9 * 60, 17 * 60},
		"es Abre a las diez y cierra a las siete de la tarde.":          {10 * 60, 19 * 60},
		"zh 下午6点关门":                                                     {18 * 60},
		"de Bis 6 Uhr abends.":                                          {18 * 60},
	} {
		s := ScheduleIn(said[:2], said[3:])
		require.Equal(t, want, s.Times, said)
	}
}
