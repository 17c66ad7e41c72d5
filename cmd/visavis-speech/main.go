// Command visavis-speech turns text into speech with libespeak-ng, for the product
// that started it: requests come over its standard input and are answered over its
// standard output (package wire). It ends with its input.
//
// It loads libespeak-ng, which is under the GNU General Public License, version 3 or
// later; so this program, as it runs, is under that license too (LICENSE beside this
// file). The product links nothing of it: it talks to this process over pipes alone.
package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"visavis.dev/pkg/speech/espeak/wire"
)

// maxTime is how long one request may take before the process ends itself, so that a
// stalled library outlives nobody.
const maxTime = 20 * time.Second

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "visavis-speech:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	answers := bufio.NewWriterSize(out, 64<<10)
	engine, err := load(os.Getenv("VISAVIS_ESPEAK_LIBRARY"), os.Getenv("VISAVIS_ESPEAK_DATA"))
	if err != nil {
		return err
	}
	rate := binary.BigEndian.AppendUint32(nil, uint32(engine.sampleRate))
	if err := errors.Join(wire.WriteFrame(answers, wire.Ready, rate), answers.Flush()); err != nil {
		return err
	}
	requests := bufio.NewReader(in)
	for {
		request, err := wire.ReadRequest(requests)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := answer(engine, request, answers); err != nil {
			return err
		}
	}
}

// answer speaks one request. An error is that of the pipe.
func answer(engine *engine, request wire.Request, answers *bufio.Writer) error {
	stalled := time.AfterFunc(maxTime, func() { os.Exit(2) })
	defer stalled.Stop()
	var broken error
	failed := engine.speak(request, func(events []wire.Event, samples []byte) bool {
		if len(events) > 0 {
			broken = wire.WriteFrame(answers, wire.Events, wire.AppendEvents(nil, events))
		}
		if broken == nil && len(samples) > 0 {
			broken = wire.WriteFrame(answers, wire.Samples, samples)
		}
		if broken == nil {
			broken = answers.Flush()
		}
		return broken == nil
	})
	switch {
	case broken != nil:
		return broken
	case failed != nil:
		broken = wire.WriteFrame(answers, wire.Failed, []byte(failed.Error()))
	default:
		broken = wire.WriteFrame(answers, wire.Done, nil)
	}
	return errors.Join(broken, answers.Flush())
}
