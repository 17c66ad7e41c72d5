// Package synthesistest is a service that speaks, for tests: with an OpenAI-compatible
// address, and as ElevenLabs does. It says what it is told.
package synthesistest

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// Rate is that of the sound unless an answer has another.
const Rate = 24000

// Asked is what the service was asked to say.
type Asked struct {
	// Path and Query are the request's, and Key what it was sent with.
	Path, Query, Key             string
	Text, Voice, Model, Language string
	Speed                        float64
}

// Answer is what becomes of a request.
type Answer struct {
	// Samples are the sound, of Rate (that of the package where it is 0), and Pieces in how
	// many pieces they come; at once unless given.
	Samples []int16
	Rate    int
	Pieces  int
	// Begin and End are when each character is said, in seconds; only ElevenLabs tells them.
	// Mute are the pieces in which it does not.
	Begin, End []float64
	Mute       func(piece int) bool
	// Status is one of an error; 0 for success. RetryAfter goes with it.
	Status     int
	RetryAfter string
	// Body replaces what is answered, and Header the header of the file.
	Body   string
	Header []byte
	// Until holds what comes after the first piece back until it is closed; nil for at once.
	// UntilFirst does so with all of it.
	Until, UntilFirst <-chan struct{}
	// Endless has the samples come again and again.
	Endless bool
	// Breaks has the answer break off after the samples.
	Breaks bool
}

// Server is the service.
type Server struct {
	*httptest.Server
	// Say makes the answer to what is asked where Next said nothing; nil for silence.
	Say func(Asked) Answer

	mu    sync.Mutex
	asked []Asked
	next  []Answer
}

// Serve starts a service over TLS.
func Serve(t testing.TB) *Server {
	t.Helper()
	s := &Server{}
	s.Server = httptest.NewTLSServer(s)
	t.Cleanup(s.Close)
	return s
}

// Next says what becomes of the next requests.
func (s *Server) Next(answers ...Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = append(s.next, answers...)
}

// Asked is what was asked so far.
func (s *Server) Asked() []Asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Asked(nil), s.asked...)
}

const elevenLabs = "/v1/text-to-speech/"

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	asked, ok := read(r)
	if !ok {
		http.Error(w, `{"error": {"message": "bad request"}}`, http.StatusBadRequest)
		return
	}
	a := s.take(asked)
	if !wait(r, a.UntilFirst) {
		return
	}
	if a.Status != 0 {
		if a.RetryAfter != "" {
			w.Header().Set("Retry-After", a.RetryAfter)
		}
		http.Error(w, `{"error": {"message": "no"}}`, a.Status)
		return
	}
	if a.Body != "" {
		_, _ = io.WriteString(w, a.Body)
		return
	}
	a.answer(w, r, strings.HasPrefix(asked.Path, elevenLabs), asked.Text)
}

func (s *Server) take(asked Asked) Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, asked)
	if len(s.next) > 0 {
		a := s.next[0]
		s.next = s.next[1:]
		return a
	}
	if s.Say != nil {
		return s.Say(asked)
	}
	return Answer{}
}

// read reads what is asked, as one service or the other takes it.
func read(r *http.Request) (a Asked, ok bool) {
	var body struct {
		Input, Text, Voice, Model string
		Format                    string  `json:"response_format"`
		ModelID                   string  `json:"model_id"`
		Language                  string  `json:"language_code"`
		Speed                     float64 `json:"speed"`
		Settings                  struct {
			Speed float64 `json:"speed"`
		} `json:"voice_settings"`
	}
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&body) != nil {
		return a, false
	}
	a = Asked{Path: r.URL.Path, Query: r.URL.RawQuery}
	if voice, found := strings.CutPrefix(a.Path, elevenLabs); found {
		a.Key, a.Text, a.Model, a.Language, a.Speed = r.Header.Get("Xi-Api-Key"), body.Text, body.ModelID, body.Language, body.Settings.Speed
		a.Voice, found = strings.CutSuffix(voice, "/stream/with-timestamps")
		return a, found && a.Query == "output_format=pcm_24000" && a.Text != ""
	}
	a.Key, a.Text, a.Voice, a.Model, a.Speed = r.Header.Get("Authorization"), body.Input, body.Voice, body.Model, body.Speed
	return a, a.Path == "/v1/audio/speech" && body.Format == "wav" && a.Text != ""
}

