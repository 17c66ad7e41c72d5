package main

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/ebitengine/purego"

	"visavis.dev/pkg/speech/espeak/wire"
)

// What espeak-ng/speak_lib.h calls them.
const (
	synchronous     = 2 // AUDIO_OUTPUT_SYNCHRONOUS
	bufferMs        = 60
	phonemeEvents   = 0x0001
	phonemeIPA      = 0x0002
	dontExit        = 0x8000
	positionOfChars = 1 // POS_CHARACTER
	charsUTF8       = 1 // espeakCHARS_UTF8

	eventEnd     = 0
	eventWord    = 1
	eventClause  = 5
	eventPhoneme = 7
)

// The parameters of espeak_SetParameter.
const (
	parameterRate    = 1
	parameterPitch   = 3
	parameterRange   = 4
	parameterWordGap = 7
)

// event is espeak_EVENT.
type event struct {
	kind       int32
	message    uint32
	position   int32
	length     int32
	audioMs    int32
	sample     int32
	userData   uintptr
	identifier [8]byte
}

// engine is the library. It speaks one text at a time.
type engine struct {
	sampleRate int
	setVoice   func(name string) int32
	setValue   func(parameter, value, relative int32) int32
	synthesize func(text *byte, size uintptr, position uint32, kind int32, end uint32, flags uint32, message *uint32, data uintptr) int32

	voice   string
	deliver func(events []wire.Event, samples []byte) bool
}

// load opens the library; empty names are the system's own.
func load(library, data string) (*engine, error) {
	if library == "" {
		library = "libespeak-ng.so.1"
	}
	handle, err := purego.Dlopen(library, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, err
	}
	e := &engine{}
	var initialize func(output, bufferMs int32, path *byte, options int32) int32
	var setCallback func(callback uintptr)
	for name, fn := range map[string]any{
		"espeak_Initialize": &initialize, "espeak_SetSynthCallback": &setCallback, "espeak_SetVoiceByName": &e.setVoice,
		"espeak_SetParameter": &e.setValue, "espeak_Synth": &e.synthesize,
	} {
		address, err := purego.Dlsym(handle, name)
		if err != nil {
			return nil, err
		}
		purego.RegisterFunc(fn, address)
	}
	var path *byte
	if data != "" {
		path = &append([]byte(data), 0)[0]
	}
	rate := initialize(synchronous, bufferMs, path, phonemeEvents|phonemeIPA|dontExit)
	if rate <= 0 {
		return nil, errors.New("espeak-ng finds no data")
	}
	e.sampleRate = int(rate)
	setCallback(purego.NewCallback(e.callback))
	return e, nil
}

// callback takes the next samples and what happens in them. It answers 0 to go on.
func (e *engine) callback(samples *int16, count int32, events *event) uintptr {
	var heard []wire.Event
	for i := 0; ; i++ {
		//nolint:gosec // the library ends its list of events with one of no kind
		next := (*event)(unsafe.Add(unsafe.Pointer(events), uintptr(i)*unsafe.Sizeof(event{})))
		if next.kind == eventEnd {
			break
		}
		if told, ok := tell(next); ok {
			heard = append(heard, told)
		}
	}
	var sound []byte
	if samples != nil && count > 0 {
		//nolint:gosec // so many samples are there, until the callback returns
		sound = unsafe.Slice((*byte)(unsafe.Pointer(samples)), int(count)*2)
	}
	if !e.deliver(heard, sound) {
		return 1
	}
	return 0
}

// tell is an event as it is told, if it is.
func tell(e *event) (wire.Event, bool) {
	told := wire.Event{AtMs: uint32(max(e.audioMs, 0)), Position: uint32(max(e.position-1, 0)), Length: uint32(max(e.length, 0))}
	switch e.kind {
	case eventWord:
		told.Kind = wire.Word
	case eventPhoneme:
		told.Kind, told.Phoneme = wire.Phoneme, e.identifier
	case eventClause:
		told.Kind = wire.End
	default:
		return told, false
	}
	return told, true
}

// speak gives the sound of a text piece by piece to deliver, until that is false.
func (e *engine) speak(r wire.Request, deliver func([]wire.Event, []byte) bool) error {
	if r.Voice != e.voice {
		if code := e.setVoice(r.Voice); code != 0 {
			e.voice = ""
			return fmt.Errorf("there is no voice %q", r.Voice)
		}
		e.voice = r.Voice
	}
	e.setValue(parameterRate, int32(r.Rate), 0)
	e.setValue(parameterPitch, int32(r.Pitch), 0)
	e.setValue(parameterRange, int32(r.Range), 0)
	e.setValue(parameterWordGap, int32(r.WordGap), 0)
	e.deliver = deliver
	text := append([]byte(r.Text), 0)
	if code := e.synthesize(&text[0], uintptr(len(text)), 0, positionOfChars, 0, charsUTF8, nil, 0); code != 0 {
		return fmt.Errorf("espeak-ng answers %d", code)
	}
	return nil
}
