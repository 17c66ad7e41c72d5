package sessions

import (
	"context"
	"unicode/utf8"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/admission"
)

// SayInput is the request to say something.
type SayInput struct {
	Path
	Body SessionWords
}

// SessionWords are exact words for the avatar.
type SessionWords struct {
	Text          string `json:"text" minLength:"1" maxLength:"2000" doc:"What to say, word for word."`
	Interrupt     *bool  `json:"interrupt,omitempty" doc:"Whether what is being said is broken off; true unless given."`
	Interruptible *bool  `json:"interruptible,omitempty" doc:"Whether the user can break it off; true unless given."`
	Language      string `json:"language,omitempty" maxLength:"40" doc:"A code or a name; the session's unless given."`
	Record        *bool  `json:"record,omitempty" doc:"Whether the words are kept in the transcript; true unless given."`
}

// SessionOrder is something that a session will do.
type SessionOrder struct {
	TurnID     id.Turn `json:"turnId" doc:"The turn that comes of it, as the transcript names it."`
	Queued     bool    `json:"queued" doc:"It waits for what is being said."`
	EstimatedS int64   `json:"estimatedS" doc:"About how long it takes to say."`
}

func (a *API) say(ctx context.Context, c *route.Call, in *SayInput) (SessionOrder, error) {
	b := in.Body
	code, err := languageOf(b.Language)
	if err != nil {
		return SessionOrder{}, err
	}
	command := session.Command{
		ID: id.NewTurn(), Kind: session.SayIt, Text: b.Text, Language: code,
		Interrupt: yes(b.Interrupt), Interruptible: yes(b.Interruptible), Record: yes(b.Record),
	}
	return a.order(ctx, c, in.Path, command)
}

// RespondInput is the request to answer something.
type RespondInput struct {
	Path
	Body SessionQuestion
}

// SessionQuestion is what the avatar is to answer.
type SessionQuestion struct {
	Text string `json:"text" minLength:"1" maxLength:"2000" doc:"What to answer, as if the user had said it."`
}

func (a *API) respond(ctx context.Context, c *route.Call, in *RespondInput) (SessionOrder, error) {
	return a.order(ctx, c, in.Path, session.Command{ID: id.NewTurn(), Kind: session.RespondTo, Text: in.Body.Text, Interrupt: true})
}

// yes is a switch that is on unless it was set off.
func yes(b *bool) bool { return b == nil || *b }

// charactersPerS is about how fast an avatar speaks.
const charactersPerS = 14

// order hands a command to the process that runs the session.
func (a *API) order(ctx context.Context, c *route.Call, p Path, command session.Command) (SessionOrder, error) {
	found, err := a.find(ctx, c, p)
	if err != nil {
		return SessionOrder{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (SessionOrder, error) {
		s, err := lockLive(ctx, tx, found.ID)
		if err != nil {
			return SessionOrder{}, err
		}
		if command.Language != "" && command.Language != s.Language {
			said := s
			if err := admission.Speak(ctx, tx, &said, id.Voice{}, command.Language); err != nil {
				return SessionOrder{}, inBody(err)
			}
		}
		length := int64(utf8.RuneCountInString(command.Text))
		return SessionOrder{
			TurnID: command.ID, Queued: !command.Interrupt, EstimatedS: (length + charactersPerS - 1) / charactersPerS,
		}, session.Order(ctx, tx, s, command)
	})
}

// lockLive finds a session that is live and keeps it so until the commit.
func lockLive(ctx context.Context, tx *tenant.Tx, which id.Session) (session.Session, error) {
	s, err := session.Lock(ctx, tx, which)
	switch {
	case err != nil:
		return s, asProblem(err)
	case s.State.Over():
		return s, asProblem(session.ErrOver)
	case s.State != session.Live:
		return s, problem.Conflicting("not_live", "No client has connected to the session yet.").WithParam("path.id")
	}
	return s, nil
}
