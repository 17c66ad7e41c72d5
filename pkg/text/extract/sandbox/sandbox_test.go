package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/text/extract"
	"visavis.dev/pkg/text/extract/hostile"
	"visavis.dev/pkg/text/extract/sandbox"
	"visavis.dev/pkg/text/extract/sandbox/sandboxtest"
)

func TestMain(m *testing.M) {
	sandbox.Misbehave()
	sandbox.Become()
	os.Exit(m.Run())
}

func newReader(t *testing.T, atOnce int, limits sandbox.Limits) *sandbox.Reader {
	t.Helper()
	r, err := sandbox.New(atOnce, limits)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

func read(r *sandbox.Reader, contentType string, data []byte) (extract.Document, error) {
	return r.Read(context.Background(), contentType, int64(len(data)), bytes.NewReader(data))
}

// What a child reads is what this process reads.
func TestAChildReadsAsThisProcessDoes(t *testing.T) {
	r := newReader(t, 2, sandbox.Default())
	for _, name := range []string{
		"guide.docx", "guide.pptx", "prices.xlsx", "prices.csv", "guide.txt", "guide.json", "guide.md", "guide.html", "guide.pdf",
	} {
		data, err := os.ReadFile("../testdata/" + name)
		require.NoError(t, err)
		kind, err := extract.Detect(name, "", data)
		require.NoError(t, err)
		want, err := extract.Extract(t.Context(), kind, data)
		require.NoError(t, err)
		got, err := read(r, kind, data)
		require.NoError(t, err, name)
		require.Equal(t, want, got, name)
	}
	for text, want := range map[string]error{"{}": extract.ErrEmpty, "{": extract.ErrUnreadable} {
		_, err := read(r, extract.TypeJSON, []byte(text))
		require.ErrorIs(t, err, want, text)
	}
	_, err := read(r, "image/png", []byte("x"))
	require.ErrorIs(t, err, extract.ErrUnsupported)
}

// Each of the documents that took a worker's memory fails at once with its own error, and
// neither its child nor this process outgrows what it may take.
func TestHostileDocumentsEndNobodyElse(t *testing.T) {
	limits := sandbox.Default()
	r := newReader(t, 2, limits)
	for _, d := range hostile.Documents() {
		t.Run(d.Name, func(t *testing.T) {
			data := d.Make()
			before := own(t)
			var err error
			peak := sandboxtest.Peak(func() { _, err = read(r, d.ContentType, data) })
			// The program itself is in memory too, as far as it ran.
			require.Less(t, peak, limits.Memory+128<<20, "the child took %d MiB", peak>>20)
			require.NotZero(t, peak)
			t.Logf("%d KB, %d MiB: %v", len(data)>>10, peak>>20, err)
			if d.Fault != nil {
				require.ErrorIs(t, err, d.Fault)
			} else if err != nil {
				require.True(t, extract.IsFault(err), "%v", err)
			}
			require.Less(t, own(t)-before, int64(150<<20), "this process grew")
		})
	}
}

// Eight at once beside a healthy document, which is read.
func TestAHealthyDocumentIsReadBesideHostileOnes(t *testing.T) {
	r := newReader(t, 2, sandbox.Default())
	bad := append(hostile.Documents()[:4], hostile.Documents()[11:15]...)
	var group sync.WaitGroup
	for _, d := range bad {
		group.Go(func() {
			_, err := read(r, d.ContentType, d.Make())
			if !extract.IsFault(err) {
				t.Errorf("%s: %v", d.Name, err)
			}
		})
	}
	d, err := read(r, extract.TypeText, []byte("The museum opens at nine."))
	require.NoError(t, err)
	require.Equal(t, "The museum opens at nine.", d.Sections[0].Text)
	group.Wait()
}

// What no bound of the readers finds ends the child, at the first time.
func TestMemoryIsTheDocumentsFault(t *testing.T) {
	text := []byte(strings.Repeat("A passage of some length. ", 500_000))
	small := sandbox.Default()
	small.Memory = 24 << 20
	_, err := read(newReader(t, 1, small), extract.TypeText, text)
	require.ErrorIs(t, err, extract.ErrUnreadable)
	require.ErrorContains(t, err, "its reader ended")
}

// A list that grows, as few large allocations, gets no more memory than a child may have.
func TestMemoryIsBounded(t *testing.T) {
	limits := sandbox.Default()
	limits.Memory = 256 << 20
	r := newReader(t, 1, limits)
	var err error
	peak := sandboxtest.Peak(func() { _, err = read(r, sandbox.Hoarding, []byte("x")) })
	require.ErrorIs(t, err, extract.ErrUnreadable)
	require.ErrorContains(t, err, "its reader ended with exit status 2")
	require.Less(t, peak, limits.Memory, "the child took %d MiB", peak>>20)
}

// A child that computes for longer than it may is ended by the system: nothing else ends
// this one, which takes no memory and has all the time it wants.
func TestComputingForTooLongIsTheDocumentsFault(t *testing.T) {
	limits := sandbox.Default()
	limits.Processor, limits.Time = time.Second, 24*time.Hour
	_, err := read(newReader(t, 1, limits), sandbox.Spinning, []byte("x"))
	require.ErrorIs(t, err, extract.ErrUnreadable)
	require.ErrorContains(t, err, "killed")
}

// signalling is a document that signals the child once it is sent.
type signalling struct {
	*strings.Reader
	t      *testing.T
	signal syscall.Signal
}

func (s signalling) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if s.Len() == 0 {
		require.NoError(s.t, syscall.Kill(child(s.t), s.signal))
	}
	return n, err
}

