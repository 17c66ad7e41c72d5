package endpoint

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// connections is how many keep alive at a time.
const connections = 50

// BenchmarkReceive sends signed events, each of its own, over raw connections,
// so that most of what is measured is the receiver.
func BenchmarkReceive(b *testing.B) {
	for name, o := range map[string]Options{
		"count": {CountOnly: true, Default: Behaviour{Secret: secret}},
		"keep":  {Default: Behaviour{Secret: secret}},
	} {
		b.Run(name, func(b *testing.B) { receive(b, o) })
	}
}

func receive(b *testing.B, o Options) {
	s, err := Start(o)
	require.NoError(b, err)
	defer s.Close()
	var conns []*tls.Conn
	for range connections {
		conn, err := tls.Dial("tcp", s.good, &tls.Config{RootCAs: s.RootCAs()})
		require.NoError(b, err)
		defer conn.Close()
		conns = append(conns, conn)
	}
	data := strings.Repeat("x", 400)
	var (
		next  atomic.Int64
		group sync.WaitGroup
	)
	b.ResetTimer()
	for _, conn := range conns {
		group.Go(func() {
			in := bufio.NewReader(conn)
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				if err := exchange(conn, in, n, data); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	b.StopTimer()
	require.Equal(b, b.N, s.Count("/a").Verified)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s")
}

func exchange(out io.Writer, in *bufio.Reader, n int64, data string) error {
	body := fmt.Appendf(nil, `{"id":"evt_%016d","type":"lead.created","data":%q}`, n, data)
	timestamp := strconv.FormatInt(time.Now().UnixMilli(), 10)
	var request bytes.Buffer
	fmt.Fprintf(&request, "POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"+
		"X-Service-Signature: %s\r\nX-Service-Timestamp: %s\r\nX-Service-Event: lead.created\r\n"+
		"X-Service-Event-Id: evt_%016d\r\nX-Service-Delivery-Id: whd_%d\r\n\r\n%s",
		len(body), sign(secret, timestamp, body), timestamp, n, n, body)
	if _, err := out.Write(request.Bytes()); err != nil {
		return err
	}
	response, err := http.ReadResponse(in, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", response.StatusCode)
	}
	_, err = io.Copy(io.Discard, response.Body)
	return err
}
