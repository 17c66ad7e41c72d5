package egress_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/egress"
)

var localhost = netip.MustParseAddr("127.0.0.1")

// post makes one attempt with a small body.
func post(t *testing.T, g *egress.Guard, raw string) (egress.Reply, error) {
	t.Helper()
	target, err := g.Target(raw)
	require.NoError(t, err)
	return target.Post(t.Context(), nil, []byte("{}"))
}

// onConnection answers with bytes that net/http's server would correct.
func onConnection(answer func(conn net.Conn)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		answer(conn)
	}
}

// writeOn writes the text over and over, with pauses if any, until nobody listens.
// It returns how many bytes it got rid of.
func writeOn(conn net.Conn, text string, pause time.Duration) (written int) {
	for {
		n, err := io.WriteString(conn, text)
		written += n
		if err != nil {
			return written
		}
		if pause > 0 {
			<-time.After(pause)
		}
	}
}

func TestPost(t *testing.T) {
	type seen struct {
		line, host, body string
		header           http.Header
	}
	var got seen
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = seen{r.Method + " " + r.RequestURI, r.Host, string(body), r.Header.Clone()}
		w.Header().Set("Retry-After", "120")
		w.WriteHeader(http.StatusAccepted)
	})
	target, err := guardFor(t, s).Target(s.named() + "/a%2Fb?c=d#e")
	require.NoError(t, err)
	reply, err := target.Post(t.Context(), http.Header{"X-Event": {"e"}, "Host": {"internal.example"}}, []byte("payload"))
	require.NoError(t, err)
	require.Equal(t, egress.Reply{Status: http.StatusAccepted, RetryAfter: "120", Addr: localhost}, reply)
	require.Equal(t, seen{
		line: "POST /a%2Fb?c=d",
		host: strings.TrimPrefix(s.named(), "https://"),
		body: "payload",
		header: http.Header{
			"X-Event": {"e"}, "Content-Length": {"7"}, "User-Agent": {"Visavis"},
		},
	}, got)

	_, err = target.Post(t.Context(), http.Header{"User-Agent": {"Visavis-Hook"}}, nil)
	require.NoError(t, err)
	require.Equal(t, "Visavis-Hook", got.header.Get("User-Agent"))
	require.Empty(t, got.body)
}

func TestTargetChecksTheForm(t *testing.T) {
	guard := egress.New(egress.Options{})
	_, err := guard.Target("http://example.com/")
	var invalid *egress.InvalidURLError
	require.ErrorAs(t, err, &invalid)
	_, err = guard.Target("https://127.0.0.1/")
	var refused *egress.RefusedError
	require.ErrorAs(t, err, &refused)
}

func TestPostToALiteralNeedsNoLookup(t *testing.T) {
	s := serve(t, hello)
	names := resolvesTo("127.0.0.1")
	reply, err := post(t, guardFor(t, s, func(o *egress.Options) { o.Resolver = names }), s.URL)
	require.NoError(t, err)
	require.Equal(t, egress.Reply{Status: http.StatusOK, Addr: localhost}, reply)
	require.Zero(t, names.lookups.Load())
}

func TestEveryStatusButARedirectIsAReply(t *testing.T) {
	for _, status := range []int{101, 200, 204, 206, 299, 300, 304, 305, 306, 309, 400, 410, 429, 500, 503, 599, 999} {
		s := serve(t, onConnection(func(conn net.Conn) {
			fmt.Fprintf(conn, "HTTP/1.1 %d Said\r\nConnection: Upgrade\r\nUpgrade: x\r\nContent-Length: 0\r\n\r\n", status)
		}))
		reply, err := post(t, guardFor(t, s), s.named())
		require.NoError(t, err, status)
		require.Equal(t, egress.Reply{Status: status, Addr: localhost}, reply)
	}
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/target" {
				t.Error("the redirect was followed")
			}
			w.Header().Set("Location", "/target")
			w.WriteHeader(status)
		})
		reply, err := post(t, guardFor(t, s), s.named())
		require.ErrorIs(t, err, egress.ErrRedirect)
		require.Equal(t, egress.Reply{Status: status, Addr: localhost}, reply)
	}
}

func TestPostKeepsItsConnection(t *testing.T) {
	for name, tc := range map[string]struct {
		handler http.HandlerFunc
		kept    bool
	}{
		"no body":    {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, true},
		"small body": {hello, true},
		"unannounced small body": {func(w http.ResponseWriter, _ *http.Request) {
			w.(http.Flusher).Flush()
			_, _ = io.WriteString(w, "hello")
		}, true},
		"as large as is read": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "16384")
			_, _ = io.WriteString(w, strings.Repeat("x", 16<<10))
		}, true},
		"a byte more": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "16385")
			_, _ = io.WriteString(w, strings.Repeat("x", 16<<10+1))
		}, false},
		"redirect": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusFound) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, tc.handler)
			guard := guardFor(t, s)
			for range 3 {
				if _, err := post(t, guard, s.named()); err != nil {
					require.ErrorIs(t, err, egress.ErrRedirect)
				}
			}
			require.Equal(t, tc.kept, s.connections.Load() == 1, s.connections.Load())
		})
	}
}

