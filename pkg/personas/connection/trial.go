package connection

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/provider/calendars"
	"visavis.dev/pkg/provider/elevenlabs"
	"visavis.dev/pkg/provider/livekit"
	"visavis.dev/pkg/provider/lti"
	"visavis.dev/pkg/provider/model"
	"visavis.dev/pkg/provider/synthesis"
	"visavis.dev/pkg/provider/upstream"
)

// Step is a part of a trial.
type Step struct {
	Name string
	OK   bool
	Took time.Duration
	// Err is why it failed; its text may be shown.
	Err error
}

// Trial is what became of trying a connection out.
type Trial struct {
	Steps []Step
	// Outcomes are the calls of the service that were made.
	Outcomes []Outcome
	// Discovered are the tools that were found, of kind MCP.
	Discovered []Discovered
	// Calendars are those that were found, of kind Calendar.
	Calendars []calendars.Calendar
}

// OK says whether the connection works.
func (t Trial) OK() bool {
	for _, s := range t.Steps {
		if !s.OK {
			return false
		}
	}
	return len(t.Steps) > 0
}

// Trier tries connections out.
type Trier struct {
	Egress *egress.Guard
	Clock  clock.PassiveClock
	// Tokens are for kind Calendar.
	Tokens *Tokens
}

// trialTimeout bounds a trial: somebody waits for it.
const trialTimeout = 15 * time.Second

// Try asks the service for something small, as it is asked in use. The error
// is context.Canceled; a service that fails is a step that did.
func (t Trier) Try(ctx context.Context, o Opened) (Trial, error) {
	ctx, cancel := context.WithTimeout(ctx, trialTimeout)
	defer cancel()
	var trial Trial
	if err := t.step(&trial, "address", func() error { return t.address(ctx, o) }); err != nil || !trial.OK() {
		return trial, err
	}
	name, call := t.call(o, &trial)
	err := t.step(&trial, name, func() error {
		return o.WithSecret(func(secret string) error { return call(ctx, secret) })
	})
	return trial, err
}

// step does a part of a trial and notes it; what is not the service's fault is
// answered.
func (t Trier) step(trial *Trial, name string, do func() error) error {
	began := t.Clock.Now().UTC().Truncate(time.Microsecond)
	err := do()
	ended := t.Clock.Now()
	if err != nil && upstream.CodeOf(err) == "" {
		return err
	}
	trial.Steps = append(trial.Steps, Step{Name: name, OK: err == nil, Took: ended.Sub(began), Err: err})
	if name != "address" || err != nil {
		trial.Outcomes = append(trial.Outcomes, OutcomeOf("test."+name, began, ended, err))
	}
	return nil
}

func (t Trier) address(ctx context.Context, o Opened) error {
	guard := o.Kind.Guard(t.Egress)
	u, err := guard.CheckURL(o.service())
	if err != nil {
		return upstream.FromRequest(err)
	}
	return upstream.FromRequest(guard.CheckHost(ctx, u))
}

