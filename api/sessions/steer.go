package sessions

import (
	"context"
	"net/http"
	"slices"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/admission"
)

// SteerInput is the request for a change of a session.
type SteerInput struct {
	Path
	Body SessionChange
}

// SessionChange is what to change of a live session.
type SessionChange struct {
	Context      route.Opt[string]            `json:"context,omitzero" maxLength:"8000" doc:"Appended to what is known."`
	Instructions route.Opt[string]            `json:"instructions,omitzero" maxLength:"20000" doc:"Replace the persona's."`
	Language     route.Opt[string]            `json:"language,omitzero" maxLength:"40" doc:"The language to go on in, as a code or a name."`
	VoiceID      route.Opt[string]            `json:"voiceId,omitzero" maxLength:"80" doc:"Another voice to go on with, of the same engine."`
	Listening    route.Opt[bool]              `json:"listening,omitzero" doc:"Whether the avatar answers what it hears."`
	Mute         route.Opt[bool]              `json:"mute,omitzero" doc:"Whether the avatar is silent."`
	Interrupt    route.Opt[bool]              `json:"interrupt,omitzero" doc:"true breaks off what is being said."`
	Goal         route.Opt[string]            `json:"goal,omitzero" maxLength:"40" doc:"The key of the goal to go for next."`
	Variables    route.Opt[map[string]string] `json:"variables,omitzero" doc:"Values that stand for {{name}} in the persona's texts from now on, all of them anew."`
	MaxDurationS route.Opt[int64]             `json:"maxDurationS,omitzero" minimum:"30" maximum:"7200" doc:"How long the session may last from its beginning, in seconds."`
	Metadata     route.Opt[map[string]string] `json:"metadata,omitzero" doc:"Your own notes on it, all of them anew."`
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
	as, err := b.check()
	if err != nil {
		return Session{}, err
	}
	var ordered id.Turn
	changed, err := route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (session.Session, error) {
		if b.live() {
			ordered = id.NewTurn()
			return b.apply(ctx, c, tx, found.ID, ordered, as)
		}
		s, err := session.Lock(ctx, tx, found.ID)
		if err != nil {
			return s, asProblem(err)
		}
		return session.Steer(ctx, tx, s, session.Steered{Metadata: b.Metadata.Value})
	})
	if err != nil {
		return Session{}, err
	}
	if !ordered.IsZero() && !a.obeyed(ctx, c, found.ID, ordered) {
		c.AnswerWith(http.StatusAccepted)
	}
	return a.shown(ctx, c, changed)
}

const (
	// obeyWithin is how long a conversation may take to go by a change before the answer
	// says that it does not yet, and obeyLook how often it is looked.
	obeyWithin = time.Second
	obeyLook   = 25 * time.Millisecond
)

// obeyed waits until the conversation goes by a change, but not for long.
func (a *API) obeyed(ctx context.Context, c *route.Call, which id.Session, ordered id.Turn) bool {
	ctx, cancel := context.WithTimeout(ctx, obeyWithin)
	defer cancel()
	look := time.NewTicker(obeyLook)
	defer look.Stop()
	for {
		select {
		case <-look.C:
		case <-ctx.Done():
			return false
		}
		if done, err := session.Obeyed(ctx, a.Tenants, c.Org(), which, ordered); err == nil && done {
			return true
		}
	}
}

// check checks what can be checked without the database. It answers the voice
// and the language that are asked for.
func (b SessionChange) check() (as speech, err error) {
	if err := checkMaps(SessionInput{Variables: b.Variables.Value, Metadata: b.Metadata.Value}); err != nil {
		return as, err
	}
	if as.language, err = languageOf(b.Language.Value); err != nil {
		return as, err
	}
	as.voice, err = parse(id.ParseVoice, "voiceId", "voice", b.VoiceID.Value)
	return as, err
}

// speech is how a session goes on speaking; what is zero stays as it is.
type speech struct {
	voice    id.Voice
	language string
}

// apply changes what is kept of a live session and tells its process.
func (b SessionChange) apply(ctx context.Context, c *route.Call, tx *tenant.Tx, which id.Session, ordered id.Turn, as speech) (session.Session, error) {
	s, err := lockLive(ctx, tx, which)
	if err != nil {
		return s, err
	}
	if err := b.allowed(ctx, c, tx, s); err != nil {
		return s, err
	}
	command := session.Command{
		ID: ordered, Kind: session.SteerIt, Language: as.language, Context: b.Context.Ptr(), Instructions: b.Instructions.Ptr(),
		Listening: b.Listening.Ptr(), Mute: b.Mute.Ptr(), Interrupt: b.Interrupt.Value, Goal: b.Goal.Ptr(), Variables: b.Variables.Value,
		MaxDurationS: b.MaxDurationS.Ptr(),
	}
	kept := session.Steered{
		Metadata: b.Metadata.Value, MaxDurationS: b.MaxDurationS.Ptr(),
		Context: b.Context.Ptr(), Instructions: b.Instructions.Ptr(), Variables: b.Variables.Value,
		Listening: b.Listening.Ptr(), Mute: b.Mute.Ptr(), Goal: b.Goal.Ptr(),
	}
	if as.language != "" || !as.voice.IsZero() {
		if err := admission.Speak(ctx, tx, &s, as.voice, as.language); err != nil {
			return s, inBody(err)
		}
		kept.Language, kept.Voice, kept.Engine = &s.Language, &s.Voice, &s.Engine
	}
	if !as.voice.IsZero() {
		command.Voice = &s.Voice
	}
	changed, err := session.Steer(ctx, tx, s, kept)
	if err != nil {
		return s, err
	}
	return changed, session.Order(ctx, tx, s, command)
}

// allowed refuses a goal that the session does not have, and more time than the
// plan, the persona, a sandbox, the portal or the settings of its place have.
func (b SessionChange) allowed(ctx context.Context, c *route.Call, tx *tenant.Tx, s session.Session) error {
	if !b.Goal.Set && !b.MaxDurationS.Set {
		return nil
	}
	v, err := persona.FindVersion(ctx, tx, s.Persona, s.PersonaVersion)
	if err != nil {
		return err
	}
	d := v.Definition
	if b.Goal.Set && !slices.ContainsFunc(s.Brief.Pursue(d.Goals), func(g persona.Goal) bool { return g.Key == b.Goal.Value }) {
		return problem.Invalid("body.goal", "The session has no goal %q.", b.Goal.Value)
	}
	if !b.MaxDurationS.Set {
		return nil
	}
	bound, err := admission.LongestOf(ctx, tx, c.Principal.Terms, d, s)
	if err != nil {
		return err
	}
	if b.MaxDurationS.Value > bound {
		return problem.Invalid("body.maxDurationS", "This session can last %d seconds at most.", bound)
	}
	return nil
}
