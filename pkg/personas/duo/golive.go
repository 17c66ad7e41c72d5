package duo

import (
	"context"
	"fmt"
	"slices"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/face"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/store/tenant"
)

// Problem is something that keeps a duo from going live.
type Problem struct {
	// Field names what to change: hosts[0].avatarId.
	Field   string `json:"field" doc:"What to change, as a path: hosts[0].avatarId."`
	Message string `json:"message" doc:"What to do, in plain English."`
}

// State is what going live depends on.
type State struct {
	Duo   Duo
	Hosts []HostState
	// Persona says that the duo's persona is there.
	Persona bool
}

// HostState is what is known of a host.
type HostState struct {
	// Deleted and Withdrawn are the face's.
	Deleted, Withdrawn bool
	// Face is how far the face is.
	Face face.State
	// Voice is nil when it is gone.
	Voice *voice.Voice
}

// rules say what keeps a duo from going live, each on its own.
var rules = []func(State) []Problem{facesAreThere, facesAreConsented, facesAreReady, voicesSpeak, personaIsThere}

// Problems lists all that keeps a duo from going live.
func (s State) Problems() []Problem {
	problems := []Problem{}
	for _, rule := range rules {
		problems = append(problems, rule(s)...)
	}
	return problems
}

// each makes the problems of the hosts that have one.
func (s State) each(field string, message func(HostState) string) []Problem {
	var problems []Problem
	for i, h := range s.Hosts {
		if m := message(h); m != "" {
			problems = append(problems, Problem{fmt.Sprintf("hosts[%d].%s", i, field), m})
		}
	}
	return problems
}

func facesAreThere(s State) []Problem {
	return s.each("avatarId", func(h HostState) string {
		if h.Deleted {
			return "The avatar was deleted."
		}
		return ""
	})
}

func facesAreConsented(s State) []Problem {
	return s.each("avatarId", func(h HostState) string {
		if h.Withdrawn {
			return "The consent that the avatar rests on was withdrawn."
		}
		return ""
	})
}

func facesAreReady(s State) []Problem {
	return s.each("avatarId", func(h HostState) string {
		switch {
		case h.Deleted || h.Withdrawn:
			return "" // then that is the problem
		case h.Face == face.Preparing:
			return "The face is still being prepared, which takes about a minute."
		case h.Face == face.Failed:
			return "The face could not be prepared. Choose another one, or the same one again."
		}
		return ""
	})
}

func voicesSpeak(s State) []Problem {
	var problems []Problem
	for i, h := range s.Hosts {
		field := fmt.Sprintf("hosts[%d].voiceId", i)
		if h.Voice == nil {
			problems = append(problems, Problem{field, "The voice is gone."})
			continue
		}
		switch h.Voice.Status() {
		case voice.Ready:
		case voice.Withdrawn:
			problems = append(problems, Problem{field, "Consent to the voice was withdrawn. Choose another one."})
		default:
			problems = append(problems, Problem{field, "The voice is not ready."})
		}
		for _, code := range s.Duo.Languages {
			if !slices.Contains(h.Voice.Languages, code) {
				found, _ := language.Lookup(code)
				problems = append(problems, Problem{field, fmt.Sprintf("The voice %s does not speak %s.", h.Voice.Name, found.Name)})
			}
		}
	}
	return problems
}

func personaIsThere(s State) []Problem {
	if s.Persona {
		return nil
	}
	return []Problem{{"personaId", "The duo's persona is gone."}}
}

// Check gathers what going live depends on.
func Check(ctx context.Context, tx *tenant.Tx, l *avatar.Library, d Duo) (State, error) {
	s := State{Duo: d, Hosts: make([]HostState, len(d.Hosts))}
	for i, host := range d.Hosts {
		if err := s.Hosts[i].read(ctx, tx, l, host); err != nil {
			return s, err
		}
	}
	_, err := persona.Find(ctx, tx, d.Persona)
	s.Persona = err == nil
	if errdefs.IsAbsent(err, persona.Noun) {
		err = nil
	}
	return s, err
}

func (h *HostState) read(ctx context.Context, tx *tenant.Tx, l *avatar.Library, host persona.Host) error {
	a, err := avatar.Find(ctx, tx, l, host.Avatar)
	switch {
	case errdefs.IsAbsent(err, avatar.Noun):
		h.Deleted = true
	case err != nil:
		return err
	default:
		h.Withdrawn = a.Status() == avatar.Withdrawn
		if h.Face, err = face.StateOf(ctx, tx, a); err != nil {
			return err
		}
	}
	v, err := voice.Find(ctx, tx, host.Voice)
	if errdefs.IsAbsent(err, voice.Noun) {
		return nil
	}
	h.Voice = &v
	return err
}