// Two names of one address share no connection: its certificate was checked for
// one of them.
func TestConnectionsAreOfOneHost(t *testing.T) {
	s := serve(t, hello)
	guard := guardFor(t, s)
	_, err := post(t, guard, s.named())
	require.NoError(t, err)
	_, err = post(t, guard, strings.Replace(s.named(), "example.com", "example.org", 1))
	var certificate *tls.CertificateVerificationError
	require.ErrorAs(t, err, &certificate)
	require.EqualValues(t, 2, s.connections.Load())
}

func TestTheBodyOfAReplyCostsLittle(t *testing.T) {
	chunked := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	for name, answer := range map[string]func(net.Conn) (written int){
		"endless": func(conn net.Conn) int {
			io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
			return writeOn(conn, strings.Repeat("x", 16<<10), 0)
		},
		"endless in chunks": func(conn net.Conn) int {
			io.WriteString(conn, chunked)
			return writeOn(conn, "1\r\nx\r\n", 0)
		},
		"gigantic": func(conn net.Conn) int {
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n")
			return writeOn(conn, strings.Repeat("x", 16<<10), 0)
		},
		"trickle": func(conn net.Conn) int {
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
			return writeOn(conn, "x", 10*time.Millisecond)
		},
		"silent": func(conn net.Conn) int {
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
			return awaitEnd(conn)
		},
		"endless trailer": func(conn net.Conn) int {
			io.WriteString(conn, chunked+"0\r\n")
			return writeOn(conn, "X: y\r\n", 0)
		},
		"another protocol": func(conn net.Conn) int {
			io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
			return awaitEnd(conn)
		},
		"mid-way close": func(conn net.Conn) int {
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nxxx")
			return 0
		},
		"broken": func(conn net.Conn) int {
			io.WriteString(conn, chunked+"gibberish\r\n")
			return awaitEnd(conn)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			written := make(chan int, 1)
			s := serve(t, onConnection(func(conn net.Conn) { written <- answer(conn) }))
			begin := time.Now()
			reply, err := post(t, guardFor(t, s, func(o *egress.Options) { o.Timeout = time.Minute }), s.named())
			require.NoError(t, err)
			require.Contains(t, []int{101, 200}, reply.Status)
			require.Equal(t, localhost, reply.Addr)
			require.Less(t, time.Since(begin), 20*time.Second)
			// It ends since the connection was dropped. What was not read is in the
			// system's buffers.
			require.Less(t, <-written, 16<<20)
		})
	}
}

// awaitEnd returns when the other side has closed the connection.
func awaitEnd(conn net.Conn) int {
	_, _ = io.Copy(io.Discard, conn)
	return 0
}

func TestTheBodyOfAReplyIsWithinTheTimeout(t *testing.T) {
	s := serve(t, onConnection(func(conn net.Conn) {
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
		writeOn(conn, "x", 10*time.Millisecond)
	}))
	begin := time.Now()
	reply, err := post(t, guardFor(t, s, func(o *egress.Options) { o.Timeout = 200 * time.Millisecond }), s.named())
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, reply.Status)
	require.Less(t, time.Since(begin), 5*time.Second, "the whole would take ten")
}

func TestTheHeaderOfAReplyIsBounded(t *testing.T) {
	for name, tc := range map[string]struct {
		answer func(net.Conn)
		slow   bool
	}{
		"huge": {answer: func(conn net.Conn) {
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nX: ")
			writeOn(conn, strings.Repeat("x", 4096), 0)
		}},
		"many": {answer: func(conn net.Conn) {
			io.WriteString(conn, "HTTP/1.1 200 OK\r\n")
			writeOn(conn, "X: y\r\n", 0)
		}},
		"informational": {answer: func(conn net.Conn) { writeOn(conn, "HTTP/1.1 103 Early Hints\r\n\r\n", 0) }},
		"trickle": {slow: true, answer: func(conn net.Conn) {
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nX: ")
			writeOn(conn, "x", 10*time.Millisecond)
		}},
		"informational trickle": {slow: true, answer: func(conn net.Conn) {
			writeOn(conn, "HTTP/1.1 100 Continue\r\n\r\n", 10*time.Millisecond)
		}},
		"silent":   {slow: true, answer: func(conn net.Conn) { awaitEnd(conn) }},
		"none":     {answer: func(net.Conn) {}},
		"not HTTP": {answer: func(conn net.Conn) { io.WriteString(conn, "220 mail.example ESMTP\r\n") }},
		"two bodies": {answer: func(conn net.Conn) {
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, onConnection(tc.answer))
			guard := guardFor(t, s, func(o *egress.Options) {
				if tc.slow {
					o.Timeout = 300 * time.Millisecond
				}
			})
			reply, err := post(t, guard, s.named())
			require.Equal(t, egress.Reply{Addr: localhost}, reply)
			if tc.slow {
				require.ErrorIs(t, err, egress.ErrTimeout)
				return
			}
			var network *egress.NetworkError
			require.ErrorAs(t, err, &network)
		})
	}
	t.Run("a few informational ones", func(t *testing.T) {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			for range 20 {
				w.WriteHeader(http.StatusEarlyHints)
			}
			w.WriteHeader(http.StatusCreated)
		})
		reply, err := post(t, guardFor(t, s), s.named())
		require.NoError(t, err)
		require.Equal(t, http.StatusCreated, reply.Status)
	})
}