// child is the only child of this process.
func child(t *testing.T) int {
	t.Helper()
	found := 0
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	require.NoError(t, err)
	for _, path := range tasks {
		if text, err := os.ReadFile(path); err == nil && len(bytes.TrimSpace(text)) > 0 {
			_, err := fmt.Sscan(string(text), &found)
			require.NoError(t, err)
		}
	}
	require.NotZero(t, found, "no child")
	return found
}

// A child that never answers is ended, and one that crashes has its document to blame; but
// a document neither asks a child to end nor kills it within its limits.
func TestHowChildrenEnd(t *testing.T) {
	short := sandbox.Default()
	short.Time = 15 * time.Second
	for signal, want := range map[syscall.Signal]struct {
		fault bool
		says  string
	}{
		syscall.SIGSTOP: {true, "longer than it may"}, syscall.SIGKILL: {false, "killed"}, syscall.SIGSEGV: {true, "ended with"},
		syscall.SIGTERM: {false, "terminated"},
	} {
		const text = "hello"
		r := newReader(t, 1, short)
		_, err := r.Read(t.Context(), extract.TypeText, int64(len(text)), signalling{strings.NewReader(text), t, signal})
		require.ErrorContains(t, err, want.says, signal.String())
		require.Equal(t, want.fault, extract.IsFault(err), "%v: %v", signal, err)
		require.Equal(t, signal == syscall.SIGKILL, errors.Is(err, extract.ErrKilled), "%v: %v", signal, err)
	}
}

// A child that was not started, was asked to end, or lost its parent's interest is no
// fault of its document.
func TestWhatIsNotTheDocumentsFault(t *testing.T) {
	r := newReader(t, 1, sandbox.Default())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := r.Read(ctx, extract.TypeText, 5, strings.NewReader("hello"))
	require.ErrorIs(t, err, context.Canceled)

	_, err = r.Read(t.Context(), extract.TypeText, 100, strings.NewReader("shorter than it says"))
	require.Error(t, err)
	require.False(t, extract.IsFault(err), "%v", err)

	broken := sandbox.Default()
	broken.Memory = -1
	_, err = read(newReader(t, 1, broken), extract.TypeText, []byte("hello"))
	require.Error(t, err)
	require.False(t, extract.IsFault(err), "%v", err)

	_, err = read(r, extract.TypeText, make([]byte, extract.MaxBytes+1))
	require.ErrorIs(t, err, extract.ErrTooLarge)
}

// own is how much memory this process has, in bytes.
func own(t *testing.T) int64 {
	t.Helper()
	var size, resident int64
	text, err := os.ReadFile("/proc/self/statm")
	require.NoError(t, err)
	_, err = fmt.Sscan(string(text), &size, &resident)
	require.NoError(t, err)
	return resident * int64(os.Getpagesize())
}
