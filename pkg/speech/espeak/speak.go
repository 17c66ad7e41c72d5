package espeak

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"visavis.dev/pkg/speech/espeak/wire"
	"visavis.dev/pkg/speech/sound"
	"visavis.dev/pkg/speech/speaker"
	"visavis.dev/pkg/speech/spoken"
)

// maxSeconds bounds the sound of one request.
const maxSeconds = 600

// Speak implements speaker.Speaker.
func (p *Pool) Speak(ctx context.Context, r speaker.Request, heard func(speaker.Chunk) error) error {
	name, ok := voices[r.Language]
	if !ok {
		return speaker.ErrLanguage
	}
	if utf8.RuneCountInString(r.Text) > speaker.MaxText {
		return fmt.Errorf("%w: a sentence has more than %d characters", speaker.ErrFailed, speaker.MaxText)
	}
	text := spoken.Of(r.Text, r.Language, r.Pronunciations)
	if text.Said == "" {
		return nil
	}
	c := characterOf(r.Voice, r.Gender)
	if r.Language == "en" && c.english != "" {
		name = c.english
	}
	leave, err := p.enter()
	if err != nil {
		return err
	}
	defer leave()
	s := newSaying(c, text, int(p.rate.Load()), heard)
	request := wire.Request{Voice: name + "+" + c.variant, Rate: c.wordsAMinute(r.Speed), Pitch: c.pitch, Range: c.span, WordGap: c.gap}
	if err := p.sayAll(ctx, request, phrasesOf(text.Said), s); err != nil {
		return err
	}
	return s.end()
}

// saying makes the sound of one text out of what processes answer.
type saying struct {
	text  spoken.Text
	heard func(speaker.Chunk) error
	voice *timbre
	// rate is of the processes' sound, in samples a second, and taken how many of them
	// were heard.
	rate, taken int
	// phraseMs and phraseAt are where the phrase begins that is being heard: in
	// milliseconds of the processes' sound, and in characters.
	phraseMs int64
	phraseAt int
	// tract is by how much times are shorter than the process counts them.
	tract float64
	// next is what was told of sound that has not come yet.
	next    speaker.Chunk
	made    int // samples
	shape   string
	open    bool // a word is being spoken
	word    speaker.Word
	voicing int64 // when the last sound ended, or began if it is still heard
	silent  bool
}

func newSaying(c character, text spoken.Text, rate int, heard func(speaker.Chunk) error) *saying {
	return &saying{text: text, heard: heard, voice: newTimbre(c, rate), rate: rate, tract: c.tract, silent: true}
}

// hear takes the answer to a phrase that begins at a character.
func (s *saying) hear(at int, answer []frame) error {
	s.phraseMs, s.phraseAt = int64(s.taken)*1000/int64(s.rate), at
	for _, f := range answer {
		if err := s.take(f.kind, f.payload); err != nil {
			return err
		}
	}
	return nil
}

func (s *saying) take(kind wire.Kind, payload []byte) error {
	switch kind {
	case wire.Events:
		events, err := wire.ReadEvents(payload)
		if err != nil {
			return fmt.Errorf("%w: %w", speaker.ErrFailed, err)
		}
		for i := range events {
			s.happens(&events[i])
		}
		return nil
	case wire.Samples:
		samples := make([]float32, len(payload)/2)
		s.taken += len(samples)
		for i := range samples {
			samples[i] = float32(int16(binary.LittleEndian.Uint16(payload[2*i:]))) / 32768
		}
		return s.give(s.voice.shape(samples))
	default:
		return fmt.Errorf("%w: a frame is of no kind", speaker.ErrFailed)
	}
}

var errTooLong = errors.New("it never comes to an end")

// give hands on samples with what was told of them.
func (s *saying) give(samples []int16) error {
	if s.made += len(samples); s.made > maxSeconds*speaker.SampleRate {
		return fmt.Errorf("%w: %w", speaker.ErrFailed, errTooLong)
	}
	s.next.Samples = samples
	chunk := s.next
	s.next = speaker.Chunk{}
	return s.heard(chunk)
}

// happens takes an event.
func (s *saying) happens(e *wire.Event) {
	at := int64(math.Round(float64(s.phraseMs+int64(e.AtMs)) / s.tract))
	switch e.Kind {
	case wire.Word:
		if e.Length > 0 {
			s.begins(at, s.phraseAt+int(e.Position), int(e.Length))
		}
	case wire.Phoneme:
		name := e.Name()
		if name == "" {
			s.pauses(at)
		} else {
			s.silent = false
			s.voicing = at
		}
		for _, v := range visemesOf(name, at) {
			if v.Shape == silence && s.shape == silence {
				continue
			}
			s.shape = v.Shape
			s.next.Visemes = append(s.next.Visemes, v)
		}
	case wire.End:
		s.pauses(at)
	}
}

// begins notes the start of a word, by which the one before has ended.
func (s *saying) begins(at int64, position, length int) {
	from, to, ok := s.text.Source(position, length)
	if !ok {
		return
	}
	if s.open && from < s.word.To {
		// Another part of what is written as one.
		s.word.To = max(s.word.To, to)
		return
	}
	s.ends(at)
	s.open, s.word = true, speaker.Word{AtMs: at, From: from, To: to}
}

func (s *saying) pauses(at int64) {
	if !s.silent {
		s.silent, s.voicing = true, at
	}
}

// ends closes the word that is being spoken: when the voice paused after it, or else at a
// moment.
func (s *saying) ends(at int64) {
	if !s.open {
		return
	}
	s.open = false
	until := at
	if s.silent && s.voicing > s.word.AtMs {
		until = min(until, s.voicing)
	}
	s.word.LastsMs = max(until-s.word.AtMs, 0)
	s.next.Words = append(s.next.Words, s.word)
}

// end hands on what is left.
func (s *saying) end() error {
	samples := s.voice.rest()
	at := int64(s.made+len(samples)) * 1000 / speaker.SampleRate
	s.ends(at)
	if s.shape != silence {
		s.next.Visemes = append(s.next.Visemes, speaker.Viseme{AtMs: at, Shape: silence, Weight: 1})
	}
	return s.give(samples)
}

// timbre shapes the samples of a voice.
type timbre struct {
	resampler *sound.Resampler
	bands     []*sound.Filter
	room      *sound.Room
	gain      float32
}

func newTimbre(c character, rate int) *timbre {
	const to = speaker.SampleRate
	return &timbre{
		resampler: sound.NewResampler(float64(rate)*c.tract, to),
		bands: []*sound.Filter{
			sound.HighPass(to, 70), sound.LowShelf(to, 260, c.warmth), sound.Peak(to, 2900, 0.9, c.presence),
			sound.HighShelf(to, 5200, c.air),
		},
		room: sound.NewRoom(to, 0.07), gain: float32(math.Pow(10, c.level/20)),
	}
}

// shape makes samples of the voice out of the process'.
func (t *timbre) shape(samples []float32) []int16 { return t.finish(t.resampler.Push(nil, samples)) }

// rest are the samples that were held back.
func (t *timbre) rest() []int16 { return t.finish(t.resampler.Flush(nil)) }

func (t *timbre) finish(samples []float32) []int16 {
	for _, band := range t.bands {
		band.Apply(samples)
	}
	t.room.Apply(samples)
	for i := range samples {
		samples[i] *= t.gain
	}
	sound.Limit(samples)
	out := make([]int16, len(samples))
	for i, x := range samples {
		out[i] = int16(math.Round(float64(x) * 32767))
	}
	return out
}
