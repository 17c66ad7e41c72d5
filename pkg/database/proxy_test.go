package database_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// moment is when a proxy breaks a connection.
type moment int

const (
	// unsent breaks it in place of forwarding a statement.
	unsent moment = iota
	// unanswered breaks it when the server has run the statement, in place of
	// forwarding the answer.
	unanswered
)

// proxy stands between a pool and the server, speaks just enough of the
// protocol to know one message from the next, and breaks connections.
type proxy struct {
	listener net.Listener
	server   string
	// cockroach makes the server look like CockroachDB.
	cockroach atomic.Bool
	accepted  atomic.Int32

	mu        sync.Mutex
	statement string
	when      moment
	left      int

	group sync.WaitGroup
	conns map[net.Conn]struct{}
}

func newProxy(t *testing.T, server string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{listener: l, server: server, conns: map[net.Conn]struct{}{}}
	p.group.Go(p.serve)
	t.Cleanup(func() {
		_ = l.Close()
		p.cutAll()
		p.group.Wait()
	})
	return p
}

func (p *proxy) address() string { return p.listener.Addr().String() }

// breakAt breaks the connection at the next n statements that contain a text.
func (p *proxy) breakAt(statement string, when moment, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.statement, p.when, p.left = statement, when, n
}

func (p *proxy) faultAt(message []byte) (when moment, now bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left == 0 || !bytes.Contains(message, []byte(p.statement)) {
		return 0, false
	}
	p.left--
	return p.when, true
}

// cutAll breaks every connection.
func (p *proxy) cutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
}

func (p *proxy) serve() {
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
		p.accepted.Add(1)
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
	proxy          *proxy
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
		if when, now := l.proxy.faultAt(message); now {
			if when == unsent {
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
		if ready && first && l.proxy.cockroach.Load() {
			message = append(parameter("crdb_version", "CockroachDB CCL v25"), message...)
		}
		first = first && !ready
		if _, err := l.client.Write(message); err != nil {
			return
		}
	}
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
