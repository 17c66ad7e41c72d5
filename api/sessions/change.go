package sessions

import (
	"context"
	"net/http"
	"time"
	"unicode/utf8"

	"visavis.dev/api/route"
	"visavis.dev/pkg/activity"
	"visavis.dev/pkg/id"
	"visavis.dev/pkg/language"
	"visavis.dev/pkg/plan"
	"visavis.dev/pkg/problem"
	"visavis.dev/pkg/session"
	"visavis.dev/pkg/tenant"
)

func (a *API) registerChange(s *route.Service, write route.Operation) {
	steer := write
	steer.ID, steer.Method, steer.Path = "updateSession", http.MethodPatch, "/sessions/{id}"
	steer.Errors = []problem.Code{problem.SessionEnded, problem.Conflict}
	steer.Summary = "Steer a live session"
	steer.Description = "context is appended to what is known, instructions replace the persona's for this conversation. " +
		"metadata can be changed at any time; everything else needs a session that is live."
	route.Handle(s, steer, a.steer)

	remove := write
	remove.ID, remove.Method, remove.Path = "deleteSession", http.MethodDelete, "/sessions/{id}"
	remove.Summary = "End a session, as POST /sessions/{id}/end does"
	route.Handle(s, remove, func(ctx context.Context, c *route.Call, p *Path) (Session, error) {
		return a.end(ctx, c, &EndInput{Path: *p})
	})

	end := write
	end.ID, end.Path, end.Summary = "endSession", "/sessions/{id}/end", "End a session, which stops billing"
	end.Description = "Of a session that has ended before, the answer is the session as it is."
	route.Handle(s, end, a.end)

	say := write
	say.ID, say.Path, say.Status, say.Idempotent = "saySession", "/sessions/{id}/say", http.StatusAccepted, true
	say.Errors = []problem.Code{problem.SessionEnded, problem.Conflict}
	say.Summary = "Make the avatar speak exact text now"
	route.Handle(s, say, a.say)

	respond := write
	respond.ID, respond.Path, respond.Status, respond.Idempotent = "respondSession", "/sessions/{id}/respond", http.StatusAccepted, true
	respond.Since, respond.Errors = since2026, []problem.Code{problem.SessionEnded, problem.Conflict}
	respond.Summary = "Answer a text as if the user had said it"
	route.Handle(s, respond, a.respond)
}

// EndInput is the request for an end.
type EndInput struct {
	Path
	Body *SessionEnding
}

// SessionEnding says how a session ends.
type SessionEnding struct {
	Reason  string `json:"reason,omitempty" maxLength:"200" doc:"For the activity log."`
	Message string `json:"message,omitempty" maxLength:"500" doc:"Said first."`
}

// end ends a session. One with a last message ends when that was said, or after
// a while in any case.
func (a *API) end(ctx context.Context, c *route.Call, in *EndInput) (Session, error) {
	found, err := a.find(ctx, c, in.Path)
	if err != nil {
		return Session{}, err
	}
	body := SessionEnding{}
	if in.Body != nil {
		body = *in.Body
	}
	if body.Message != "" && found.State == session.Live {
		if err := a.finish(ctx, c, found.ID, body.Message); err != nil {
			return Session{}, err
		}
	}
	ended, err := route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (session.Session, error) {
		before, err := session.Lock(ctx, tx, found.ID)
		if err != nil || before.State.Over() {
			return before, asProblem(err)
		}
		if err := activity.Record(ctx, tx, c.Did("session.ended", "session", found.ID.String(), map[string]any{"reason": body.Reason})); err != nil {
			return before, err
		}
		return session.End(ctx, tx, found.ID, session.Ending{Reason: session.EndedByAPI, At: c.Now()})
	})
	if err != nil {
		return Session{}, err
	}
	return a.shown(ctx, c, ended)
}

const (
	// finishWithin is how long a last message may take to be said.
	finishWithin = 12 * time.Second
	finishLook   = 100 * time.Millisecond
)

