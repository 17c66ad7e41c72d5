package live

import (
	"context"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/sessions/recording"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

// kept says what becomes of what is said in the room, as it stands when it is called.
func (r *room) kept(minted session.Session) func(context.Context) (conversation.Kept, error) {
	return func(ctx context.Context) (conversation.Kept, error) {
		s, err := session.Get(ctx, r.server.Tenants, r.org, minted.ID)
		if err != nil {
			return conversation.Kept{}, err
		}
		var set setting.Values
		if err := r.server.Tenants.Read(ctx, r.org, func(reads *tenant.Reads) { setting.QueueValues(reads, r.org, s.Place(), &set) }); err != nil {
			return conversation.Kept{}, err
		}
		k := conversation.Kept{None: s.KeptNoWords(), Days: s.Brief.RetainDays, Read: s.WordsRead(), Reachable: s.Reachable()}
		// Words from before the switch was turned are still there, and those under a hold stay for longer.
		k.Untold = !k.None && (set.On(setting.ZeroRetention) || s.OnHold)
		if k.Sound, err = r.keepsSound(ctx, s); err != nil {
			return conversation.Kept{}, err
		}
		if r.server.Notice == nil {
			return k, nil
		}
		if k.Notice, err = r.server.Notice(ctx, r.org, s); err != nil {
			// What is kept is known without it.
			r.server.Log.WarnContext(ctx, "failed to read where the privacy notice is", "session", s.ID.String(), "error", err)
		}
		return k, nil
	}
}

// keepsSound is whether the sound of the room is kept. What the server of a room of others does is
// not known here.
func (r *room) keepsSound(ctx context.Context, s session.Session) (conversation.SoundKept, error) {
	switch {
	case s.Channel == string(conversation.Chat), s.Transport == session.LiveKit:
		return conversation.SoundUntold, nil
	case r.tape.Load() != nil:
		return conversation.SoundIsTaped, nil
	}
	// What was recorded may stand though nothing is now: a refusal is not carried out yet, or not under a
	// hold, or a switch was turned.
	switch _, err := recording.Get(ctx, r.server.Tenants, r.org, s.ID); {
	case err == nil:
		return conversation.SoundWasTaped, nil
	case !errdefs.IsNotFound(err, recording.Noun):
		return conversation.SoundUntold, err
	case r.consents.agreed.Load():
		return conversation.SoundUntold, nil // what they agreed to did not begin
	case s.Brief.Record != "" && r.server.Files != nil && !r.consents.refused.Load():
		return conversation.SoundAsked, nil
	}
	return conversation.SoundOff, nil
}
