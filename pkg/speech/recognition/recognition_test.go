package recognition_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/provider/deepgram"
	"visavis.dev/pkg/provider/deepgram/deepgramtest"
	"visavis.dev/pkg/provider/transcription"
	"visavis.dev/pkg/provider/transcription/transcriptiontest"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/speech/recognition"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("internal/poll.runtime_pollWait"), goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"))
}

// second is a second of sound.
var second = make([]int16, recognition.SampleRate)

// listener takes results.
type listener struct {
	t *testing.T
	c chan recognition.Result
}

func listen(t *testing.T, r recognition.Recognizer) (recognition.Ear, *listener) {
	l := &listener{t, make(chan recognition.Result, 100)}
	ear := r.Open(func(r recognition.Result) { l.c <- r })
	t.Cleanup(ear.Close)
	return ear, l
}

func (l *listener) next() recognition.Result {
	l.t.Helper()
	select {
	case r := <-l.c:
		return r
	case <-time.After(10 * time.Second):
		l.t.Fatal("no result came")
		panic("unreachable")
	}
}

// whole is the next that is the last of its segment.
func (l *listener) whole() recognition.Result {
	l.t.Helper()
	for {
		if r := l.next(); r.Whole {
			return r
		}
	}
}

func recordings(s *transcriptiontest.Server) *recognition.Recordings {
	return &recognition.Recordings{
		Client:  transcription.Client{HTTP: s.Client(), BaseURL: s.URL + "/v1", Model: "whisper-1"},
		Timeout: 5 * time.Second, Clock: clock.RealClock{},
	}
}

func TestRecordings(t *testing.T) {
	s := transcriptiontest.Serve(t)
	ear, l := listen(t, recordings(s))
	s.Next(transcriptiontest.Answer{Text: "Bom dia."}, transcriptiontest.Answer{Status: http.StatusTooManyRequests})
	ear.Begin(1, "pt-BR")
	ear.Write(second[:8000])
	ear.Write(second[:8000])
	ear.End()
	require.Equal(t, recognition.Result{Segment: 1, Text: "Bom dia.", Whole: true}, l.next())
	got := s.Got()[0]
	require.Equal(t, "pt", got.Language)
	require.Len(t, got.WAV, 44+2*len(second))
	ear.Begin(2, "")
	ear.Write(second)
	ear.End()
	r := l.next()
	require.Equal(t, 2, r.Segment)
	require.Equal(t, upstream.RateLimited, upstream.CodeOf(r.Err))
}

// A tap is not worth a request, a recording that is refused is not held against the service,
// and no service says more than somebody can.
func TestOddRecordings(t *testing.T) {
	s := transcriptiontest.Serve(t)
	r := recordings(s)
	var came []error
	r.Calls = func() (func(error, time.Duration), bool) {
		return func(err error, _ time.Duration) { came = append(came, err) }, true
	}
	ear, l := listen(t, r)
	ear.Begin(1, "en")
	ear.Write(second[:recognition.SampleRate/5])
	ear.End()
	require.Equal(t, recognition.Result{Segment: 1, Whole: true}, l.next())
	require.Empty(t, s.Got())

	s.Next(transcriptiontest.Answer{Status: http.StatusBadRequest})
	ear.Begin(2, "en")
	ear.Write(second)
	ear.End()
	require.Equal(t, upstream.Rejected, upstream.CodeOf(l.next().Err))
	require.Equal(t, []error{context.Canceled}, came)

	s.Next(transcriptiontest.Answer{Text: strings.Repeat("ä ", 20_000)})
	ear.Begin(3, "en")
	ear.Write(second)
	ear.End()
	require.Equal(t, 4000, utf8.RuneCountInString(l.next().Text))
}

// What is closed tells nothing more, and waits for nobody.
func TestRecordingsAreClosed(t *testing.T) {
	s := transcriptiontest.Serve(t)
	never := make(chan struct{})
	defer close(never)
	ear, l := listen(t, recordings(s))
	s.Next(transcriptiontest.Answer{Text: "late", Until: never})
	ear.Begin(1, "en")
	ear.Write(second)
	ear.End()
	ear.Close()
	require.Empty(t, l.c)
}

