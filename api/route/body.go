package route

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/spool"
)

const (
	// inMemory is how much of a body is kept in memory while it arrives.
	inMemory = 1 << 20
	// parsedWeight is how many bytes of the budget a byte of JSON takes that is
	// parsed: its text, its values, and the handler's input.
	parsedWeight = 8
	// growStep is by how much a reservation grows while a body arrives.
	growStep = 256 << 10
	// smallBody is how large a body may be to be let in whatever others hold.
	smallBody = 64 << 10
	// retryBudget is what a caller is asked to wait when the budget is spent.
	retryBudget = 2 * time.Second
	// bodyWithin is how long a body may take to arrive, and partWithin how long
	// the next 64 KiB of it.
	bodyWithin, partWithin, part64 = time.Minute, 10 * time.Second, 64 << 10
	// lingerWithin is how long the rest of a refused body is read and dropped, so
	// that its sender sees the answer, and lingerOver how much of it.
	lingerWithin = 5 * time.Second
	lingerOver   = 64 << 20
)

// overBudget answers a request for whose body there is no room.
func overBudget(err error) error {
	if errors.Is(err, spool.ErrOverBudget) || errors.Is(err, spool.ErrDiskFull) {
		return problem.Unavailable(retryBudget, err)
	}
	return err
}

// Reserve counts bytes that a handler takes into memory, such as what it fetches,
// to the budget of the request that the context belongs to, until that is answered.
// Who took fewer gives the rest back by unused. The error is a problem.
func Reserve(ctx context.Context, n int64) (unused func(rest int64), err error) {
	c := callOf(ctx)
	if c == nil || c.held == nil {
		return func(int64) {}, nil
	}
	return func(rest int64) { c.held.Shrink(c.held.Bytes() - rest) }, overBudget(c.held.Grow(n))
}

// Detached finds the text that a value of the input stands for, where the text was
// so long that it stays in the request's body (Operation.Detach).
func Detached(ctx context.Context, value string) (*spool.Text, bool) {
	c := callOf(ctx)
	if c == nil {
		return nil, false
	}
	t, ok := c.detached[value]
	return t, ok
}

// holder is who is counted for the bytes that a request holds.
func (c *Call) holder() string {
	if c.Principal != nil {
		return c.Org().String()
	}
	return c.Household()
}

// arriving reads a body as it arrives: within its bound, within time, and within the
// budget.
type arriving struct {
	call    *Call
	from    io.Reader
	control *http.ResponseController
	began   time.Time
	read    int64
	marked  int64
}

// receive begins to read the body. What is over the limit is *http.MaxBytesError.
func (c *Call) receive(limit int64) *arriving {
	c.held, c.stored = c.service.Bodies.Reserve(c.holder()), c.service.Disk.Reserve(c.holder())
	a := &arriving{
		call: c, from: http.MaxBytesReader(c.writer, c.request.Body, limit),
		control: http.NewResponseController(c.writer), began: time.Now(),
	}
	a.extend()
	return a
}

// extend gives the next part of the body its time. A connection without deadlines is
// none of a caller's.
func (a *arriving) extend() {
	until := time.Now().Add(cmp.Or(a.call.service.BodyPartWithin, partWithin))
	if last := a.began.Add(bodyWithin); last.Before(until) {
		until = last
	}
	_ = a.control.SetReadDeadline(until)
}

// Read implements io.Reader.
func (a *arriving) Read(p []byte) (int, error) {
	n, err := a.from.Read(p)
	a.read += int64(n)
	if a.read-a.marked >= part64 {
		a.marked = a.read
		a.extend()
	}
	if full := a.reserve(); full != nil {
		return n, overBudget(full)
	}
	return n, err
}

// reserve counts what arrived: its beginning is in memory, and the rest in a file. What a
// caller only announces takes no memory. On disk it has its room from the first byte there,
// so that of many large bodies some arrive whole.
func (a *arriving) reserve() error {
	held, stored := a.call.held, a.call.stored
	memory := min(a.read, inMemory)
	if a.read <= smallBody {
		held.Take(memory - held.Bytes())
		return nil
	}
	if missing := memory - held.Bytes(); missing > 0 {
		if err := held.Grow(min(max(missing, growStep), a.expected(inMemory)-held.Bytes())); err != nil {
			return err
		}
	}
	if missing := a.read - memory - stored.Bytes(); missing > 0 {
		return stored.Grow(max(missing, growStep, a.call.request.ContentLength-inMemory-stored.Bytes()))
	}
	return nil
}

