package elevenlabs

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"visavis.dev/pkg/provider/synthesis"
	"visavis.dev/pkg/provider/upstream"
)

const (
	// DefaultModel is the model that is quickest and speaks most languages.
	DefaultModel = "eleven_flash_v2_5"
	// speechRate is that of the sound that is asked for.
	speechRate = 24000
	// maxLine bounds one message of a stream, in bytes: half a minute of sound.
	maxLine = 2 << 20
	// slowest and fastest are the speeds that the service takes.
	slowest, fastest = 0.7, 1.2
	// takesLanguage ends the names of the models that may be told the language: others refuse
	// to be.
	takesLanguage = "_v2_5"
)

// Speech is the service as one that speaks.
type Speech struct {
	Client Client
	// Model is the name there; empty for DefaultModel.
	Model string
	// Secrets are tried in turn while they are refused, in place of the client's key.
	Secrets []string
}

// Speak gives the sound of a text to heard while it comes, with the times of its characters.
// The errors are upstream's, context.Canceled, or what heard answered.
func (s Speech) Speak(ctx context.Context, r synthesis.Request, heard func(synthesis.Piece) error) error {
	ask := map[string]any{"text": r.Text, "model_id": s.Model}
	if s.Model == "" {
		ask["model_id"] = DefaultModel
	}
	if model, _ := ask["model_id"].(string); r.Language != "" && strings.HasSuffix(model, takesLanguage) {
		ask["language_code"] = r.Language
	}
	if r.Speed != 0 && r.Speed != 1 {
		ask["voice_settings"] = map[string]any{"speed": min(max(r.Speed, slowest), fastest)}
	}
	body, err := json.Marshal(ask)
	if err != nil {
		return err
	}
	path := "/v1/text-to-speech/" + url.PathEscape(r.Voice) + "/stream/with-timestamps?output_format=pcm_24000"
	return upstream.WithSecrets(s.Secrets, func(secret string) error {
		c := s.Client
		c.Key = secret
		req, err := c.request(ctx, http.MethodPost, path, "application/json", body)
		if err != nil {
			return err
		}
		return upstream.Stream(c.HTTP, req, func(resp *http.Response) error { return readSpeech(resp.Body, heard) })
	})
}

// message is one of a stream.
type message struct {
	Audio     *string    `json:"audio_base64"`
	Alignment *alignment `json:"alignment"`
}

// alignment is when characters are said, in seconds from the first sample.
type alignment struct {
	Characters []string  `json:"characters"`
	Begin      []float64 `json:"character_start_times_seconds"`
	End        []float64 `json:"character_end_times_seconds"`
}

// readSpeech gives what the messages of a stream hold, a line each.
func readSpeech(r io.Reader, heard func(synthesis.Piece) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	var odd []byte // half a sample
	for lines.Scan() {
		line := bytes.TrimSpace(bytes.TrimPrefix(lines.Bytes(), []byte("data:")))
		if len(line) == 0 {
			continue
		}
		piece, rest, err := pieceOf(line, odd)
		if err != nil {
			return &upstream.Error{Code: upstream.Malformed, Err: err}
		}
		odd = rest
		if err := heard(piece); err != nil {
			return err
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return &upstream.Error{Code: upstream.Malformed, Err: err}
	} else if err != nil {
		return upstream.FromBody(err)
	}
	return nil
}

var errMessage = errors.New("a message of the stream is none")

// pieceOf is what a message holds, after the half of a sample that the one before ended with.
func pieceOf(line, odd []byte) (p synthesis.Piece, rest []byte, err error) {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		return p, nil, err
	}
	if m.Audio == nil && m.Alignment == nil {
		return p, nil, errMessage
	}
	p.Rate = speechRate
	if m.Audio != nil {
		sound, err := base64.StdEncoding.DecodeString(*m.Audio)
		if err != nil {
			return p, nil, err
		}
		sound = append(odd, sound...)
		p.Samples = make([]int16, len(sound)/2)
		for i := range p.Samples {
			p.Samples[i] = int16(binary.LittleEndian.Uint16(sound[2*i:]))
		}
		odd = sound[len(sound)/2*2:]
	}
	if m.Alignment != nil {
		p.Characters, err = m.Alignment.characters()
	}
	return p, odd, err
}

// characters are those of an alignment, whose times must rise.
func (a *alignment) characters() ([]synthesis.Character, error) {
	if len(a.Begin) != len(a.Characters) || len(a.End) != len(a.Characters) {
		return nil, errMessage
	}
	out := make([]synthesis.Character, len(a.Characters))
	for i, text := range a.Characters {
		begin, end := seconds(a.Begin[i]), seconds(a.End[i])
		if i > 0 {
			begin = max(begin, out[i-1].Begin)
		}
		out[i] = synthesis.Character{Text: text, Begin: begin, End: max(begin, end)}
	}
	return out, nil
}

// seconds is a time within an hour: no speech lasts longer.
func seconds(s float64) time.Duration {
	return time.Duration(min(max(s, 0), 3600) * float64(time.Second))
}
