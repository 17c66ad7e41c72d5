package conversation

import (
	"visavis.dev/pkg/text/answer"
)

// intents are what the acts of talk want.
var intents = map[answer.Act]intent{
	answer.Greeting: sayGreeting, answer.Thanks: sayThanks, answer.Wellness: askWellness, answer.Disclosure: askWho, answer.Repeat: askRepeat,
	answer.Goodbye: sayGoodbye, answer.Person: askPerson, answer.Yes: sayYes, answer.No: sayNo, answer.Okay: sayOkay, answer.Ability: askAbility,
	answer.Insult: sayInsult, answer.Injection: sayInjection, answer.Nonsense: sayNonsense,
	answer.Clock: askClock, answer.LanguageChoice: askLanguages,
}

// heardIntent reads an utterance, in whichever language it is.
func heardIntent(language, utterance string) intent {
	heard := answer.Hear(language, utterance)
	switch heard.Act {
	case answer.None, answer.Disclosure, answer.Ability:
		if answer.AsksKept(language, utterance) {
			return askKept
		}
	}
	switch heard.Act {
	case answer.Disclosure, answer.Person, answer.Emergency:
	default:
		if answer.AsksSure(language, utterance) {
			return askSure
		}
	}
	if means, ok := intents[heard.Act]; ok {
		return means
	}
	if heard.Act == answer.None && !understood(language) {
		return intentOf(language, utterance)
	}
	return question
}

// understood says whether there is a file of talk in a language.
func understood(language string) bool {
	return phrases[base(language)] != nil && answer.Understands(language)
}
