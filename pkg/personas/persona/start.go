package persona

import (
	"context"
	"errors"
	"fmt"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/personas/face"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/store/tenant"
)

// Why a persona cannot start a session, besides [FaceNotReadyError] and
// [DuoNotLiveError].
var (
	ErrConsentWithdrawn = errors.New("the consent a face or the voice of the persona rests on was withdrawn")
	ErrPaused           = errors.New("a face of the persona could not be prepared")
	ErrVoiceNotReady    = errors.New("the voice of the persona is not ready")
)

// FaceNotReadyError says that a face is still being prepared.
type FaceNotReadyError struct {
	// ETA is about how long that takes still.
	ETA time.Duration
}

func (e *FaceNotReadyError) Error() string {
	return fmt.Sprintf("the face is ready in about %v", e.ETA)
}

// DuoNotLiveError says that the duo was not made live, or was paused.
type DuoNotLiveError struct{ Duo id.Duo }

func (e *DuoNotLiveError) Error() string { return e.Duo.String() + " is not live" }

// Load finds a persona with what a session needs of it. The error is errdefs.NotFound
// or errdefs.Gone.
func Load(ctx context.Context, tx *tenant.Tx, which id.Persona) (Persona, error) {
	p, err := Find(ctx, tx, which)
	if err != nil {
		return p, err
	}
	v, err := voice.Find(ctx, tx, p.Voice)
	if err != nil {
		return p, err
	}
	if p.VoiceStatus = v.Status(); p.Kind != OfDuo {
		return p, nil
	}
	p.Duo = &Duo{ID: p.DuoID}
	err = tx.QueryRow(ctx, `
		SELECT status = 'live', hosts, languages, interplay FROM duo WHERE org_id = $1 AND id = $2`, tx.Org, p.DuoID).
		Scan(&p.Duo.Live, &p.Duo.Hosts, &p.Duo.Languages, &p.Duo.Interplay)
	if err != nil {
		return p, err
	}
	return p, p.hear(ctx, tx)
}

// hear has the status of a duo's voices be that of the one of which least can be said: consent that was withdrawn for
// either withdraws it for both.
func (p *Persona) hear(ctx context.Context, tx *tenant.Tx) error {
	for _, h := range p.Duo.Hosts {
		v, err := voice.Find(ctx, tx, h.Voice)
		if err != nil {
			return err
		}
		if s := v.Status(); s == voice.Withdrawn || p.VoiceStatus == voice.Ready {
			p.VoiceStatus = s
		}
	}
	return nil
}

// Startable says whether a persona that Load found can start a session now. The
// error is a DuoNotLiveError, ErrConsentWithdrawn, ErrPaused, a
// FaceNotReadyError or ErrVoiceNotReady.
func (p *Persona) Startable(now time.Time) error {
	switch {
	case p.Duo != nil && !p.Duo.Live:
		return &DuoNotLiveError{p.Duo.ID}
	case p.Obstacle == ConsentWithdrawn, p.VoiceStatus == voice.Withdrawn:
		return ErrConsentWithdrawn
	case p.Obstacle != "":
		return ErrPaused
	case p.Preparation != nil:
		return &FaceNotReadyError{face.Wait(*p.Preparation, now)}
	case p.VoiceStatus != voice.Ready:
		return ErrVoiceNotReady
	}
	return nil
}

// AsProblem says what the errors of Startable are to a caller; another error
// is answered as it is.
func AsProblem(err error) error {
	var (
		notReady *FaceNotReadyError
		notLive  *DuoNotLiveError
	)
	switch {
	case errors.As(err, &notReady):
		return problem.NotReady(notReady.ETA)
	case errors.As(err, &notLive):
		return problem.New(problem.DuoNotLive, "The duo is not live. POST /duos/%s/live makes it.", notLive.Duo)
	case errors.Is(err, ErrConsentWithdrawn):
		return problem.Conflicting(string(ConsentWithdrawn), "The consent that a face or the voice of the persona rests on was withdrawn.")
	case errors.Is(err, ErrVoiceNotReady):
		return problem.Conflicting("voice_not_ready", "The voice of the persona is still being made, or its making failed.")
	case errors.Is(err, ErrPaused):
		return problem.Conflicting(string(Paused), "A face of the persona could not be prepared. Give it another one, or the same one again.")
	}
	return err
}
