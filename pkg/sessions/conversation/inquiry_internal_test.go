package conversation

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/text/answer"
)

func inquired(language, before, text string) inquiry {
	return inquire(Question{Language: language, Previous: before, Text: text, Now: time.Date(2026, 11, 18, 10, 30, 0, 0, time.UTC)})
}

// An age asks for the rules of those of that age too.
func TestAnAgeImpliesAGroup(t *testing.T) {
	of := func(i inquiry) bool {
		return slices.ContainsFunc(i.units, func(u wanted) bool { return answer.OfPeople(u.concepts) })
	}
	require.True(t, of(inquired("en", "", "I'm 67, is it cheaper for me?")))
	require.False(t, of(inquired("en", "", "I'm 40, is it cheaper for me?")))
	require.False(t, of(inquired("en", "", "is it cheaper for me?")))
}

// Children take the place of adults in a follow-up, and what goes on with "and" asks the same.
func TestWhatAFollowUpKeeps(t *testing.T) {
	i := inquired("de", "Was kostet der Eintritt für Erwachsene?", "und für Kinder?")
	require.Equal(t, answer.Price, i.kind)
	require.False(t, slices.ContainsFunc(i.units, func(u wanted) bool { return u.carried && answer.OfPeople(u.concepts) }))
	i = inquired("en", "How long is the probation?", "and the notice period after that?")
	require.Equal(t, answer.Duration, i.kind)
	require.True(t, i.assumed)
	require.Equal(t, answer.Who, inquired("en", "When is yoga?", "and who teaches it?").kind)
}

// What is only the means of something is not offered.
func TestAMeansIsNotTheThing(t *testing.T) {
	internet := unitsOf(nil, "de", "gibt es Internet")[1]
	booked, offered := held("de", "Gebucht wird im Internet oder am Telefon."), held("de", "Internet gibt es im ganzen Haus.")
	require.Less(t, internet.in(&booked), valueBroad)
	require.InDelta(t, 1, internet.in(&offered), 0)
	appointment := unitsOf(nil, "en", "do I need an appointment")
	none := held("en", "No appointment is needed.")
	require.True(t, slices.ContainsFunc(appointment, func(u wanted) bool { return !u.light && u.in(&none) == 1 }), "what is denied is spoken of")
}

// Who asks whether something is so is told what the best sentence goes on with.
func TestWhatGoesOnIsSaidToo(t *testing.T) {
	text, gap := answered(t, builtinBrain(pack{passage("Working hours", "Overtime must be agreed beforehand. It is not paid out. The canteen is downstairs.")}),
		Question{Text: "is overtime paid out?", Language: "en"})
	require.False(t, gap, text)
	require.Contains(t, text, "not paid out")
	require.NotContains(t, text, "canteen")
}

// An acronym is asked for, though it is written as a word that says nothing.
func TestAcronymsAreAskedFor(t *testing.T) {
	require.True(t, slices.ContainsFunc(unitsOf(nil, "en", "Who is responsible for IT?"), func(u wanted) bool { return slices.Contains(u.raw, "it") }))
	require.False(t, slices.ContainsFunc(unitsOf(nil, "en", "Who is responsible for it?"), func(u wanted) bool { return slices.Contains(u.raw, "it") }))
}

// A date that is closed goes before the weekday that is open, and the two are not said together;
// a closing day counts whichever document tells it.
func TestClosedDatesAndDays(t *testing.T) {
	holiday := pack{passage("Opening hours", "Wednesdays we are open from 9:00 to 18:00."), passage("Holidays", "On 18 November we are closed.")}
	ask := func(p pack, text string) string {
		text, gap := answered(t, builtinBrain(anyWords(p)), Question{Text: text, Language: "en", Now: time.Date(2026, 11, 17, 10, 30, 0, 0, time.UTC)})
		require.False(t, gap, text)
		return text
	}
	text := ask(holiday, "are you open tomorrow?")
	require.Contains(t, text, "18 November")
	require.NotContains(t, text, "9:00")
	require.Contains(t, ask(holiday, "are you open on Wednesday next week?"), "9:00")

	apart := pack{passage("Opening hours", "We are open from 9:00 to 18:00."), passage("Opening hours in winter", "On Wednesdays it is closed.")}
	require.Contains(t, ask(apart, "are you open tomorrow?"), answer.Say("en", "no"))
}

// What holds every week is no promise for a holiday.
func TestHolidaysNeedNotBeAsEveryWeek(t *testing.T) {
	ask := func(text string, more string) string {
		p := pack{passage("Opening hours", "The museum opens at nine every day and closes at six. "+more)}
		said, _ := answered(t, builtinBrain(p), Question{Text: text, Language: "en", Now: time.Date(2026, 11, 17, 10, 30, 0, 0, time.UTC)})
		return said
	}
	yes := answer.Say("en", "yes")
	for _, question := range []string{"Is it open on Christmas?", "Are you open on public holidays?"} {
		text := ask(question, "Holidays can change the hours: look at the website.")
		require.False(t, strings.HasPrefix(text, yes), "%s %s", question, text)
		require.Contains(t, text, "Holidays can change", question)
	}
	require.True(t, strings.HasPrefix(ask("Are you open on Friday?", ""), yes))
	require.True(t, strings.HasPrefix(ask("Is it open on Christmas?", "We are open on 25 December."), yes))
}

// Who asks when it closes is told the hours, and not what is said of closing.
func TestHoursGoBeforeWhatIsSaidOfThem(t *testing.T) {
	p := pack{passage("Your visit", "The last admission is usually some time before closing, so come early enough."),
		passage("Opening hours", "The museum opens at nine and closes at six in the evening.")}
	for _, question := range []string{"When do you close?", "what time do you close"} {
		text, gap := answered(t, builtinBrain(p), Question{Text: question, Language: "en"})
		require.False(t, gap, question)
		require.Contains(t, text, "at six", question)
	}
	text, _ := answered(t, builtinBrain(p), Question{Text: "When is the last admission?", Language: "en"})
	require.Contains(t, text, "last admission")
}