// wait waits until a channel is closed, unless nobody asks any more.
func wait(r *http.Request, until <-chan struct{}) bool {
	if until == nil {
		return true
	}
	select {
	case <-until:
		return true
	case <-r.Context().Done():
		return false
	}
}

func (a Answer) answer(w http.ResponseWriter, r *http.Request, tells bool, text string) {
	flush, _ := w.(http.Flusher)
	if !tells {
		_, _ = w.Write(a.header())
	}
	pieces := max(a.Pieces, 1)
	for {
		for n := range pieces {
			from, to := len(a.Samples)*n/pieces, len(a.Samples)*(n+1)/pieces
			if n > 0 && !wait(r, a.Until) {
				return
			}
			if tells {
				a.tell(w, text, from, to, n)
			} else {
				_, _ = w.Write(pcm(a.Samples[from:to]))
			}
			if flush.Flush(); r.Context().Err() != nil {
				return
			}
		}
		if !a.Endless {
			break
		}
	}
	if a.Breaks {
		panic(http.ErrAbortHandler)
	}
}

// header is that of a file whose length is not known yet.
func (a Answer) header() []byte {
	if a.Header != nil {
		return a.Header
	}
	rate := a.Rate
	if rate == 0 {
		rate = Rate
	}
	return Header(1, 1, 16, rate)
}

// Header is that of a file of WAV whose length is not known.
func Header(format, channels, bits, rate int) []byte {
	le := binary.LittleEndian
	out := append([]byte("RIFF"), 0xff, 0xff, 0xff, 0xff)
	out = append(out, "WAVEfmt "...)
	out = le.AppendUint32(out, 16)
	out = le.AppendUint16(out, uint16(format))
	out = le.AppendUint16(out, uint16(channels))
	out = le.AppendUint32(out, uint32(rate))
	out = le.AppendUint32(out, uint32(rate*channels*bits/8))
	out = le.AppendUint16(out, uint16(channels*bits/8))
	out = le.AppendUint16(out, uint16(bits))
	return append(append(out, "data"...), 0xff, 0xff, 0xff, 0xff)
}

// tell writes a message with a stretch of the sound and the characters that begin in it.
func (a Answer) tell(w io.Writer, text string, from, to, piece int) {
	type alignment struct {
		Characters []string  `json:"characters"`
		Begin      []float64 `json:"character_start_times_seconds"`
		End        []float64 `json:"character_end_times_seconds"`
	}
	m := map[string]any{"audio_base64": base64.StdEncoding.EncodeToString(pcm(a.Samples[from:to]))}
	if a.Begin != nil && (a.Mute == nil || !a.Mute(piece)) {
		var some alignment
		for i, c := range []rune(text) {
			if at := int(a.Begin[i] * Rate); at >= from && (at < to || piece == max(a.Pieces, 1)-1) {
				some.Characters = append(some.Characters, string(c))
				some.Begin, some.End = append(some.Begin, a.Begin[i]), append(some.End, a.End[i])
			}
		}
		m["alignment"], m["normalized_alignment"] = some, some
	}
	_ = json.NewEncoder(w).Encode(m)
}

func pcm(samples []int16) []byte {
	out := make([]byte, 0, 2*len(samples))
	for _, s := range samples {
		out = binary.LittleEndian.AppendUint16(out, uint16(s))
	}
	return out
}

// Tone is a hum of a length, at Rate.
func Tone(lasts time.Duration) []int16 {
	out := make([]int16, int(lasts*Rate/time.Second))
	for i := range out {
		out[i] = int16(6000 - (i%120)*100)
	}
	return out
}