// A service that is left alone is not asked.
func TestLeftAlone(t *testing.T) {
	s := transcriptiontest.Serve(t)
	r := recordings(s)
	r.Calls = func() (func(error, time.Duration), bool) { return nil, false }
	ear, l := listen(t, r)
	ear.Begin(1, "en")
	ear.Write(second)
	ear.End()
	require.ErrorIs(t, l.next().Err, recognition.ErrLeftAlone)
	d := deepgramtest.Serve(t)
	streaming := streams(d, clock.RealClock{})
	streaming.Calls = r.Calls
	ear, l = listen(t, streaming)
	ear.Begin(1, "en")
	ear.Write(second)
	ear.End()
	require.ErrorIs(t, l.next().Err, recognition.ErrLeftAlone)
	require.Empty(t, s.Got())
	require.Empty(t, d.Queries())
}

func streams(s *deepgramtest.Server, c clock.WithTicker) *recognition.Streams {
	return &recognition.Streams{
		Client:  deepgram.Client{HTTP: s.Client(), BaseURL: s.URL, Model: "nova-3", Secrets: []string{"k"}},
		Timeout: 5 * time.Second, Clock: c,
	}
}

// Words come while somebody speaks, and segments share a stream.
func TestStreams(t *testing.T) {
	s := deepgramtest.Serve(t, "where is the garden", "and the pond")
	r := streams(s, clock.RealClock{})
	var reported []error
	r.Calls = func() (func(error, time.Duration), bool) {
		return func(err error, _ time.Duration) { reported = append(reported, err) }, true
	}
	ear, l := listen(t, r)
	ear.Begin(1, "en")
	ear.Write(second)
	require.Equal(t, recognition.Result{Segment: 1, Text: "where is the"}, l.next())
	ear.End()
	ear.Begin(2, "en")
	require.Equal(t, recognition.Result{Segment: 1, Text: "where is the garden", Whole: true}, l.next())
	ear.Write(second[:8000])
	require.Equal(t, recognition.Result{Segment: 2, Text: "and"}, l.next())
	ear.End()
	require.Equal(t, recognition.Result{Segment: 2, Text: "and the pond", Whole: true}, l.next())
	require.Len(t, s.Queries(), 1)
	require.Equal(t, []error{nil, nil}, reported)
}

// A stream that breaks off costs what was under way; the next segment has another one.
func TestStreamsThatBreak(t *testing.T) {
	s := deepgramtest.Serve(t, "where is the garden", "where is it")
	ear, l := listen(t, streams(s, clock.RealClock{}))
	ear.Begin(1, "en")
	ear.Write(second)
	l.next()
	s.Break()
	r := l.whole()
	require.Equal(t, "where is the", r.Text, "what was understood is told")
	require.Equal(t, upstream.Truncated, upstream.CodeOf(r.Err))
	ear.Write(second)
	ear.End()
	ear.Begin(2, "en")
	ear.Write(second)
	ear.End()
	r = l.whole()
	require.Equal(t, recognition.Result{Segment: 2, Text: "where is it", Whole: true}, r)
	s.Refuse(http.StatusTooManyRequests)
	s.Break()
	// The end of a stream without a segment is noticed by the next one at the latest.
	for n := 3; ; n++ {
		ear.Begin(n, "en")
		ear.End()
		if r = l.whole(); upstream.CodeOf(r.Err) == upstream.RateLimited {
			break
		}
		require.Less(t, n, 6)
	}
}

// A service that says nothing is given up in time.
func TestStreamsThatHang(t *testing.T) {
	s := deepgramtest.Serve(t, "where is the garden")
	s.Hang()
	c := clocktesting.NewFakeClock(time.Now())
	ear, l := listen(t, streams(s, c))
	ear.Begin(1, "en")
	ear.Write(second)
	ear.End()
	require.Eventually(t, func() bool { return len(s.Controls()) == 1 }, 20*time.Second, time.Millisecond)
	c.Step(4 * time.Second)
	require.Empty(t, l.c)
	c.Step(2 * time.Second)
	require.Equal(t, upstream.Timeout, upstream.CodeOf(l.whole().Err))
}

