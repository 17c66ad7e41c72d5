package endpoint

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "whsec_of_a_test"

// start is a server, and a client that trusts it and follows no redirect.
func start(t *testing.T, o Options) (*Server, *http.Client) {
	t.Helper()
	s, err := Start(o)
	require.NoError(t, err)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: s.RootCAs()}}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		s.Close()
	})
	return s, &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// delivery is a request as the service makes it.
func delivery(t testing.TB, url, id, secret string, at time.Time) *http.Request {
	body := fmt.Appendf(nil, `{"id":%q,"type":"lead.created","data":{"type":"inner","score":1}}`, id)
	r, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	require.NoError(t, err)
	timestamp := strconv.FormatInt(at.UnixMilli(), 10)
	r.Header.Set(headerTimestamp, timestamp)
	r.Header.Set(headerSignature, sign(secret, timestamp, body))
	r.Header.Set(headerEvent, "lead.created")
	r.Header.Set(headerEventID, id)
	r.Header.Set(headerDelivery, "whd_1")
	return r
}

// deliver sends an event and answers its status.
func deliver(t *testing.T, client *http.Client, url, id string) int {
	t.Helper()
	return send(t, client, delivery(t, url, id, secret, time.Now()))
}

func send(t *testing.T, client *http.Client, r *http.Request) int {
	t.Helper()
	response, err := client.Do(r)
	require.NoError(t, err)
	response.Body.Close()
	return response.StatusCode
}
