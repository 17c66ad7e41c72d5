package connection

import (
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/provider/elevenlabs"
	"visavis.dev/pkg/provider/synthesis"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/speech/connected"
	"visavis.dev/pkg/speech/speaker"
)

const (
	// wholeSentence bounds the saying of one sentence or text: what does not keep up with its
	// playing is given up long before.
	wholeSentence = 3 * time.Minute
	// maxSpeech bounds all of its sound with what the protocol adds, in bytes: ten minutes in
	// base64.
	maxSpeech = 64 << 20
)

// VoiceOf is the name at the service of a studio voice, of an id, a key and a gender; empty
// where it speaks for none such.
func (c Config) VoiceOf(id, key, gender string) string {
	names, _ := c["voiceMap"].(map[string]any)
	for _, of := range []string{id, key, gender} {
		if name, _ := names[of].(string); name != "" {
			return name
		}
	}
	return c.Text("voice")
}

// Speaking is how a connection is to speak.
type Speaking struct {
	// Voice is the voice's name at the service.
	Voice string
	// Builtin speaks where the service does not; nil for nobody.
	Builtin speaker.Speaker
	// Live says that somebody waits for the sound, in a conversation.
	Live  bool
	Calls upstream.Calls
	Clock clock.WithDelayedExecution
}

// Speaker is what a connection of that kind speaks with. With the fallback FallbackFail nobody
// speaks in its place, and it is waited for as long as a call may take.
func (o Opened) Speaker(g *egress.Guard, s Speaking) *connected.Speaker {
	client := o.Kind.Guard(g).ClientWithin(wholeSentence, maxSpeech)
	base, model := o.Config.BaseURL(o.Provider), o.Config.Text("model")
	var service connected.Service = synthesis.Client{HTTP: client, BaseURL: base, Model: model, Secrets: o.secrets()}
	if o.Provider == ElevenLabs {
		service = elevenlabs.Speech{Client: elevenlabs.Client{HTTP: client, BaseURL: base}, Model: model, Secrets: o.secrets()}
	}
	only, first := o.Fallback == FallbackFail, o.Timeout()
	if s.Live && !only {
		first = min(first, connected.SoonEnough)
	}
	return connected.New(connected.Options{
		Service: service, Voice: s.Voice, Languages: o.Config.Texts("languages"), Builtin: s.Builtin, Only: only, First: first,
		Calls: s.Calls, Clock: s.Clock,
	})
}
