package conversation

import (
	"slices"

	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/text/answer"
	"visavis.dev/pkg/text/search"
)

// lastTold is how many of the user's turns an age is remembered for.
const lastTold = 3

// ageOf is the age that a question is about, -1 for none: its own, or that of whom the user told of
// before, where it speaks of them: "what does she pay?". Who asks about themselves, or names others, has
// none of theirs.
func ageOf(q Question, language string) int {
	age := answer.AskedAge(language, q.Text)
	switch {
	case age >= 0:
		return age
	case namesPeople(language, q.Text), answer.OfSelf(language, q.Text):
		return -1
	case continues(q) && mayAsk(q):
		return answer.AskedAge(reading(q.Language, q.Previous), q.Previous) // "and the pool?"
	case !answer.OfThird(language, q.Text):
		return -1
	}
	left := lastTold
	for _, turn := range slices.Backward(q.History) {
		if turn.Speaker != session.User {
			continue
		}
		if age = answer.AskedAge(reading(q.Language, turn.Text), turn.Text); age >= 0 && !answer.TellsOwnAge(turn.Text) {
			return age
		}
		if left--; left == 0 {
			return -1
		}
	}
	if answer.TellsOwnAge(q.Previous) {
		return -1
	}
	return answer.AskedAge(reading(q.Language, q.Previous), q.Previous) // a part of what was asked at once
}

// namesPeople says whether a text names people, who are others than those before.
func namesPeople(language, text string) bool {
	return slices.ContainsFunc(search.Meanings(language, text), func(m search.Meaning) bool { return answer.OfPersons(m.Concepts) })
}

// mayAsk says whether the question before asked whether somebody may do something.
func mayAsk(q Question) bool {
	kind := answer.KindOf(reading(q.Language, q.Previous), q.Previous)
	return kind == answer.May || kind == answer.YesNo
}

// payAlone drops the matter of the question before from one that asks what somebody pays of whom it
// told: "what does she pay?", after "may she swim alone?".
func (i *inquiry) payAlone() {
	if i.age < 0 || i.kind != answer.Price || answer.AskedAge(i.language, i.Text) >= 0 || slices.ContainsFunc(i.units, func(u wanted) bool {
		return !u.carried && !u.light && !i.kind.Satisfied(u.concepts) && !answer.OfPeople(u.concepts)
	}) {
		return
	}
	i.units = slices.DeleteFunc(i.units, func(u wanted) bool { return u.carried && !answer.OfPeople(u.concepts) })
}