// A stream is kept open while somebody may go on, and no longer.
func TestStreamsAreKeptOpen(t *testing.T) {
	s := deepgramtest.Serve(t, "hello", "again")
	c := clocktesting.NewFakeClock(time.Now())
	ear, l := listen(t, streams(s, c))
	ear.Begin(1, "en")
	ear.Write(second)
	ear.End()
	l.whole()
	kept := func() (n int) {
		for _, control := range s.Controls() {
			if control == "KeepAlive" {
				n++
			}
		}
		return n
	}
	for n := range 3 {
		c.Step(4 * time.Second)
		require.Eventually(t, func() bool { return kept() > n }, 20*time.Second, time.Millisecond)
	}
	require.Equal(t, 1, s.Open())
	c.Step(time.Minute)
	require.Eventually(t, func() bool { return s.Open() == 0 }, 20*time.Second, time.Millisecond)
	ear.Begin(2, "en")
	ear.Write(second)
	ear.End()
	require.Equal(t, "again", l.whole().Text)
	require.Len(t, s.Queries(), 2)
}

// says speaks a segment, the service's nth, until the service was asked for its rest.
func says(t *testing.T, s *deepgramtest.Server, ear recognition.Ear, n int, samples []int16) {
	t.Helper()
	ear.Begin(n, "en")
	ear.Write(samples)
	ear.End()
	require.Eventually(t, func() bool {
		asked := 0
		for _, control := range s.Controls() {
			if control == "Finalize" {
				asked++
			}
		}
		return asked >= n
	}, 20*time.Second, time.Millisecond)
}

// What a service tells late is of the segment that it was said in, and of no later one.
func TestLateResults(t *testing.T) {
	s := deepgramtest.Serve(t)
	s.Hang()
	c := clocktesting.NewFakeClock(time.Now())
	ear, l := listen(t, streams(s, c))
	said := func(n int, samples []int16) { says(t, s, ear, n, samples) }
	said(1, second)
	s.Say("where is", 0, 1, false, false)
	require.Equal(t, recognition.Result{Segment: 1, Text: "where is"}, l.next())
	c.Step(6 * time.Second)
	require.Equal(t, recognition.Result{Segment: 1, Text: "where is", Whole: true}, l.next())
	said(2, second)
	s.Say("where is the garden", 0, 1, true, true) // too late
	s.Say("and the pond", 1, 1, true, true)
	require.Equal(t, recognition.Result{Segment: 2, Text: "and the pond", Whole: true}, l.next())
}

// A service need not answer where there are no words; one that never does has failed.
func TestUnansweredFinalize(t *testing.T) {
	s := deepgramtest.Serve(t)
	s.Hang()
	c := clocktesting.NewFakeClock(time.Now())
	r := streams(s, c)
	reported := make(chan error, 10)
	r.Calls = func() (func(error, time.Duration), bool) {
		return func(err error, _ time.Duration) { reported <- err }, true
	}
	ear, l := listen(t, r)
	said := func(n int, samples []int16) { says(t, s, ear, n, samples) }
	said(1, second)
	s.Say("", 0, 0.9, false, false)
	require.Equal(t, recognition.Result{Segment: 1}, l.next())
	c.Step(6 * time.Second)
	require.Equal(t, recognition.Result{Segment: 1, Whole: true}, l.next())
	require.NoError(t, <-reported)
	said(2, second[:8000])
	c.Step(6 * time.Second)
	require.Equal(t, recognition.Result{Segment: 2, Whole: true}, l.next())
	require.ErrorIs(t, <-reported, context.Canceled, "nobody knows")
	said(3, second[:8000])
	c.Step(6 * time.Second)
	require.Equal(t, upstream.Timeout, upstream.CodeOf(l.next().Err))
	require.Equal(t, upstream.Timeout, upstream.CodeOf(<-reported))
}