// expected is how long the body is at least, and at most so long.
func (a *arriving) expected(most int64) int64 {
	return min(max(a.call.request.ContentLength, a.read), most)
}

// arrived ends the reading: what the handler takes is bounded otherwise.
func (a *arriving) arrived() { _ = a.control.SetReadDeadline(time.Time{}) }

// spoolBody takes a body in that is no form, and makes the handler's input of it.
func (c *Call) spoolBody() error {
	limit := c.Op.maxBody()
	if c.request.ContentLength > limit {
		return tooLarge(limit)
	}
	if c.request.ContentLength != 0 && !c.Op.takesType(c.request.Header.Get("Content-Type")) {
		return problem.New(problem.UnsupportedMediaType, "Send the body as %s.", c.Op.takes()).WithParam("header.Content-Type")
	}
	a := c.receive(limit)
	var err error
	c.spooled, err = c.service.Temporary.Read(a, inMemory)
	if err != nil {
		return asBodyProblem(err, limit)
	}
	a.arrived()
	if c.spooled.Spooled() {
		c.restart()
	}
	return c.parseSpooled()
}

func asBodyProblem(err error, limit int64) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge(limit)
	}
	if _, ok := errors.AsType[*problem.Problem](err); ok || errors.Is(err, spool.ErrDiskFull) {
		return overBudget(err)
	}
	return problem.Invalid("body", "The body could not be read to its end.").WithCause(err)
}

// parseSpooled brings the body into memory, without the long texts that the
// operation reads from where they are.
func (c *Call) parseSpooled() (err error) {
	var text []byte
	if len(c.Op.Detach) == 0 {
		if err := c.reserveParsed(c.spooled.Size()); err != nil {
			return err
		}
		text, err = c.spooled.Bytes()
		if err == nil && len(c.Op.Raw) > 0 {
			c.body, c.request.Body = text, io.NopCloser(bytes.NewReader(text))
			return nil
		}
	} else {
		text, c.detached, err = c.spooled.Detach(c.Op.Detach, defaultMaxBody)
		if err == nil {
			err = c.reserveParsed(int64(len(text)))
		}
	}
	switch {
	case errors.Is(err, spool.ErrTextTooLong):
		return tooLarge(defaultMaxBody)
	case errors.Is(err, spool.ErrTooDeep):
		return problem.Invalid("body", "The JSON is nested too deeply.")
	case err != nil:
		return fmt.Errorf("failed to read a body that was spooled: %w", err)
	}
	return c.take(text)
}

// reserveParsed counts what becomes of so many bytes of JSON.
func (c *Call) reserveParsed(size int64) error {
	n := (parsedWeight - 1) * size
	if c.spooled.Spooled() { // no byte of it is in memory yet
		c.held.Release()
		n += size
	}
	if size <= smallBody {
		c.held.Take(n)
		return nil
	}
	return overBudget(c.held.Grow(n))
}

// letGo gives back what the request held of memory, files and the budget.
func (c *Call) letGo() {
	c.upload.discard()
	c.spooled.Close()
	c.stored.Release()
	c.held.Release()
}

// droppedByServer is how much of a body net/http reads and drops by itself.
const droppedByServer = 256 << 10

// leavesMuch says whether the request has a body that is not read yet and that net/http
// does not drop by itself.
func (c *Call) leavesMuch() bool {
	small := c.request.ContentLength >= 0 && c.request.ContentLength <= droppedByServer
	return c.request.Body != nil && !small && c.spooled == nil && c.Op != nil && c.Op.hasBody()
}

// linger drops the rest of a body that was refused before it was read. A connection
// that is closed in the face of a sender may take the answer along.
func (c *Call) linger() {
	control := http.NewResponseController(c.writer)
	if control.EnableFullDuplex() != nil || control.Flush() != nil || control.SetReadDeadline(time.Now().Add(lingerWithin)) != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, c.request.Body, lingerOver) // it is not wanted
}
