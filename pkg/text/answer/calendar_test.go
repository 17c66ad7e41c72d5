package answer

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSchedules(t *testing.T) {
	const monday, wednesday, sunday = 0, 2, 6
	for _, c := range []struct {
		language, sentence string
		day, at            int
		want               Verdict
	}{
		{"en", "Open daily from 10:00 to 18:00.", sunday, -1, Holds},
		{"en", "Open daily except Wednesday.", wednesday, -1, Fails},
		{"en", "Open daily except Wednesday.", sunday, -1, Holds},
		{"en", "Monday to Friday: 8:00 to 17:00", wednesday, -1, Holds},
		{"en", "Monday to Friday: 8:00 to 17:00", sunday, -1, Unclear},
		{"en", "Monday to Friday: 8:00 to 17:00", wednesday, 9 * 60, Holds},
		{"en", "Monday to Friday: 8:00 to 17:00", wednesday, 18 * 60, Fails},
		{"en", "Closed on Mondays.", monday, -1, Fails},
		{"de", "Täglich außer Mittwoch geöffnet.", wednesday, -1, Fails},
		{"de", "Montag bis Freitag von 9 bis 17 Uhr", wednesday, -1, Holds},
		{"fr", "Du lundi au vendredi, de 9h00 à 17h00.", wednesday, -1, Holds},
		{"es", "De lunes a viernes de 9:00 a 14:00.", wednesday, -1, Holds},
		{"en", "The café serves soup.", sunday, -1, Unclear},
		{"en", "Monday to Thursday 9:00 to 17:00, Fridays 9:00 to 14:00.", wednesday, 16 * 60, Holds},
		{"en", "Monday to Thursday 9:00 to 17:00, Fridays 9:00 to 14:00.", 4, 16 * 60, Fails},
		{"es", "de lunes a jueves de 9:00 a 14:00 y de 16:00 a 18:00, y los viernes solo de 9:00 a 14:00.", 4, 17 * 60, Fails},
		{"es", "de lunes a jueves de 9:00 a 14:00 y de 16:00 a 18:00, y los viernes solo de 9:00 a 14:00.", wednesday, 17 * 60, Holds},
		{"en", "Tuesday to Sunday from 10 a.m. to 4 p.m. and closed on Mondays.", monday, -1, Fails},
		{"en", "Tuesday to Sunday from 10 a.m. to 4 p.m. and closed on Mondays.", sunday, 11 * 60, Holds},
		{"de", "Täglich von 17 Uhr bis 1 Uhr.", sunday, 23 * 60, Holds},
	} {
		s := ScheduleIn(c.language, c.sentence)
		require.Equal(t, c.want, s.Says(Asked{Weekday: c.day, At: c.at, Undated: true}), "%s on %d at %d: %+v", c.sentence, c.day, c.at, s)
	}
}

func TestAskedDay(t *testing.T) {
	friday := time.Date(2026, 11, 20, 10, 30, 0, 0, time.UTC)
	for _, c := range []struct {
		language, text string
		day, at        int
		asked          bool
	}{
		{"en", "Are you open on Sunday?", 6, -1, true}, {"en", "are you open today", 4, -1, true}, {"de", "haben Sie morgen offen?", 5, -1, true},
		{"en", "are you open right now?", 4, 10*60 + 30, true}, {"zh", "你们星期三开门吗", 2, -1, true}, {"en", "Where is the café?", 0, -1, false},
		{"en", "can i come at 8 pm", 4, 20 * 60, true}, {"es", "puedo ir el viernes a las cinco de la tarde", 4, 17 * 60, true}, {"en", "can i come this afternoon", 4, 15 * 60, true},
	} {
		day, asked := AskedDay(c.language, c.text, friday)
		require.Equal(t, c.asked, asked, c.text)
		if asked {
			require.Equal(t, []int{c.day, c.at}, []int{day.Weekday, day.At}, c.text)
		}
	}
}