// finish has a last message said and waits until the session has ended by it.
func (a *API) finish(ctx context.Context, c *route.Call, which id.Session, message string) error {
	ordered := false
	if err := a.Tenants.InTx(ctx, c.Org(), func(ctx context.Context, tx *tenant.Tx) error {
		s, err := session.Lock(ctx, tx, which)
		if ordered = err == nil && s.State == session.Live; !ordered {
			return err
		}
		return session.Order(ctx, tx, s, session.Command{ID: id.NewTurn(), Kind: session.Finish, Text: message, Reason: session.EndedByAPI})
	}); err != nil || !ordered {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, finishWithin)
	defer cancel()
	look := time.NewTicker(finishLook)
	defer look.Stop()
	for {
		s, err := session.Get(ctx, a.Tenants, c.Org(), which)
		if err == nil && s.State.Over() || ctx.Err() != nil {
			return nil
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// SayInput is the request to say something.
type SayInput struct {
	Path
	Body SessionWords
}

// SessionWords are exact words for the avatar.
type SessionWords struct {
	Text          string `json:"text" minLength:"1" maxLength:"2000"`
	Interrupt     *bool  `json:"interrupt,omitempty" doc:"Whether what is being said is broken off; true unless given."`
	Interruptible *bool  `json:"interruptible,omitempty" doc:"Whether the user can break it off; true unless given."`
	Language      string `json:"language,omitempty" maxLength:"40" doc:"A code or a name; the session's unless given."`
	Record        *bool  `json:"record,omitempty" doc:"Whether the words are kept in the transcript; true unless given."`
}

// SessionOrder is something that a session will do.
type SessionOrder struct {
	TurnID     id.Turn `json:"turnId"`
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
	Text string `json:"text" minLength:"1" maxLength:"2000"`
}

func (a *API) respond(ctx context.Context, c *route.Call, in *RespondInput) (SessionOrder, error) {
	return a.order(ctx, c, in.Path, session.Command{ID: id.NewTurn(), Kind: session.RespondTo, Text: in.Body.Text, Interrupt: true})
}

// yes is a switch that is on unless it was set off.
func yes(b *bool) bool { return b == nil || *b }

func languageOf(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	l, ok := language.Lookup(text)
	if !ok {
		return "", problem.Invalid("body.language", "There is no language %q; GET /languages lists them.", text)
	}
	return l.Code, nil
}

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

// SteerInput is the request for a change of a session.
type SteerInput struct {
	Path
	Body SessionChange
}

// SessionChange is what to change of a live session.
type SessionChange struct {
	Context      route.Opt[string]            `json:"context,omitzero" maxLength:"8000" doc:"Appended to what is known."`
	Instructions route.Opt[string]            `json:"instructions,omitzero" maxLength:"20000" doc:"Replace the persona's."`
	Language     route.Opt[string]            `json:"language,omitzero" maxLength:"40"`
	VoiceID      route.Opt[string]            `json:"voiceId,omitzero" maxLength:"80"`
	Listening    route.Opt[bool]              `json:"listening,omitzero" doc:"Whether the avatar answers what it hears."`
	Mute         route.Opt[bool]              `json:"mute,omitzero" doc:"Whether the avatar is silent."`
	Interrupt    route.Opt[bool]              `json:"interrupt,omitzero" doc:"true breaks off what is being said."`
	Goal         route.Opt[string]            `json:"goal,omitzero" maxLength:"40" doc:"The key of the goal to go for next."`
	Variables    route.Opt[map[string]string] `json:"variables,omitzero"`
	MaxDurationS route.Opt[int64]             `json:"maxDurationS,omitzero" minimum:"30" maximum:"7200"`
	Metadata     route.Opt[map[string]string] `json:"metadata,omitzero"`
}

// live says whether the change is one of the conversation.
func (b SessionChange) live() bool {
	return b.Context.Set || b.Instructions.Set || b.Language.Set || b.VoiceID.Set || b.Listening.Set || b.Mute.Set ||
		b.Interrupt.Set || b.Goal.Set || b.Variables.Set || b.MaxDurationS.Set
}

func (a *API) steer(ctx context.Context, c *route.Call, in *SteerInput) (Session, error) {
	found, err := a.find(ctx, c, in.Path)
	if err != nil {
		return Session{}, err
	}
	b := in.Body
	if err := checkMaps(SessionInput{Variables: b.Variables.Value, Metadata: b.Metadata.Value}); err != nil {
		return Session{}, err
	}
	code, err := languageOf(b.Language.Value)
	if err != nil {
		return Session{}, err
	}
	r := request{language: code}
	if r.voice, err = parse(id.ParseVoice, "voiceId", "voice", b.VoiceID.Value); err != nil {
		return Session{}, err
	}
	changed, err := route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (session.Session, error) {
		if !b.live() {
			s, err := session.Lock(ctx, tx, found.ID)
			if err != nil {
				return s, asProblem(err)
			}
			return session.Steer(ctx, tx, s, session.Steered{Metadata: b.Metadata.Value})
		}
		s, err := lockLive(ctx, tx, found.ID)
		if err != nil {
			return s, err
		}
		return a.apply(ctx, c, tx, s, b, r)
	})
	if err != nil {
		return Session{}, err
	}
	return a.shown(ctx, c, changed)
}

// apply changes what is kept of the session and tells its process.
func (a *API) apply(ctx context.Context, c *route.Call, tx *tenant.Tx, s session.Session, b SessionChange, r request) (session.Session, error) {
	if err := speak(ctx, tx, &s, r); err != nil {
		return s, err
	}
	kept := session.Steered{
		Metadata: b.Metadata.Value, Language: &s.Language, Voice: &s.Voice,
		Context: b.Context.Ptr(), Instructions: b.Instructions.Ptr(), Variables: b.Variables.Value,
	}
	if b.MaxDurationS.Set {
		if limit, limited := c.Principal.Terms.Limit(plan.MaxSessionS); limited && b.MaxDurationS.Value > limit {
			return s, problem.Invalid("body.maxDurationS", "The plan allows sessions of at most %d seconds.", limit)
		}
		if s.Sandbox && b.MaxDurationS.Value > session.SandboxS {
			return s, problem.Invalid("body.maxDurationS", "A sandbox session lasts at most %d seconds.", session.SandboxS)
		}
		kept.MaxDurationS = b.MaxDurationS.Ptr()
	}
	changed, err := session.Steer(ctx, tx, s, kept)
	if err != nil {
		return s, err
	}
	return changed, session.Order(ctx, tx, s, session.Command{
		ID: id.NewTurn(), Kind: session.SteerIt, Language: r.language, Context: b.Context.Ptr(), Instructions: b.Instructions.Ptr(),
		Listening: b.Listening.Ptr(), Mute: b.Mute.Ptr(), Interrupt: b.Interrupt.Value, Goal: b.Goal.Ptr(), Variables: b.Variables.Value,
		MaxDurationS: b.MaxDurationS.Ptr(),
	})
}
