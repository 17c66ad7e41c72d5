package databasetest

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5"
)

// Crash is a tracer that makes one of a pool's statements fail, as it does for a process
// that dies there.
type Crash struct {
	mu   sync.Mutex
	in   int
	dies bool
}

// Arm makes the in-th statement from now on fail; zero makes none. It answers whether
// the one that was to fail before did.
func (c *Crash) Arm(in int) (failed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	failed = c.in < 0
	c.in, c.dies = in, false
	return failed
}

// Kill is Arm of a process that does nothing any more after the statement either, until
// it is armed again.
func (c *Crash) Kill(in int) {
	c.Arm(in)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dies = true
}

func (c *Crash) next(ctx context.Context) context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.in == 0 || c.in < 0 && !c.dies {
		return ctx
	}
	if c.in--; c.in > 0 {
		return ctx
	}
	c.in = -1
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx
}

// TraceQueryStart is part of pgx.QueryTracer.
func (c *Crash) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return c.next(ctx)
}

// TraceQueryEnd is part of pgx.QueryTracer.
func (*Crash) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TraceBatchStart is part of pgx.BatchTracer.
func (c *Crash) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return c.next(ctx)
}

// TraceBatchQuery is part of pgx.BatchTracer.
func (*Crash) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd is part of pgx.BatchTracer.
func (*Crash) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}