func TestPostReportsTheAddressOfAFailure(t *testing.T) {
	s := serve(t, hello)
	for name, tc := range map[string]struct {
		change func(*egress.Options)
		addr   netip.Addr
	}{
		"untrusted":     {func(o *egress.Options) { o.RootCAs = nil }, localhost},
		"refused":       {func(o *egress.Options) { o.Allow = nil }, netip.Addr{}},
		"not there":     {func(o *egress.Options) { o.Resolver = resolvesTo("127.0.0.2") }, netip.Addr{}},
		"no such name":  {func(o *egress.Options) { o.Resolver = resolvesTo() }, netip.Addr{}},
		"silent lookup": {func(o *egress.Options) { o.Resolver, o.Timeout = silent{}, 20*time.Millisecond }, netip.Addr{}},
	} {
		t.Run(name, func(t *testing.T) {
			reply, err := post(t, guardFor(t, s, tc.change), s.named())
			require.Error(t, err)
			require.NotContains(t, err.Error(), "127.0.0")
			require.Equal(t, egress.Reply{Addr: tc.addr}, reply)
		})
	}
}

func TestASilentHandshakeTimesOut(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() }) // which the waiting connection goes with
	guard := egress.New(egress.Options{Allow: loopback, Timeout: 50 * time.Millisecond})
	reply, err := post(t, guard, "https://"+listener.Addr().String())
	require.ErrorIs(t, err, egress.ErrTimeout)
	require.Equal(t, egress.Reply{Addr: localhost}, reply)
}

// Many times, because the server answers when it sees the connection close, which
// now and then is in time.
func TestGivingUpIsNotAnAnswer(t *testing.T) {
	var cancel context.CancelFunc
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		cancel()
		<-r.Context().Done()
	})
	target, err := guardFor(t, s).Target(s.named())
	require.NoError(t, err)
	for range 200 {
		ctx, stop := context.WithCancel(t.Context())
		cancel = stop
		for range 2 { // while it runs, and before
			_, err = target.Post(ctx, nil, nil)
			require.ErrorIs(t, err, context.Canceled)
		}
	}

	impatient, err := guardFor(t, s, func(o *egress.Options) { o.Timeout = 10 * time.Millisecond }).Target(s.named())
	require.NoError(t, err)
	cancel = func() {}
	for range 20 {
		_, err = impatient.Post(t.Context(), nil, nil)
		require.ErrorIs(t, err, egress.ErrTimeout)
	}
}

// A server that hangs up on a kept connection may have acted on the request, which
// therefore is not sent again.
func TestARequestIsSentOnce(t *testing.T) {
	var requests atomic.Int32
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if requests.Add(1) > 1 {
			panic(http.ErrAbortHandler)
		}
	})
	guard := guardFor(t, s)
	_, err := post(t, guard, s.named())
	require.NoError(t, err)
	_, err = post(t, guard, s.named())
	var network *egress.NetworkError
	require.ErrorAs(t, err, &network)
	require.EqualValues(t, 2, requests.Load())
}

// A server may answer before it has read the request.
func TestAnEarlyReplyIsAReply(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusRequestEntityTooLarge) })
	target, err := guardFor(t, s).Target(s.named())
	require.NoError(t, err)
	reply, err := target.Post(t.Context(), nil, make([]byte, 200<<10))
	require.NoError(t, err)
	require.Equal(t, http.StatusRequestEntityTooLarge, reply.Status)
}

func TestATargetIsSafeForConcurrentUse(t *testing.T) {
	s := serve(t, hello)
	names := resolvesTo("127.0.0.1")
	guard := guardFor(t, s, func(o *egress.Options) { o.MaxIdlePerHost, o.Resolver, o.Remember = 8, names, time.Minute })
	target, err := guard.Target(s.named())
	require.NoError(t, err)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				reply, err := target.Post(t.Context(), nil, []byte("{}"))
				if err != nil || reply.Status != http.StatusOK {
					t.Errorf("got %v, %v", reply, err)
				}
			}
		})
	}
	// A request of the other kind at the same time.
	_, err = guard.Fetch(t.Context(), s.URL, 100)
	require.NoError(t, err)
	group.Wait()
	require.Less(t, s.connections.Load(), int32(100), "of 401 requests")
	require.EqualValues(t, 1, names.lookups.Load())
}
