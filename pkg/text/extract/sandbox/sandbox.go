package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"visavis.dev/pkg/text/extract"
)

// Reader reads documents in children.
type Reader struct {
	program string
	limits  Limits
	cache   string
	slots   chan struct{}

	// compiling has room for one: the first child for a PDF compiles its reader (see
	// pdf.Start), and the others find what it compiled.
	compiling chan struct{}
	compiled  atomic.Bool
}

// New makes a reader that has so many children at once. The program is this one, whose
// main calls [Become].
func New(atOnce int, limits Limits) (*Reader, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the program: %w", err)
	}
	cache, err := os.MkdirTemp("", "visavis-reader-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for compiled code: %w", err)
	}
	return &Reader{
		program: program, limits: limits, cache: cache,
		slots: make(chan struct{}, max(1, atOnce)), compiling: make(chan struct{}, 1),
	}, nil
}

// Close removes what the reader keeps. Nothing may be read by then.
func (r *Reader) Close() error { return os.RemoveAll(r.cache) }

// Read reads a document of a type that [extract.Detect] gave, of so many bytes. The error
// wraps one of package extract, [extract.ErrUnreadable] where the child did not survive
// the document and [extract.ErrKilled] where somebody else killed it; or is the context's; or any other, which is not the document's fault.
func (r *Reader) Read(ctx context.Context, contentType string, size int64, document io.Reader) (extract.Document, error) {
	if size > extract.MaxBytes {
		return extract.Document{}, extract.ErrTooLarge
	}
	leave, err := enter(ctx, r.slots)
	if err != nil {
		return extract.Document{}, err
	}
	defer leave()
	c := &child{
		order:   order{contentType: contentType, bytes: size, memory: r.limits.Memory, processor: r.limits.Processor, cache: r.cache},
		started: func() {},
	}
	if contentType == extract.TypePDF && !r.compiled.Load() {
		leave, err := enter(ctx, r.compiling)
		if err != nil {
			return extract.Document{}, err
		}
		leave = sync.OnceFunc(leave)
		defer leave()
		c.started = func() { r.compiled.Store(true); leave() }
	}
	// The system ends a child with the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	limited, cancel := context.WithTimeout(ctx, r.limits.Time)
	defer cancel()
	d, err := c.run(limited, r.program, document)
	return d, c.judge(ctx, limited, err)
}

// enter takes a place, and answers how to leave it.
func enter(ctx context.Context, places chan struct{}) (leave func(), err error) {
	select {
	case places <- struct{}{}:
		return func() { <-places }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// child is one under way.
type child struct {
	order
	started func() // is called once it is ready
	ready   bool   // its limits hold, and the document is on its way
	sent    bool   // all of the document, or as much as it took
	exit    error
	source  error // why the document could not be sent
	said    strings.Builder
}

func (c *child) run(ctx context.Context, program string, document io.Reader) (extract.Document, error) {
	cmd := exec.CommandContext(ctx, program, c.args()...)
	cmd.Env = []string{
		fmt.Sprintf("GOMEMLIMIT=%d", c.memory*3/4), "GOGC=50", "GOMAXPROCS=1", "GOTRACEBACK=none",
		"MALLOC_ARENA_MAX=1", // else the C library reserves 64 MiB of addresses for each thread
	}
	cmd.Dir = "/"
	cmd.SysProcAttr = attributes()
	cmd.Cancel = func() error { return end(cmd) }
	cmd.WaitDelay = time.Second
	cmd.Stderr = &limitedWriter{to: &c.said, left: 2 << 10}
	in, err := cmd.StdinPipe()
	if err != nil {
		return extract.Document{}, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return extract.Document{}, err
	}
	if err := cmd.Start(); err != nil {
		return extract.Document{}, err
	}
	d, err := c.talk(in, out, document)
	if err != nil && !extract.IsFault(err) {
		_ = end(cmd) // it is of no use any more
	}
	c.exit = cmd.Wait()
	return d, err
}

// talk waits until the child is ready, sends the document and understands the answer.
func (c *child) talk(in io.WriteCloser, out io.Reader, document io.Reader) (extract.Document, error) {
	answers := bufio.NewReader(out)
	if line, err := answers.ReadString('\n'); err != nil || line != ready {
		return extract.Document{}, errors.Join(errors.New("a child did not start to read"), err)
	}
	c.ready = true
	c.started()
	_, err := io.CopyN(in, &noting{document, &c.source}, c.bytes)
	if errors.Is(err, io.EOF) {
		c.source = io.ErrUnexpectedEOF
	}
	if c.source != nil {
		return extract.Document{}, c.source
	}
	if err != nil && !errors.Is(err, syscall.EPIPE) { // else it is gone, as its answer tells
		return extract.Document{}, err
	}
	c.sent = true
	_ = in.Close()
	return understand(answers)
}

// judge says whose fault it is that a child gave no document.
func (c *child) judge(ctx, limited context.Context, err error) error {
	switch {
	case err == nil, extract.IsFault(err):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case c.source != nil:
		return fmt.Errorf("send a document to its reader: %w", c.source)
	case !c.ready, asked(c.exit), limited.Err() != nil && !c.sent:
		return fmt.Errorf("have a document read: %w (%w) %s", err, errors.Join(c.exit, limited.Err()), c.complaint())
	case limited.Err() != nil:
		return fmt.Errorf("%w: reading it took longer than it may", extract.ErrUnreadable)
	case c.killed() && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)):
		return extract.ErrKilled
	}
	return fmt.Errorf("%w: its reader ended with %w: %s", extract.ErrUnreadable, errors.Join(c.exit, err), c.complaint())
}

// complaint is the first line of what the child had to say.
func (c *child) complaint() string {
	line, _, _ := strings.Cut(c.said.String(), "\n")
	return line
}

// asked says whether somebody asked the child to end, as no document does.
func asked(exit error) bool {
	e, ok := errors.AsType[*exec.ExitError](exit)
	if !ok {
		return false
	}
	status, ok := e.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return false
	}
	s := status.Signal()
	return s == syscall.SIGTERM || s == syscall.SIGINT || s == syscall.SIGHUP
}

// killed says that somebody else killed a child: most often the system, where a container's
// memory is all used. A child that wants more memory than it may have is not killed; it is
// refused the memory, and ends by itself.
func (c *child) killed() bool {
	e, ok := errors.AsType[*exec.ExitError](c.exit)
	if !ok {
		return false
	}
	status, ok := e.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() || status.Signal() != syscall.SIGKILL {
		return false
	}
	// The system kills a child that computed for as long as it may, and counts in ticks.
	computed := e.UserTime() + e.SystemTime()
	return computed < c.processor*9/10
}

// noting remembers why a reader failed, to tell that from a failure of the other end.
type noting struct {
	from io.Reader
	err  *error
}

func (n *noting) Read(p []byte) (int, error) {
	k, err := n.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		*n.err = err
	}
	return k, err
}

// limitedWriter keeps the beginning.
type limitedWriter struct {
	to   io.Writer
	left int
}

func (w *limitedWriter) Write(p []byte) (int, error) {
	keep := p[:min(len(p), w.left)]
	w.left -= len(keep)
	_, err := w.to.Write(keep)
	return len(p), err
}
