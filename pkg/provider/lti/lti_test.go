package lti_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/provider/lti"
	"visavis.dev/pkg/provider/lti/ltitest"
)

// known is what finds the keys of a platform.
type known struct {
	*ltitest.Platform
	t     *testing.T
	clock *clocktest.FakeClock
	keys  *lti.Keys
}

func newKnown(t *testing.T) *known {
	t.Helper()
	k := &known{Platform: ltitest.New(t), t: t, clock: clocktest.NewFakeClock(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))}
	k.Clock = k.clock.Now
	k.keys = lti.NewKeys(k.Guard(), k.clock)
	return k
}

// verify reads a launch whose token names a key.
func (k *known) verify(ctx context.Context, key string, claims func(jwt.MapClaims)) (lti.Launch, error) {
	k.t.Helper()
	c := k.Launch("n")
	if claims != nil {
		claims(c)
	}
	token := jwt.NewWithClaims(jwt.SigningMethodRS256, c)
	token.Header["kid"] = key
	signed, err := token.SignedString(k.Key)
	require.NoError(k.t, err)
	return k.keys.Verify(ctx, lti.Platform{
		Issuer: k.URL, ClientID: ltitest.ClientID, Deployments: []string{ltitest.Deployment}, KeysURL: k.URL + "/keys",
	}, signed, "n")
}

// Whoever names a key that there is not keeps nobody else out, however slow the platform is then, or
// whether it is there at all.
func TestKeysAreKeptUntilOthersAreRead(t *testing.T) {
	t.Parallel()
	k := newKnown(t)
	_, err := k.verify(t.Context(), "1", nil)
	require.NoError(t, err)

	var away atomic.Bool
	asked, answer := make(chan struct{}, 1), make(chan struct{})
	k.KeysAway = func() bool {
		asked <- struct{}{}
		<-answer
		return away.Load()
	}
	away.Store(true)
	k.clock.Step(time.Minute)
	bogus := make(chan error, 1)
	go func() {
		_, err := k.verify(context.WithoutCancel(t.Context()), "bogus", nil)
		bogus <- err
	}()
	<-asked
	_, err = k.verify(t.Context(), "1", nil)
	require.NoError(t, err, "it is known, and nobody waits for it")
	close(answer)
	require.ErrorIs(t, <-bogus, lti.ErrUnreachable)
	_, err = k.verify(t.Context(), "1", nil)
	require.NoError(t, err)
	require.Equal(t, 2, k.Reads())

	// Those who make up keys have it asked once a minute at most, also while it is away.
	k.KeysAway = away.Load
	for range 120 {
		k.clock.Step(time.Second)
		_, err = k.verify(t.Context(), "bogus", nil)
		require.ErrorIs(t, err, lti.ErrUnreachable)
	}
	require.Equal(t, 4, k.Reads())

	// Keys that are to be read again are believed while that fails, for a day, and asked for every ten seconds.
	k.clock.Step(10 * time.Minute)
	for range 100 {
		_, err = k.verify(t.Context(), "1", nil)
		require.NoError(t, err)
	}
	require.Equal(t, 5, k.Reads())
	k.clock.Step(24 * time.Hour)
	_, err = k.verify(t.Context(), "1", nil)
	require.ErrorIs(t, err, lti.ErrUnreachable)

	// What the platform shows no more is believed no more once it is asked.
	away.Store(false)
	k.clock.Step(10 * time.Second)
	_, err = k.verify(t.Context(), "1", nil)
	require.NoError(t, err)
	k.Published = []string{"2"}
	k.clock.Step(10 * time.Minute)
	_, err = k.verify(t.Context(), "1", nil)
	require.ErrorIs(t, err, lti.ErrToken)
}

func TestWhatCannotBeKeptIsRefused(t *testing.T) {
	t.Parallel()
	k := newKnown(t)
	for name, claims := range map[string]func(jwt.MapClaims){
		"sub": func(c jwt.MapClaims) { c["sub"] = "user\x00-1" }, "a line of sub": func(c jwt.MapClaims) { c["sub"] = "user\n1" },
		"a sub that is no text": func(c jwt.MapClaims) { c["sub"] = "user\ufffd" },
		"name":                  func(c jwt.MapClaims) { c["name"] = "\x00" }, "email": func(c jwt.MapClaims) { c["email"] = "a\x00@example.com" },
		"locale": func(c jwt.MapClaims) { c["locale"] = "d\x00e" },
		"custom": func(c jwt.MapClaims) { ltitest.Of(c, "\x00") },
		"roles":  func(c jwt.MapClaims) { ltitest.Set(c, "roles", []string{"\x00"}) },
		"link":   func(c jwt.MapClaims) { ltitest.Set(c, "resource_link", map[string]any{"id": "\x00"}) },
		"line item": func(c jwt.MapClaims) {
			c["https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"] = map[string]any{"lineitem": "https://a.example.com/\x00"}
		},
	} {
		_, err := k.verify(t.Context(), "1", claims)
		require.ErrorIs(t, err, lti.ErrToken, name)
	}
	l, err := k.verify(t.Context(), "1", func(c jwt.MapClaims) { c["sub"] = "müller:1"; c["name"] = "Kim\nLee" })
	require.NoError(t, err)
	require.Equal(t, []string{"müller:1", "Kim Lee"}, []string{l.User, l.Name})
}

// A line item's address is asked as the platform wrote it.
func TestALineItemKeepsItsBytes(t *testing.T) {
	t.Parallel()
	var asked string
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.RequestURI
		w.WriteHeader(http.StatusNoContent)
	}))
	defer server.Close()
	for item, want := range map[string]string{
		"/items/7":                        "/items/7/scores",
		"/items/7?type=1&x=a%2Fb":         "/items/7/scores?type=1&x=a%2Fb",
		"/items/a%2Fb%2f%7E":              "/items/a%2Fb%2f%7E/scores",
		"/items/7/?type=%2f/":             "/items/7/scores?type=%2f/",
		"/items/7?":                       "/items/7/scores?",
		"/items/7#part":                   "/items/7/scores",
		"/it(e)m's;v=1/a:b@c,d/%E4%B8%AD": "/it(e)m's;v=1/a:b@c,d/%E4%B8%AD/scores",
	} {
		err := lti.Score{User: "u"}.Send(t.Context(), server.Client(), lti.Token{Value: "t"}, server.URL+item)
		require.NoError(t, err, item)
		require.Equal(t, want, asked)
	}
	require.Error(t, lti.Score{}.Send(t.Context(), server.Client(), lti.Token{}, "https://a.example.com:port/"+strings.Repeat("x", 3)))
}
