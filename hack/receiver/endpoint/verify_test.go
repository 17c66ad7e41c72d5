package endpoint

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSign holds to a signature that was made with another implementation.
func TestSign(t *testing.T) {
	assert.Equal(t, "sha256=11c8eca4c6d678f9e0b698016d368b6d8909c1fddb4552608a6ad184177259e0",
		sign("whsec_abc", "1767225600000", []byte(`{"id":"evt_1"}`)))
}

func TestVerify(t *testing.T) {
	now := time.Now()
	both := Behaviour{Secret: secret, PreviousSecret: "old"}
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	body := func(text string) func(*http.Request) {
		return func(r *http.Request) {
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
			r.Header.Set(headerSignature, sign(secret, r.Header.Get(headerTimestamp), []byte(text)))
		}
	}
	previous := func(with string) func(*http.Request) {
		return func(r *http.Request) {
			reader, _ := r.GetBody()
			text, _ := io.ReadAll(reader)
			r.Header.Set(headerPrevious, sign(with, r.Header.Get(headerTimestamp), text))
		}
	}
	for name, test := range map[string]struct {
		behaviour Behaviour
		at        time.Time
		change    func(*http.Request)
		why       string
	}{
		"good":                   {},
		"nearly old":             {at: now.Add(-oldest + time.Minute)},
		"old":                    {at: now.Add(-oldest - time.Second), why: "the timestamp is more than five minutes old"},
		"no timestamp":           {change: header(headerTimestamp, ""), why: "the timestamp is no number"},
		"another timestamp":      {change: header(headerTimestamp, "99999999999999"), why: "the signature is wrong"},
		"no signature":           {change: header(headerSignature, ""), why: "the signature is wrong"},
		"another secret":         {behaviour: Behaviour{Secret: "another"}, why: "the signature is wrong"},
		"uppercase":              {change: upperSignature, why: "the signature is wrong"},
		"body changed":           {change: func(r *http.Request) { r.Body, r.ContentLength = http.NoBody, 0 }, why: "the signature is wrong"},
		"not POST":               {change: func(r *http.Request) { r.Method = http.MethodPut }, why: "the method is not POST"},
		"another id":             {change: header(headerEventID, "evt_2"), why: "the event id is not the body's"},
		"another type":           {change: header(headerEvent, "lead.updated"), why: "the event type is not the body's"},
		"no delivery":            {change: header(headerDelivery, ""), why: "the delivery id is missing"},
		"not JSON":               {change: body(`{"id":"evt_1","type":"lead.created"`), why: "the event id is not the body's"},
		"two secrets":            {behaviour: both, change: previous("old")},
		"two secrets, one wrong": {behaviour: both, change: previous("older"), why: "the signature with the previous secret is wrong"},
		"previous not sent":      {behaviour: both},
		"previous unknown":       {change: previous("old")},
		"previous alone":         {behaviour: Behaviour{PreviousSecret: "old"}, change: previous("old")},
		"previous alone, not sent": {behaviour: Behaviour{PreviousSecret: "old"},
			why: "the signature with the previous secret is wrong"},
	} {
		t.Run(name, func(t *testing.T) {
			s, client := start(t, Options{Default: Behaviour{Secret: secret}})
			if test.behaviour != (Behaviour{}) {
				s.Set("/a", test.behaviour)
			}
			if test.at.IsZero() {
				test.at = now
			}
			r := delivery(t, s.URL("/a"), "evt_1", secret, test.at)
			if test.change != nil {
				test.change(r)
			}
			status := send(t, client, r)
			got := s.Received("/a")
			require.Len(t, got, 1)
			assert.Equal(t, test.why, got[0].Why)
			assert.Equal(t, test.why == "", got[0].Verified)
			if test.why == "" {
				assert.Equal(t, http.StatusOK, status)
				assert.Equal(t, Count{Requests: 1, Verified: 1, Events: 1}, s.Count("/a"))
			} else {
				assert.Equal(t, http.StatusUnauthorized, status)
				assert.Equal(t, Count{Requests: 1, Unverified: 1}, s.Count("/a"))
			}
		})
	}
}

func upperSignature(r *http.Request) {
	r.Header.Set(headerSignature, strings.ToUpper(r.Header.Get(headerSignature)))
}
