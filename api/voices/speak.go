package voices

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/speech/connected"
	"visavis.dev/pkg/speech/sound"
	"visavis.dev/pkg/speech/speaker"
)

// asWAV is the content type of sound.
const asWAV = "audio/wav"

// SpeakInput is the request to say something.
type SpeakInput struct {
	Path
	Body SpeakRequest
}

// SpeakRequest is what a voice is to say.
type SpeakRequest struct {
	Text     string  `json:"text" minLength:"1" maxLength:"2000" doc:"What to say, as people read it: numbers, dates and Markdown are spoken as a person would."`
	Language string  `json:"language,omitempty" maxLength:"100" doc:"By code or name, one of the voice's languages; its primary language unless given."`
	Speed    float64 `json:"speed,omitempty" minimum:"0.5" maximum:"2" doc:"How fast; 1 is the voice's natural pace. What the voice cannot do is held to Voice.speed."`
}

// Speech is what a voice said. Times count from the first sample.
type Speech struct {
	AudioURL   string         `json:"audioUrl" doc:"The sound as a data: URI of type audio/wav: 24 kHz, 16 bits, mono."`
	DurationMs int64          `json:"durationMs" doc:"How long it is, in milliseconds."`
	Language   string         `json:"language" doc:"The language that was spoken, as a code."`
	SpokenBy   string         `json:"spokenBy" enum:"builtin,connection" doc:"What spoke: a speech connection of yours, or what is built in, which also stands in where the service fails."`
	Visemes    []SpeechViseme `json:"visemes" doc:"The shapes of the mouth, each held until the next."`
	Words      []SpeechWordAt `json:"words" doc:"When each word is spoken."`
}

// SpeechViseme is a shape of the mouth.
type SpeechViseme struct {
	T int64   `json:"t" doc:"When, in milliseconds from the first sample."`
	V string  `json:"v" enum:"sil,PP,FF,TH,DD,kk,CH,SS,nn,RR,aa,E,I,O,U" doc:"The shape, of the Oculus set of 15."`
	W float64 `json:"w" minimum:"0" maximum:"1" doc:"How far it is made."`
}

// SpeechWordAt is a word that was spoken.
type SpeechWordAt struct {
	T    int64  `json:"t" doc:"When, in milliseconds from the first sample."`
	D    int64  `json:"d" doc:"How long it sounds, in milliseconds."`
	Text string `json:"text" doc:"What it is of the text."`
}

func (a *API) speak(ctx context.Context, c *route.Call, in *SpeakInput) (none route.Either[Speech], err error) {
	which, err := in.voice()
	if err != nil {
		return none, err
	}
	v, err := voice.Get(ctx, a.Tenants, c.Org(), which)
	if err != nil {
		return none, err
	}
	if err := mustBeReady(v); err != nil {
		return none, err
	}
	const param = "body.language"
	code, err := a.languageOf(v, param, in.Body.Language)
	if err != nil {
		return none, err
	}
	by, err := a.speakerOf(ctx, c.Org(), v)
	if err != nil {
		return none, err
	}
	said, spokenBy, err := a.say(ctx, by, v, in.Body.Text, code, v.Pace(in.Body.Speed))
	if err != nil {
		return none, asSpeechProblem(err, param)
	}
	if len(said.Samples) == 0 {
		return none, problem.Invalid("body.text", "body.text has nothing in it that can be said.")
	}
	if c.Prefers() == asWAV {
		return route.Either[Speech]{File: &route.Blob{ContentType: asWAV, CacheControl: "no-store", Data: func(context.Context) ([]byte, error) {
			return sound.WAV(speaker.SampleRate, said.Samples), nil
		}}}, nil
	}
	return route.Either[Speech]{Data: showSpeech(said, spokenBy, in.Body.Text, code)}, nil
}

// mustBeReady refuses voices that cannot be heard: those that are not made yet, and those
// whose consent was withdrawn.
func mustBeReady(v voice.Voice) error {
	if v.Status() == voice.Ready {
		return nil
	}
	return problem.Conflicting("voice_not_ready", "The voice cannot speak: its status is %s.", v.Status()).WithParam("path.id")
}

