package live

import (
	"context"

	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

// kept says what becomes of what is said in the room, as it stands when it is called.
func (r *room) kept(s session.Session) func(context.Context) (conversation.Kept, error) {
	return func(ctx context.Context) (conversation.Kept, error) {
		var set setting.Values
		if err := r.server.Tenants.Read(ctx, r.org, func(reads *tenant.Reads) { setting.QueueValues(reads, r.org, s.Place(), &set) }); err != nil {
			return conversation.Kept{}, err
		}
		k := conversation.Kept{None: s.KeptNoWords() || set.On(setting.ZeroRetention), Days: s.Brief.RetainDays, Read: s.WordsRead(), Sound: r.keepsSound(s)}
		if r.server.Notice == nil {
			return k, nil
		}
		var err error
		if k.Notice, err = r.server.Notice(ctx, r.org, s); err != nil {
			// What is kept is known without it.
			r.server.Log.WarnContext(ctx, "failed to read where the privacy notice is", "session", s.ID.String(), "error", err)
		}
		return k, nil
	}
}

// keepsSound is whether the sound of the room is kept. What the server of a room of others does is
// not known here.
func (r *room) keepsSound(s session.Session) conversation.SoundKept {
	switch {
	case s.Channel == string(conversation.Chat), s.Transport == session.LiveKit:
		return conversation.SoundUntold
	case r.tape.Load() != nil:
		return conversation.SoundIsTaped
	case s.Brief.Record != "" && r.server.Files != nil && !r.consents.refused.Load():
		return conversation.SoundAsked
	}
	return conversation.SoundOff
}
