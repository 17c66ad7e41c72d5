package persona

import (
	"context"
	"errors"

	"visavis.dev/pkg/id"
	"visavis.dev/pkg/tenant"
	"visavis.dev/pkg/voice"
)

// ErrNoVoice says that the organisation has no such voice.
var ErrNoVoice = errors.New("no such voice")

// studio is the studio voices by id.
var studio = func() map[id.Voice]voice.Voice {
	byID := map[id.Voice]voice.Voice{}
	for _, v := range voice.Studio() {
		byID[id.NamedVoice(v.Key)] = v
	}
	return byID
}()

// FindVoice finds a voice that the organisation can use. Those there are today
// are the studio's, which are every organisation's. The error is ErrNoVoice.
func FindVoice(_ context.Context, _ *tenant.Tx, v id.Voice) (voice.Voice, error) {
	found, ok := studio[v]
	if !ok {
		return voice.Voice{}, ErrNoVoice
	}
	return found, nil
}
