package databasetest

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// Moment is when a Proxy breaks a connection.
type Moment int

// The moments.
const (
	// Unsent breaks it in place of forwarding a statement.
	Unsent Moment = iota
	// Unanswered breaks it when the server has run the statement, in place of
	// forwarding the answer.
	Unanswered
)

// Proxy stands between a pool and the server, speaks just enough of the
// protocol to know one message from the next, and breaks connections.
type Proxy struct {
	listener net.Listener
	server   string
	// Cockroach makes the server look like CockroachDB, and Hidden like one behind a
	// pooler that keeps what it reports to itself.
	Cockroach, Hidden atomic.Bool
	// Version is what it answers to be; empty for what it is.
	Version atomic.Pointer[string]
	// Largest is the length of the longest message to the server.
	Largest atomic.Int64
	// Accepted counts connections.
	Accepted atomic.Int32

	mu        sync.Mutex
	statement string
	when      Moment
	left      int

	group sync.WaitGroup
	conns map[net.Conn]struct{}
}

// NewProxy stands before a server until the test ends.
func NewProxy(t testing.TB, server string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{listener: l, server: server, conns: map[net.Conn]struct{}{}}
	p.group.Go(p.serve)
	t.Cleanup(func() {
		_ = l.Close()
		p.CutAll()
		p.group.Wait()
	})
	return p
}

// Address is where it listens.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// BreakAt breaks the connection at the next n statements that contain a text.
func (p *Proxy) BreakAt(statement string, when Moment, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.statement, p.when, p.left = statement, when, n
}

func (p *Proxy) faultAt(message []byte) (when Moment, now bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left == 0 || !bytes.Contains(message, []byte(p.statement)) {
		return 0, false
	}
	p.left--
	return p.when, true
}

// CutAll breaks every connection.
func (p *Proxy) CutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
}

func (p *Proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.Accepted.Add(1)
		p.mu.Lock()
		p.conns[client], p.conns[server] = struct{}{}, struct{}{}
		p.mu.Unlock()
		l := &link{proxy: p, client: client, server: server}
		p.group.Go(l.requests)
		p.group.Go(l.answers)
	}
}

// link is one connection through a proxy.
type link struct {
	proxy          *Proxy
	client, server net.Conn
	swallow        atomic.Bool
}

func (l *link) cut() {
	_ = l.client.Close()
	_ = l.server.Close()
}

func (l *link) requests() {
	defer l.cut()
	// The first message has no type.
	message, err := readMessage(l.client, 0)
	for err == nil {
		if n := int64(len(message)); n > l.proxy.Largest.Load() {
			l.proxy.Largest.Store(n)
		}
		if when, now := l.proxy.faultAt(message); now {
			if when == Unsent {
				return
			}
			l.swallow.Store(true)
		}
		if _, err = l.server.Write(message); err != nil {
			return
		}
		message, err = readMessage(l.client, 1)
	}
}

func (l *link) answers() {
	defer l.cut()
	for first := true; ; {
		message, err := readMessage(l.server, 1)
		if err != nil {
			return
		}
		ready := message[0] == 'Z'
		if l.swallow.Load() {
			if ready {
				return
			}
			continue
		}
		if l.proxy.Cockroach.Load() {
			switch {
			case ready && first && !l.proxy.Hidden.Load():
				message = append(parameter("crdb_version", cockroachVersion), message...)
			case bytes.Contains(message, []byte("PostgreSQL ")):
				message = l.disguised(message)
			}
		}
		first = first && !ready
		if _, err := l.client.Write(message); err != nil {
			return
		}
	}
}

const cockroachVersion = "CockroachDB CCL v25.1.0 (x86_64-pc-linux-gnu)"

// disguised is the answer to what a server is, of CockroachDB: its version, no locks, and the
// isolation of its transactions.
func (l *link) disguised(message []byte) []byte {
	if message[0] != 'D' {
		return message
	}
	version := cockroachVersion
	if v := l.proxy.Version.Load(); v != nil {
		version = *v
	}
	body := binary.BigEndian.AppendUint16(nil, 3)
	for _, value := range []string{version, "f", "serializable"} {
		body = append(binary.BigEndian.AppendUint32(body, uint32(len(value))), value...)
	}
	return append(binary.BigEndian.AppendUint32([]byte{'D'}, uint32(len(body)+4)), body...)
}

// readMessage reads a whole message: a type of some bytes, a length, a body.
func readMessage(r io.Reader, typeSize int) ([]byte, error) {
	head := make([]byte, typeSize+4)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	body := make([]byte, binary.BigEndian.Uint32(head[typeSize:])-4)
	_, err := io.ReadFull(r, body)
	return append(head, body...), err
}

// parameter is the message that reports a setting of the server.
func parameter(name, value string) []byte {
	body := name + "\x00" + value + "\x00"
	message := binary.BigEndian.AppendUint32([]byte{'S'}, uint32(len(body)+4))
	return append(message, body...)
}
