package minds

import (
	"context"
	"errors"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/speech/speaker"
)

// maxSpeaking is how many speech connections of an organization are looked at for one that
// speaks for a voice.
const maxSpeaking = 100

// Speaker is what speaks with a voice of an organization: the connection that the voice was
// cloned by, the oldest that speaks for a studio voice and is not switched off, or else what is
// built in, which may be nil. live says that somebody waits for the sound.
func (m *Minds) Speaker(ctx context.Context, org id.Org, v voice.Voice, builtin speaker.Speaker, live bool) (speaker.Speaker, error) {
	which, name, err := m.speaks(ctx, org, v)
	if err != nil || name == "" {
		return builtin, err
	}
	opened, err := m.Connections.Open(ctx, org, which)
	if errdefs.IsAbsent(err, connection.Noun) || errors.Is(err, connection.ErrDisabled) {
		return builtin, nil
	}
	if err != nil {
		return nil, err
	}
	breaker := m.Breaker(&opened)
	if opened.Fallback == connection.FallbackFail {
		breaker = nil // nobody speaks in its place: it is asked every time
	}
	return opened.Speaker(m.options.Egress, connection.Speaking{
		Voice: name, Builtin: builtin, Live: live, Calls: m.Calls(org, opened.ID, breaker, "speech"), Clock: m.options.Clock,
	}), nil
}

// speaks is the connection that speaks with a voice, and the voice's name there; empty for
// none. A voice that was deleted, or whose consent was withdrawn, is not heard from it any
// more.
func (m *Minds) speaks(ctx context.Context, org id.Org, v voice.Voice) (which id.Connection, name string, err error) {
	if v.Kind == voice.Custom {
		if v.Status() != voice.Ready || v.DeletedAt != nil {
			return which, "", nil
		}
		return v.Connection, v.ServiceVoice, nil
	}
	if v.Kind != voice.Builtin {
		return which, "", nil // a voice that is not there any more
	}
	found, err := connection.List(ctx, m.options.Tenants, org, connection.Filter{Kind: connection.Speech}, id.Connection{}, maxSpeaking)
	for _, c := range found { // the newest first
		if c.State == connection.Disabled {
			continue
		}
		if as := c.Config.VoiceOf(v.ID.String(), v.Key, v.Gender); as != "" {
			which, name = c.ID, as
		}
	}
	return which, name, err
}