func showSpeech(said speaker.Chunk, by connected.By, text, code string) Speech {
	out := Speech{
		AudioURL:   dataURI(sound.WAV(speaker.SampleRate, said.Samples)),
		DurationMs: int64(len(said.Samples)) * 1000 / speaker.SampleRate, Language: code, SpokenBy: string(by),
		Visemes: make([]SpeechViseme, len(said.Visemes)), Words: make([]SpeechWordAt, len(said.Words)),
	}
	for i, s := range said.Visemes {
		out.Visemes[i] = SpeechViseme{s.AtMs, s.Shape, s.Weight}
	}
	for i, w := range said.Words {
		out.Words[i] = SpeechWordAt{w.AtMs, w.LastsMs, text[w.From:w.To]}
	}
	return out
}

// dataURI is a file of sound in the place of its address. It is large, and written once.
func dataURI(wav []byte) string {
	const prefix = "data:" + asWAV + ";base64,"
	var uri strings.Builder
	uri.Grow(len(prefix) + base64.StdEncoding.EncodedLen(len(wav)))
	uri.WriteString(prefix)
	encoder := base64.NewEncoder(base64.StdEncoding, &uri)
	_, _ = encoder.Write(wav) // a builder takes everything
	_ = encoder.Close()
	return uri.String()
}

// bytesASample is the memory that a sample takes until it is answered: by itself, in a file,
// in that as base64, and in the JSON around it, whose buffer doubles as it grows.
const bytesASample = 12

// say has a text said, whole, and answers what spoke. Its memory is counted as it grows: how
// long a text sounds is not told by its length, since a digit becomes words. The errors are
// the speaker's, and that of a budget that is spent.
func (a *API) say(ctx context.Context, by speaker.Speaker, v voice.Voice, text, code string, speed float64) (all speaker.Chunk, spoke connected.By, err error) {
	spoke = connected.Builtin
	if by == nil {
		return all, spoke, speaker.ErrUnavailable
	}
	if !by.Speaks(code) {
		return all, spoke, speaker.ErrLanguage
	}
	r := v.Request(code)
	r.Text, r.Speed = text, speed
	heard := func(c speaker.Chunk) error {
		if _, err := route.Reserve(ctx, int64(len(c.Samples)*bytesASample)); err != nil {
			return err
		}
		all.Samples = append(all.Samples, c.Samples...)
		all.Visemes = append(all.Visemes, c.Visemes...)
		all.Words = append(all.Words, c.Words...)
		return nil
	}
	if service, ok := by.(*asked); ok {
		spoke, err = service.Say(ctx, r, heard)
		return all, spoke, err
	}
	return all, spoke, by.Speak(ctx, r, heard)
}

// languageOf is the code of the language that was asked for, or the voice's own.
func (a *API) languageOf(v voice.Voice, param, asked string) (string, error) {
	if asked == "" {
		return v.PrimaryLanguage, nil
	}
	found, ok := language.Lookup(asked)
	if !ok {
		return "", problem.Invalid(param, "%s is not a language of GET /languages.", param)
	}
	if !slices.Contains(v.Languages, found.Code) {
		return "", problem.Invalid(param, "The voice %s does not speak %s.", v.Name, found.Name)
	}
	return found.Code, nil
}

// asSpeechProblem says what the errors of speakers are to a caller. param is what names
// the language.
func asSpeechProblem(err error, param string) error {
	switch {
	case errors.Is(err, speaker.ErrLanguage):
		return problem.Conflicting("language_not_spoken", "Nothing that is installed here speaks this language.").WithParam(param)
	case errors.Is(err, speaker.ErrUnavailable):
		p := problem.Unavailable(askedLater, err).WithDetail("reason", "no_speech_engine")
		p.Message = "Nothing here speaks: no speech engine is installed."
		return p
	case upstream.CodeOf(err) != "", errors.Is(err, connected.ErrLeftAlone):
		return problem.New(problem.UpstreamError, "The speech service does not work right now, and nothing speaks in its place.").WithCause(err)
	case errors.Is(err, speaker.ErrFailed): // in two processes: it will again
		from, _, _ := strings.Cut(param, ".")
		return problem.Invalid(from+".text", "The speech engine fails at this text. Say it in other words, or in parts.").WithCause(err)
	case errors.Is(err, speaker.ErrBusy):
		return problem.Unavailable(askedSoon, err)
	}
	return err
}