// call is the request that shows whether a service works, by the name of its step.
func (t Trier) call(o Opened, trial *Trial) (name string, call func(ctx context.Context, secret string) error) {
	client := o.Kind.Guard(t.Egress).ClientWithin(o.Timeout(), maxStream)
	base := o.Config.BaseURL(o.Provider)
	switch {
	case o.Provider == ElevenLabs:
		return "voices", func(ctx context.Context, secret string) error {
			return elevenlabs.Client{HTTP: client, BaseURL: base, Key: secret}.Check(ctx)
		}
	case o.Provider == LiveKit:
		return "rooms", func(ctx context.Context, secret string) error {
			server := livekit.Server{HTTP: client, URL: o.MediaURL(), Key: o.mediaKey(secret)}
			_, err := server.Rooms(ctx, t.Clock.Now())
			return err
		}
	case o.Kind == Avatar:
		return "avatar", func(ctx context.Context, secret string) error { return o.tryAvatars(ctx, client, secret) }
	case o.Provider == HTTPAPI:
		return "answer", func(ctx context.Context, secret string) error { return o.reach(ctx, client, secret) }
	case o.Provider == HubSpot:
		return "contacts", func(ctx context.Context, secret string) error {
			c := o.HubSpot(t.Egress, secret)
			if err := c.Check(ctx); err != nil || !o.Config.Owners() {
				return err
			}
			_, err := c.Owners(ctx)
			return err
		}
	case o.Kind == Chat, o.Kind == Helpdesk:
		return o.tryDesk(t.Egress)
	case o.Kind == ATS:
		return o.tryATS(t.Egress, t.Clock.Now())
	case o.Provider == MCPServer:
		return "tools", func(ctx context.Context, secret string) (err error) {
			trial.Discovered, err = o.discoverTools(ctx, t.Egress, secret)
			return err
		}
	case o.Kind == Calendar:
		return "calendars", func(ctx context.Context, secret string) (err error) {
			trial.Calendars, err = o.calendars(t.Egress, secret, t.Tokens, t.Clock).Calendars(ctx)
			return err
		}
	case o.Provider == OIDC:
		return "keys", func(ctx context.Context, _ string) error { return discover(ctx, client, base) }
	case o.Provider == LTI:
		return "keys", func(ctx context.Context, _ string) error {
			_, err := lti.ReadKeys(ctx, client, base)
			return err
		}
	case o.Provider == XAPI:
		return "statements", func(ctx context.Context, secret string) error { return o.RecordStore(t.Egress, secret).Check(ctx) }
	case o.Provider == Deepgram:
		return "transcription", func(ctx context.Context, secret string) error {
			return listen(ctx, client, base+"/v1/listen?"+url.Values{"model": {o.Config.Text("model")}}.Encode(), secret)
		}
	case o.Kind == Speech:
		return "speech", func(ctx context.Context, secret string) error {
			return speak(ctx, synthesis.Client{HTTP: client, BaseURL: base, Model: o.Config.Text("model"), Secrets: []string{secret}}, o.Config.Text("voice"))
		}
	case o.Kind == Embedding:
		return "embeddings", func(ctx context.Context, secret string) error {
			c := o.Embedder(t.Egress)
			c.Secrets = []string{secret}
			_, err := c.Embed(ctx, []string{"Hello."})
			return err
		}
	case o.Kind == Recognition:
		return "transcription", func(ctx context.Context, secret string) error {
			return transcribe(ctx, client, base+"/audio/transcriptions", secret, o.Config.Text("model"))
		}
	}
	return "answer", func(ctx context.Context, secret string) error {
		m := o.Model(t.Egress, "", model.Timeouts{Whole: o.Timeout()})
		m.Secrets = []string{secret}
		return complete(ctx, m)
	}
}

// triedTokens is enough for a word, and for a model that thinks before it.
const triedTokens = 64

func complete(ctx context.Context, m *model.Client) error {
	_, err := m.Complete(ctx, model.Request{
		Messages: []model.Message{{Role: "user", Content: "Reply with the one word OK."}}, MaxTokens: triedTokens,
	})
	if errors.Is(err, model.ErrLength) || errors.Is(err, model.ErrFiltered) {
		return nil // it answers, which is all that is asked here
	}
	return err
}

// speak has a word said: what comes must be sound.
func speak(ctx context.Context, c synthesis.Client, voice string) error {
	samples := 0
	err := c.Speak(ctx, synthesis.Request{Text: "Hello.", Voice: voice}, func(p synthesis.Piece) error {
		samples += len(p.Samples)
		return nil
	})
	if err == nil && samples == 0 {
		err = &upstream.Error{Code: upstream.Malformed}
	}
	return err
}

func transcribe(ctx context.Context, client *http.Client, address, secret, name string) error {
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	file, err := form.CreateFormFile("file", "silence.wav")
	if err == nil {
		_, err = file.Write(silence())
	}
	if err := errors.Join(err, form.WriteField("model", name), form.Close()); err != nil {
		return err
	}
	return transcript(post(ctx, client, address, "Bearer "+secret, form.FormDataContentType(), b.Bytes()))
}

func listen(ctx context.Context, client *http.Client, address, secret string) error {
	return transcript(post(ctx, client, address, "Token "+secret, "audio/wav", silence()))
}

// transcript says whether an answer is JSON; of silence there are no words to
// look for.
func transcript(answer []byte, err error) error {
	if err == nil && !json.Valid(answer) {
		err = &upstream.Error{Code: upstream.Malformed}
	}
	return err
}

func post(ctx context.Context, client *http.Client, address, authorization, contentType string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, &upstream.Error{Code: upstream.AddressRefused, Err: err}
	}
	if authorization != "Bearer " {
		req.Header.Set("Authorization", authorization)
	}
	req.Header.Set("Content-Type", contentType)
	return upstream.Exchange(client, req)
}

// silence is half a second of it: 16-bit samples, 16,000 a second, as WAV.
func silence() []byte {
	const samples = 8000
	var b bytes.Buffer
	_, _ = io.WriteString(&b, "RIFF\xa4\x3e\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x80\x3e\x00\x00\x00\x7d\x00\x00\x02\x00\x10\x00data\x80\x3e\x00\x00")
	_, _ = b.Write(make([]byte, 2*samples))
	return b.Bytes()
}
