package conversation

import (
	"context"
	"iter"
	"time"

	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/text/search"
)

// Question is what a brain is asked.
type Question struct {
	Text, Language string
	// Previous is what the user asked before, which pronouns point at.
	Previous string
	// History are the last turns, oldest first, without the question.
	History []session.Turn
	// Now is when it is asked, by the clocks of the organization.
	Now time.Time
	// Brief is how a model is told to behave; the built-in brain has no use for it.
	Brief Brief
	// offers are the tools that a model may ask for, uses those that were used before, and
	// resumed is one that it asked for before and that the visitor has now allowed.
	offers  []*offer
	uses    []string
	resumed *toolCall
	// danger says that somebody is in danger, who needs to know whom to call.
	danger bool
	// leaning says that it is to be understood from the one before, whatever it says.
	leaning bool
	// explain gathers why it is answered so; nil where nobody asked.
	explain *Explanation
	// synonyms are the organization's own; nil for none.
	synonyms *search.Synonyms
}

// Brief is what the persona and the session tell a model.
type Brief struct {
	Instructions, Context string
	Memories              []string
	// Goals are what is to be found out, each with what is known of it.
	Goals []string
}

// Piece is the next part of an answer: whole sentences and what is known of
// them. The last piece may have no text.
type Piece struct {
	Text    string
	Sources []Source
	// Grounded is nil where there is nothing to rest on.
	Grounded *bool
	// Gap says that the packs do not answer the question.
	Gap bool
	// Act is what the piece does; empty for what follows from the rest of it.
	Act Act
	// host is who of a duo says it, once that is known; asks says that it asks a question of the avatar's own.
	host *persona.Host
	asks bool
	// quoted says that the text is a document's word for word, after the engine's own lead.
	quoted bool
	lead   string
	// withheld is a sentence that is not said, but that guardrails hear. The piece holds
	// nothing else.
	withheld string
	// person says that a person is to be asked for. The piece holds nothing else.
	person bool
	// call is a tool to be used, and gaveUp one whose result is not waited for any more. The
	// piece holds nothing else.
	call, gaveUp *toolCall
	// Retrieval and ModelFirst are how long the passages and the model's first
	// word took; negative where there was no such stage.
	Retrieval, ModelFirst time.Duration
}

// groundedWith is whether an answer so far and its next piece rest on the packs: all that
// states something does. That something is not known states nothing.
func groundedWith(have *bool, p Piece) *bool {
	switch {
	case p.Grounded == nil, have != nil && p.Gap:
		return have
	case have == nil:
		return p.Grounded
	default:
		return new(*have && *p.Grounded)
	}
}

// Stream is an answer, piece by piece. It may end by an error, after which what
// was said stands.
type Stream = iter.Seq2[Piece, error]

// Brain finds answers.
type Brain interface {
	Answer(ctx context.Context, q Question) Stream
}

// untold is a stage that did not happen.
const untold = time.Duration(-1)
