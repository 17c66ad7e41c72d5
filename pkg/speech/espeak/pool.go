// Package espeak speaks with libespeak-ng, which runs in processes of its own
// (cmd/visavis-speech): its license stays there, and what befalls it does too. A Pool
// holds a few of them, starts others for those that end or stall, and says so plainly
// when all are busy.
package espeak

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"visavis.dev/pkg/speech/espeak/wire"
	"visavis.dev/pkg/speech/speaker"
)

// Program is the name of the process' program, which lies beside the product's.
const Program = "visavis-speech"

// The bounds of a pool unless others are given.
const (
	// maxQueue is how many requests wait for each process.
	maxQueue = 16
	// within is how long a phrase may take once it has a process, stall how long that
	// may show no progress, and startWithin how long a process may take to start.
	within      = 10 * time.Second
	stall       = 2 * time.Second
	startWithin = 5 * time.Second
)

// Options are what a pool works with. The zero value of each but Program is sensible.
type Options struct {
	// Program is the file of the process' program.
	Program string
	// Processes is how many there are at most.
	Processes int
	// Queue is how many requests wait for a process before others are refused.
	Queue int
	// Within bounds a phrase, and Stall the time between two pieces of its sound.
	Within, Stall time.Duration
	Log           *slog.Logger
}

// Pool is a Speaker over several processes.
type Pool struct {
	options Options
	// free holds a place for each process that may run; nil where it was not started.
	free chan *process
	// waiting holds a token for each request that waits or runs.
	waiting chan struct{}
	// rate is of the processes' sound, in samples a second.
	rate atomic.Uint32

	mu     sync.Mutex
	closed bool
	lives  map[*process]bool
}

// Beside is the program that lies beside the one that runs, or "" where there is none.
func Beside() string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	file := filepath.Join(filepath.Dir(self), Program)
	if info, err := os.Stat(file); err != nil || info.IsDir() {
		return ""
	}
	return file
}

// Open starts a pool and its first process. The error says why there is no speech.
func Open(o Options) (*Pool, error) {
	if o.Program == "" {
		return nil, fmt.Errorf("%w: %s does not lie beside the product's program", speaker.ErrUnavailable, Program)
	}
	if o.Processes <= 0 {
		o.Processes = max(2, runtime.GOMAXPROCS(0))
	}
	if o.Queue <= 0 {
		o.Queue = maxQueue * o.Processes
	}
	if o.Within <= 0 {
		o.Within = within
	}
	if o.Stall <= 0 {
		o.Stall = stall
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	p := &Pool{
		options: o, free: make(chan *process, o.Processes), waiting: make(chan struct{}, o.Processes+o.Queue),
		lives: map[*process]bool{},
	}
	first, err := p.start()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", speaker.ErrUnavailable, err)
	}
	p.free <- first
	for range o.Processes - 1 {
		p.free <- nil
	}
	return p, nil
}

// Close ends all processes; what is being spoken breaks off.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	var lives []*process
	for one := range p.lives {
		lives = append(lives, one)
	}
	p.mu.Unlock()
	for _, one := range lives {
		p.end(one)
	}
}

// process is one that runs. Who took it from the pool owns it.
type process struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	said    *tail
	ended   sync.Once
	waiting chan struct{} // is closed once the process is gone
}

// start starts a process and waits until it is ready.
func (p *Pool) start() (*process, error) {
	cmd := exec.Command(p.options.Program)
	cmd.Env = environment()
	cmd.Dir = "/"
	one := &process{cmd: cmd, said: &tail{}, waiting: make(chan struct{})}
	cmd.Stderr = one.said
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	one.in, one.out = in, bufio.NewReaderSize(out, 64<<10)
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, speaker.ErrUnavailable
	}
	if err := cmd.Start(); err != nil {
		p.mu.Unlock()
		return nil, err
	}
	p.lives[one] = true
	p.mu.Unlock()
	late := time.AfterFunc(startWithin, one.kill)
	defer late.Stop()
	kind, payload, err := wire.ReadFrame(one.out)
	if err != nil || kind != wire.Ready || len(payload) != 4 {
		p.end(one)
		return nil, fmt.Errorf("the speech process did not start: %w %s", errors.Join(err, one.cmd.Err), one.said)
	}
	p.rate.Store(binary.BigEndian.Uint32(payload))
	return one, nil
}

