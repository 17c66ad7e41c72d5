package conversation

// Act is what an answer does in a conversation. It is stated where the answer is
// made, so that nobody has to read it out of the words.
type Act string

// The acts. What the avatar says unasked, such as its greeting or the prompt of a
// goal, has none.
const (
	// ActAnswer states what the packs or a model know, or the clock shows.
	ActAnswer Act = "answer"
	// ActUnknown says that it is not known, and states nothing else as an answer.
	ActUnknown Act = "unknown"
	// ActClarify asks the visitor to say it again or otherwise.
	ActClarify Act = "clarify"
	// ActRepeat says again what was said before.
	ActRepeat Act = "repeat"
	// ActGreeting, ActThanks, ActWellness and ActGoodbye return a courtesy.
	ActGreeting Act = "greeting"
	ActThanks   Act = "thanks"
	ActWellness Act = "wellness"
	ActGoodbye  Act = "goodbye"
	// ActDisclosure says who or what is speaking, and that it is an AI; before that what is kept of
	// the conversation, where that was asked.
	ActDisclosure Act = "disclosure"
	// ActHandoff asks a person to join, or says how one is reached.
	ActHandoff Act = "handoff"
	// ActAbility says what can be asked, and in which languages.
	ActAbility Act = "ability"
	// ActAcknowledge takes note of what was said, and leaves the floor.
	ActAcknowledge Act = "acknowledge"
	// ActRefusal keeps to a guardrail, or to what the avatar is there for.
	ActRefusal Act = "refusal"
)

// actsOf are the acts that reply to an intent.
var actsOf = map[intent]Act{
	sayGreeting: ActGreeting, sayThanks: ActThanks, askWellness: ActWellness, askWho: ActDisclosure, askRepeat: ActRepeat, askSure: ActRepeat,
	sayGoodbye: ActGoodbye, askPerson: ActHandoff, sayYes: ActClarify, sayNo: ActClarify, sayOkay: ActAcknowledge, askAbility: ActAbility,
	askKept: ActDisclosure, sayInsult: ActAcknowledge, sayInjection: ActRefusal, sayNonsense: ActClarify, askClock: ActAnswer,
}

// with is the act of an answer so far and its next piece: one that states something
// is an answer, whatever else it does not know.
func (a Act) with(p Piece) Act {
	switch {
	case p.Act != "" && a != ActAnswer:
		return p.Act
	case a != "" && (p.Gap || p.Text == ""):
		return a
	case p.Gap:
		return ActUnknown
	case p.Text == "":
		return a
	default:
		return ActAnswer
	}
}

// act is what an answer does that keeps to the rule.
func (g *guardrail) act() Act {
	if g.action == actHandoff {
		return ActHandoff
	}
	return ActRefusal
}
