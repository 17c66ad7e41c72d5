package connection

import (
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/provider/deepgram"
	"visavis.dev/pkg/provider/transcription"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/speech/recognition"
	"visavis.dev/pkg/speech/vad"
)

// recordedPause is the silence after which a recording is sent, where a service takes
// whole ones: a shorter one would cut sentences into pieces that are understood worse.
const recordedPause = 400 * time.Millisecond

// maxTranscription bounds a service's answer about one recording, in bytes.
const maxTranscription = 256 << 10

// Recognizer is what a connection of that kind recognizes speech with, the silence after
// which it is asked, and whether words come only then. Calls hears what came of each stretch.
func (o Opened) Recognizer(g *egress.Guard, c clock.WithTicker, calls upstream.Calls) (by recognition.Recognizer, pause time.Duration, late bool) {
	guard, base, name := o.Kind.Guard(g), o.Config.BaseURL(o.Provider), o.Config.Text("model")
	if o.Provider == Deepgram {
		return &recognition.Streams{
			Client:  deepgram.Client{HTTP: guard.Upgrader(), BaseURL: base, Model: name, Secrets: o.secrets()},
			Timeout: o.Timeout(), Calls: calls, Clock: c,
		}, vad.Hangover, false
	}
	return &recognition.Recordings{
		Client: transcription.Client{
			HTTP: guard.ClientWithin(o.Timeout()+time.Second, maxTranscription), BaseURL: base, Model: name, Secrets: o.secrets(),
		},
		Timeout: o.Timeout(), Calls: calls, Clock: c,
	}, recordedPause, true
}