// environment is what a process sees of the product's: nothing but where the library is.
func environment() []string {
	env := []string{"GOMAXPROCS=1", "GOTRACEBACK=none", "GOMEMLIMIT=64MiB"}
	for _, name := range []string{"VISAVIS_ESPEAK_LIBRARY", "VISAVIS_ESPEAK_DATA", "LD_LIBRARY_PATH"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

func (o *process) kill() { _ = o.cmd.Process.Kill() }

// end ends a process for good.
func (p *Pool) end(one *process) {
	one.ended.Do(func() {
		one.kill()
		_ = one.in.Close()
		_ = one.cmd.Wait()
		p.mu.Lock()
		delete(p.lives, one)
		p.mu.Unlock()
		close(one.waiting)
	})
	<-one.waiting
}

// Processes are the ids of those that run.
func (p *Pool) Processes() []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	var ids []int
	for one := range p.lives {
		ids = append(ids, one.cmd.Process.Pid)
	}
	return ids
}

// enter takes a place among the requests that wait or are answered, until leave. The error
// is ErrBusy.
func (p *Pool) enter() (leave func(), err error) {
	select {
	case p.waiting <- struct{}{}:
		return func() { <-p.waiting }, nil
	default:
		return nil, speaker.ErrBusy
	}
}

// frame is a part of an answer.
type frame struct {
	kind    wire.Kind
	payload []byte
}

// ask has a process answer. One that fails is ended, and another one is asked, once: what
// befell it need not be the text's fault. The error is ErrFailed where both fail, ErrBusy
// where no process can be started.
func (p *Pool) ask(ctx context.Context, r wire.Request) (answer []frame, err error) {
	for attempt := 0; ; attempt++ {
		answer, err = p.try(ctx, r)
		if err == nil || attempt > 0 || !errors.Is(err, speaker.ErrFailed) || ctx.Err() != nil {
			return answer, err
		}
		p.options.Log.WarnContext(ctx, "speech process failed, trying another", "error", err)
	}
}

func (p *Pool) try(ctx context.Context, r wire.Request) (answer []frame, err error) {
	var one *process
	select {
	case one = <-p.free:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { p.free <- one }()
	if one == nil {
		if one, err = p.start(); err != nil {
			one = nil
			return nil, fmt.Errorf("%w: %w", speaker.ErrBusy, err)
		}
	}
	answer, whole, err := p.read(one, r)
	if !whole {
		p.end(one)
		one = nil
	}
	return answer, err
}

// read has a process answer. whole says that it did to the end, and can be asked again. An
// answer is read though nobody may wait for it any more: that takes less than another
// process.
func (p *Pool) read(one *process, r wire.Request) (answer []frame, whole bool, err error) {
	stalled := time.AfterFunc(p.options.Stall, one.kill)
	defer stalled.Stop()
	late := time.AfterFunc(p.options.Within, one.kill)
	defer late.Stop()
	if err := wire.WriteRequest(one.in, r); err != nil {
		return nil, false, fmt.Errorf("%w: %w", speaker.ErrFailed, err)
	}
	for {
		kind, payload, err := wire.ReadFrame(one.out)
		if err != nil {
			return nil, false, fmt.Errorf("%w: %w %s", speaker.ErrFailed, err, one.said)
		}
		stalled.Reset(p.options.Stall)
		switch kind {
		case wire.Done:
			return answer, true, nil
		case wire.Failed:
			return nil, true, fmt.Errorf("%w: %s", speaker.ErrFailed, payload)
		}
		answer = append(answer, frame{kind, payload})
	}
}

// tail keeps the beginning of what a process complains of.
type tail struct {
	mu   sync.Mutex
	said []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.said = append(t.said, p[:min(len(p), 512-min(512, len(t.said)))]...)
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.said)
}

// Waiting is how many requests wait or are being answered.
func (p *Pool) Waiting() int { return len(p.waiting) }
