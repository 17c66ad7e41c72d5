package endpoint

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"strings"
	"time"
)

// answer does what the behaviour says with a request that does not fail.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, b *Behaviour) {
	if b.Latency > 0 && !wait(r.Context(), b.Latency) {
		panic(http.ErrAbortHandler)
	}
	switch {
	case b.Hang:
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	case b.Reset:
		s.seize(w, reset)
	case b.Trickle > 0:
		s.seize(w, func(conn *tls.Conn) { trickle(r.Context(), conn, b.Trickle) })
	case b.CloseMidway:
		w.Header().Set("Content-Length", "1000000")
		writeHeader(w, b)
		_, _ = w.Write([]byte("Once upon a time"))
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case b.Endless:
		writeHeader(w, b)
		for chunk, err := bytes.Repeat([]byte("more "), 1000), error(nil); err == nil; {
			_, err = w.Write(chunk)
		}
	default:
		writeHeader(w, b)
	}
}

func writeHeader(w http.ResponseWriter, b *Behaviour) {
	if b.RetryAfter != "" {
		w.Header().Set("Retry-After", b.RetryAfter)
	}
	if b.Location != "" {
		w.Header().Set("Location", b.Location)
	}
	if b.GiganticHeader {
		w.Header().Set("X-Padding", strings.Repeat("x", 1<<20))
	}
	w.WriteHeader(cmp.Or(b.Status, http.StatusOK))
}

// seize takes a connection away from net/http, which neither ends nor tracks
// it from then on.
func (s *Server) seize(w http.ResponseWriter, use func(*tls.Conn)) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer s.conns.Done()
	defer func() { _ = conn.Close() }()
	use(conn.(*tls.Conn))
}

// reset closes below TLS, which would say goodbye first.
func reset(conn *tls.Conn) {
	tcp := conn.NetConn().(*net.TCPConn)
	_ = tcp.SetLinger(0)
	_ = tcp.Close()
}

// trickle writes until the client goes away.
func trickle(ctx context.Context, conn *tls.Conn, each time.Duration) {
	header := []byte("HTTP/1.1 200 OK\r\nX-Padding: ")
	for n := 0; wait(ctx, each); n++ {
		next := byte('x')
		if n < len(header) {
			next = header[n]
		}
		if _, err := conn.Write([]byte{next}); err != nil {
			return
		}
	}
}

// wait reports whether all of the time went by.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
