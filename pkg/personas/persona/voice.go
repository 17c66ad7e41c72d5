package persona

import (
	"context"
	"errors"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/store/tenant"
)

// ErrNoVoice says that the organization has no such voice.
var ErrNoVoice = errors.New("no such voice")

// FindVoice finds a voice that the organization can use, the studio's or its
// own, which then is not deleted until the commit. The error is ErrNoVoice.
func FindVoice(ctx context.Context, tx *tenant.Tx, v id.Voice) (voice.Voice, error) {
	found, err := voice.Find(ctx, tx, v)
	if errors.Is(err, voice.ErrUnknown) || errors.Is(err, voice.ErrGone) {
		return voice.Voice{}, ErrNoVoice
	}
	return found, err
}
