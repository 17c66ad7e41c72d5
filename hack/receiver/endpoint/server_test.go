package endpoint

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCertificates(t *testing.T) {
	s, client := start(t, Options{Names: []string{"receiver.test"}})
	assert.Equal(t, http.StatusOK, deliver(t, client, s.URL("/a"), "evt_1"))
	_, port, err := net.SplitHostPort(s.good)
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, deliver(t, client, "https://localhost:"+port+"/a", "evt_1"))

	transport := client.Transport.(*http.Transport)
	transport.TLSClientConfig.ServerName = "receiver.test"
	assert.Equal(t, http.StatusOK, deliver(t, client, s.URL("/named"), "evt_1"))
	transport.TLSClientConfig.ServerName = ""

	_, err = client.Get(s.WrongURL("/a"))
	require.ErrorAs(t, err, new(x509.HostnameError))
	_, err = client.Get(s.UntrustedURL("/a"))
	require.ErrorAs(t, err, new(x509.UnknownAuthorityError))
	_, err = client.Get(s.ExpiredURL("/a"))
	invalid, ok := errors.AsType[x509.CertificateInvalidError](err)
	require.True(t, ok, err)
	assert.Equal(t, x509.Expired, invalid.Reason)
	assert.Equal(t, 2, s.Count("/a").Requests)
}

func TestCA(t *testing.T) {
	s, _ := start(t, Options{})
	block, rest := pem.Decode(s.CA())
	require.NotNil(t, block)
	assert.Empty(t, rest)
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(s.CA()))
	assert.True(t, pool.Equal(s.RootCAs()))
}

func TestAddr(t *testing.T) {
	s, client := start(t, Options{Addr: "0.0.0.0:0"})
	u, err := url.Parse(s.URL("/a"))
	require.NoError(t, err)
	assert.Equal(t, "localhost", u.Hostname())
	assert.Equal(t, http.StatusOK, deliver(t, client, s.URL("/a"), "evt_1"))

	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	_, err = Start(Options{Addr: taken.Addr().String()})
	require.Error(t, err)
	_, err = Start(Options{Addr: "nonsense"})
	require.Error(t, err)
}

func TestCloseTwice(t *testing.T) {
	s, _ := start(t, Options{})
	s.Close()
	s.Close()
}
