package databasetest

import (
	"net"
	"net/url"
	"sync"
	"testing"
	"time"
)

// Front stands before a database and makes it misbehave: frozen as a server that was
// stopped by a signal, which accepts connections and never answers, or slow.
type Front struct {
	// URL is the database's, through the front.
	URL string

	server   string
	listener net.Listener
	group    sync.WaitGroup

	mu sync.Mutex
	// thawed is closed while it is not frozen.
	thawed chan struct{}
	delay  time.Duration
	conns  map[net.Conn]struct{}
	dials  int
	closed chan struct{}
}

// NewFront makes a front of a database, which passes everything on until it is told otherwise.
func NewFront(t testing.TB, database string) *Front {
	t.Helper()
	to, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &Front{server: to.Host, listener: l, thawed: make(chan struct{}), conns: map[net.Conn]struct{}{}, closed: make(chan struct{})}
	close(f.thawed)
	to.Host = l.Addr().String()
	f.URL = to.String()
	f.group.Go(f.accept)
	t.Cleanup(f.close)
	return f
}

// Dead is the address of a database whose server refuses connections.
func Dead(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return "postgres://nobody@" + l.Addr().String() + "/none?sslmode=disable"
}

// Freeze makes it answer nothing any more, on connections old and new.
func (f *Front) Freeze() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.thawed = make(chan struct{})
}

// Thaw makes it go on, with all that it was sent meanwhile.
func (f *Front) Thaw() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.thawed)
}

// Dials is how many connections were made to it so far. Whoever gives a frozen database up
// makes another: to cancel what it asked, or to ask again.
func (f *Front) Dials() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.dials
}

// Slow makes every answer take so much longer.
func (f *Front) Slow(delay time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.delay = delay
}

// Die breaks every connection and refuses new ones.
func (f *Front) Die() {
	_ = f.listener.Close()
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.conns {
		_ = c.Close()
	}
}

func (f *Front) close() {
	close(f.closed)
	f.Die()
	f.group.Wait()
}

func (f *Front) accept() {
	for {
		client, err := f.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", f.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		f.mu.Lock()
		f.conns[client], f.conns[server] = struct{}{}, struct{}{}
		f.dials++
		f.mu.Unlock()
		f.group.Go(func() { f.pass(server, client, false) })
		f.group.Go(func() { f.pass(client, server, true) })
	}
}

// pass passes on what one side sends; of a server, as late as it is to be.
func (f *Front) pass(to, from net.Conn, answers bool) {
	defer func() {
		_ = to.Close()
		_ = from.Close()
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.conns, from)
	}()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && f.wait(answers) {
			_, err = to.Write(buffer[:n])
		}
		if err != nil {
			return
		}
	}
}

// wait waits as long as the database is to; false where the front was closed.
func (f *Front) wait(answers bool) bool {
	f.mu.Lock()
	thawed, delay := f.thawed, f.delay
	f.mu.Unlock()
	if answers && delay > 0 {
		select {
		case <-time.After(delay):
		case <-f.closed:
			return false
		}
	}
	select {
	case <-thawed:
		return true
	case <-f.closed:
		return false
	}
}
