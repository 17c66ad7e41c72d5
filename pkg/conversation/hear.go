package conversation

import (
	"visavis.dev/pkg/answer"
)

// intents are what the acts of talk want.
var intents = map[answer.Act]intent{
	answer.Greeting: sayGreeting, answer.Thanks: sayThanks, answer.Wellness: askWellness, answer.Disclosure: askWho, answer.Repeat: askRepeat,
	answer.Goodbye: sayGoodbye, answer.Person: askPerson, answer.Yes: sayYes, answer.No: sayNo, answer.Okay: sayOkay, answer.Ability: askAbility,
	answer.Insult: sayInsult, answer.Injection: sayInjection, answer.Nonsense: sayNonsense,
}

// heardIntent reads an utterance, and tells the language that it was understood in.
func heardIntent(language, utterance string) (means intent, in string) {
	heard := answer.Hear(language, utterance)
	if means, ok := intents[heard.Act]; ok {
		return means, spokenIn(language, heard.Language)
	}
	if heard.Act == answer.None && !understood(language) {
		return intentOf(language, utterance), language
	}
	return question, language
}

// understood says whether there is a file of talk in a language.
func understood(language string) bool {
	return phrases[base(language)] != nil && answer.Understands(language)
}

// spokenIn is the conversation's language where it is the one that was understood, with
// its region, and else that.
func spokenIn(language, heard string) string {
	if base(language) == heard || phrases[heard] == nil {
		return language
	}
	return heard
}
