package telemetry

import (
	"bufio"
	"io"
	"sync"
	"time"
)

// flushEvery is how long a line can wait in memory.
const flushEvery = 100 * time.Millisecond

// Buffer gathers a log's lines into fewer writes, which at thousands of
// requests a second is a part of what a request costs. A crash loses a tenth
// of a second of lines at most; a fault of the program is written at once,
// because the runtime writes it by itself.
type Buffer struct {
	mu      sync.Mutex
	under   io.Writer
	w       *bufio.Writer
	pending *time.Timer
}

// NewBuffer gathers lines for a writer.
func NewBuffer(w io.Writer) *Buffer { return &Buffer{under: w, w: bufio.NewWriterSize(w, 64<<10)} }

// Write takes a line, to be written within a tenth of a second.
func (b *Buffer) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pending == nil {
		b.pending = time.AfterFunc(flushEvery, func() { _ = b.Flush() })
	}
	return b.w.Write(line)
}

// Flush writes what was gathered.
func (b *Buffer) Flush() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pending = nil
	err := b.w.Flush()
	if err != nil {
		// The lines are lost, those to come need not be.
		b.w.Reset(b.under)
	}
	return err
}
