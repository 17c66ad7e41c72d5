package conversation

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/inbox"
)

// freeTimes are times of three days: Tuesday at 10:00 and 11:00, Wednesday at 10:00, Thursday at 15:30.
func freeTimes() (all []FreeTime) {
	first := time.Date(2026, 7, 14, 9, 0, 0, 0, time.UTC)
	for _, after := range []time.Duration{0, time.Hour, 24 * time.Hour, 53*time.Hour + 30*time.Minute} {
		all = append(all, FreeTime{first.Add(after), ""})
	}
	return all
}

// bookable is a persona whose tool booking has a schedule, and which asks for a mail address.
func bookable(a *agenda, language string) Config {
	return counter(func(c *Config) {
		tools("booking")(c)
		c.Clock, c.Diary, c.Session.Language, c.Persona.Settings.Language = clock.RealClock{}, a, language, language
		c.Persona.Goals, c.Persona.Greeting = []persona.Goal{goal("contact", "E-mail?", "email")}, persona.Greeting{Mode: "none"}
	})
}

// Without a model the times are offered in words, and the one that is named is booked.
func TestATimeIsBookedInWords(t *testing.T) {
	for language, said := range map[string][]string{
		"en": {"I would like to book a tour", "Tuesday, 14 July, 10:00; Wednesday, 15 July, 10:00; Thursday, 16 July, 15:30", "Tuesday at 11:00, please", "It is booked: Tuesday, 14 July, 11:00."},
		"de": {"Ich möchte einen Termin vereinbaren", "Dienstag, 14. Juli, 10:00", "Am Mittwoch", "Das ist gebucht: Mittwoch, 15. Juli, 10:00."},
		"fr": {"Je voudrais prendre rendez-vous", "mardi 14 juillet à 10:00", "jeudi", "C'est réservé : jeudi 16 juillet à 15:30."},
		"es": {"Quiero pedir cita", "martes 14 de julio, 10:00", "el miércoles", "Queda reservado: miércoles 15 de julio, 10:00."},
		"sv": {"Jag vill boka en tid", "tisdag 14 juli, 10:00", "torsdag", "Det är bokat: torsdag 16 juli, 15:30."},
		"tr": {"Randevu almak istiyorum", "14 Temmuz Salı, 10:00", "Çarşamba", "Randevunuz alındı: 15 Temmuz Çarşamba, 10:00."},
		"ar": {"أريد حجز موعد", "الثلاثاء 14 يوليو، 10:00", "الأربعاء", "تم الحجز: الأربعاء 15 يوليو، 10:00."},
		"zh": {"我想预约", "7月14日星期二10:00", "星期三", "已预约：7月15日星期三10:00。"},
		"ja": {"予約したいのですが", "7月14日火曜日10:00", "水曜日", "予約しました：7月15日水曜日10:00。"},
	} {
		a := &agenda{free: freeTimes()}
		k := hold(t, bookable(a, language), nil, said[0], "kim@example.com", said[2])
		all := strings.Join(k.said(), " ")
		require.Contains(t, all, said[1], language)
		require.Contains(t, all, said[3], language)
		require.Len(t, a.booked, 1, language)
		require.Equal(t, inbox.Book, a.left.Kind)
		require.Equal(t, "kim@example.com", *a.left.Contact.Email)
		require.Contains(t, k.used(), "booking completed")
	}
}

// What is said about other matters, or names several times or none that is free, books nothing.
func TestOnlyAFreeTimeIsBooked(t *testing.T) {
	book := func(a *agenda, utterances ...string) string {
		return strings.Join(hold(t, bookable(a, "en"), nil, append([]string{"I need an appointment", "kim@example.com"}, utterances...)...).said(), " ")
	}
	a := &agenda{free: freeTimes()}
	require.Contains(t, book(a, "On Tuesday"), "It is booked: Tuesday, 14 July, 10:00.", "the one that was offered")
	a = &agenda{free: freeTimes()[:2]}
	require.Equal(t, 2, strings.Count(book(a, "On Tuesday"), "These times are free: Tuesday, 14 July, 10:00; Tuesday, 14 July, 11:00."), "both were offered")
	require.Empty(t, a.booked)
	a = &agenda{free: freeTimes()[:1]}
	book(a, "Yes")
	require.Len(t, a.booked, 1, "the only one")
	a = &agenda{free: freeTimes()}
	require.Contains(t, book(a, "On Friday"), "That time is not free.")
	require.Contains(t, book(a, "Tuesday at 12:00"), "That time is not free.")
	book(a, "Who are you?", "No, thank you", "Thursday")
	require.Empty(t, a.booked)
	book(a, "When do you close on Tuesday?", "Are you open on Tuesday", "Is the bakery open on Thursday?")
	require.Empty(t, a.booked, "a question about a day chooses none")
	book(a, "Who are you?", "At 15:30")
	require.Len(t, a.booked, 1)

	require.Contains(t, book(&agenda{}), "No time is free in the next two weeks.")
	require.Contains(t, book(&agenda{free: freeTimes(), fails: ErrTaken}, "Thursday"), "That time is not free. These times are free:")
	require.Contains(t, book(&agenda{free: freeTimes(), fails: errors.New("no answer")}, "Thursday"), "I do not know whether that was booked.")
}