func TestAges(t *testing.T) {
	require.Equal(t, 4, AskedAge("en", "my daughter is 4, does she pay?"))
	require.Equal(t, 12, AskedAge("de", "Was kostet es für ein Kind von 12 Jahren?"))
	require.Equal(t, -1, AskedAge("en", "a table for 4"))
	require.Equal(t, Holds, Covers("en", "Children under 6 enter free of charge.", 4))
	require.Equal(t, Fails, Covers("en", "Children under 6 enter free of charge.", 6))
	require.Equal(t, Holds, Covers("en", "Children under four stay free.", 3))
	require.Equal(t, Fails, Covers("de", "Kinder unter sechs Jahren zahlen nichts.", 7))
	require.Equal(t, Unclear, Covers("en", "High season is from 1 July to 31 August.", 3))
	require.Equal(t, Holds, Covers("de", "Kinder von 6 bis 14 zahlen die Hälfte.", 14))
	require.Equal(t, Holds, Covers("en", "Visitors from 65 pay 9 euros.", 70))
	require.Equal(t, Fails, Negated("en", "Children under 8 may not go up.", Holds))
	require.Equal(t, Unclear, Covers("en", "Admission costs 12 euros.", 4))
}

func TestKinds(t *testing.T) {
	for text, kind := range map[string]Kind{
		"When do you open?": When, "what time is breakfast": When, "Where is the café?": Where, "how much is a ticket": Price,
		"How many rooms are there?": Count, "how long does it take": Duration, "Who runs the hotel?": Who, "why is it closed": Why,
		"Can I bring my dog?": May, "what is your phone number": Phone, "your e-mail?": Mail, "Is there parking?": YesNo,
	} {
		require.Equal(t, kind, KindOf("en", text), text)
	}
	price := EvidenceIn("en", "A ticket costs $12.")
	require.Equal(t, 1.0, price.Fits(Price))
	require.Zero(t, price.Fits(Count), "an amount is no count")
}

func TestQuestions(t *testing.T) {
	for text, want := range map[string][]string{
		"When do you open and how much is it?": {"When do you open", "how much is it?"},
		"Where are you? Is there parking?":     {"Where are you?", "Is there parking?"},
		"Do you sell bread and butter?":        {"Do you sell bread and butter?"},
		"I have a dog. Can I bring it?":        {"I have a dog. Can I bring it?"},
	} {
		require.Equal(t, want, Questions("en", text), text)
	}
	meant, corrects := Corrected("en", "no, I meant the restaurant")
	require.True(t, corrects)
	require.Equal(t, "the restaurant", meant)
}

func TestWeekdaysOfAMonth(t *testing.T) {
	const thursday, sunday = 3, 6
	for _, c := range []struct {
		language, sentence string
		weekday, date      int
		want               Verdict
	}{
		{"fr", "Dimanche : 14 h – 18 h, uniquement le premier dimanche du mois, d'octobre à mars", sunday, 1206, Holds},
		{"fr", "Dimanche : 14 h – 18 h, uniquement le premier dimanche du mois, d'octobre à mars", sunday, 1213, Fails},
		{"fr", "Dimanche : 14 h – 18 h, uniquement le premier dimanche du mois, d'octobre à mars", sunday, 607, Fails},
		{"de", "Sonntag 10:00–13:00 (nur Oktober bis April)", sunday, 517, Fails},
		{"de", "Sonntag 10:00–13:00 (nur Oktober bis April)", sunday, 1115, Holds},
		{"en", "The first and third Thursday of the month, 6 p.m. to 8 p.m.", thursday, 1119, Holds},
		{"en", "The first and third Thursday of the month, 6 p.m. to 8 p.m.", thursday, 1112, Fails},
		{"en", "The last Thursday of the month.", thursday, 1126, Holds},
		{"en", "Every Thursday until the last visitor leaves.", thursday, 1112, Holds},
	} {
		s := ScheduleIn(c.language, c.sentence)
		require.Equal(t, c.want, s.Says(Asked{Weekday: c.weekday, Date: c.date, At: -1, Undated: true}), "%s on %d: %+v", c.sentence, c.date, s)
	}
}

// A word that begins or ends with a letter beyond ASCII is bounded as others are.
func TestWordsBeyondASCII(t *testing.T) {
	require.Equal(t, []int{3}, nthsBefore("her ayın üçüncü "))
	require.Equal(t, []int{lastOf}, nthsBefore("el último "))
	require.Equal(t, []int{1, 3}, nthsBefore("every first and third "))
	require.Empty(t, nthsBefore("on the 21st, "))
	require.Equal(t, timesIn("Saat 22:00 - 24:00 arası açık."), timesIn("Saat 22:00 - gece yarısı arası açık."))
	require.True(t, Hurt("es", "Me caí en la escalera."))
	require.True(t, Hurt("pt", "Eu caí na escada."))
	require.True(t, Exempts("pt", "Só cães-guia podem entrar."))
}
