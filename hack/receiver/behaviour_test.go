package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"visavis.dev/hack/receiver/endpoint"
)

func TestParseBehaviour(t *testing.T) {
	for text, want := range map[string]endpoint.Behaviour{
		"":                                     {},
		"\n":                                   {},
		"hang":                                 {Hang: true},
		"latency:200ms,status:200":             {Latency: 200 * time.Millisecond, Status: 200},
		" reset , fail-first:3\n":              {Reset: true, FailFirst: 3},
		"close-midway":                         {CloseMidway: true},
		"endless,status:206":                   {Endless: true, Status: 206},
		"gigantic-header":                      {GiganticHeader: true},
		"trickle:1s":                           {Trickle: time.Second},
		"fail-every:10":                        {FailEvery: 10},
		"secret:a:b":                           {Secret: "a:b"},
		"secret:a,previous-secret:b":           {Secret: "a", PreviousSecret: "b"},
		"status:503,retry-after:120":           {Status: 503, RetryAfter: "120"},
		"status:302,location:https://a.test/b": {Status: 302, Location: "https://a.test/b"},
	} {
		got, err := parseBehaviour(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{
		"nonsense", "hang:1", "hang,", ",", "status", "status:", "status:ok", "status:199", "status:600", "latency",
		"latency:5", "latency:-1s", "trickle:0s", "fail-first:0", "fail-every:-1", "secret:", "location", "Hang",
	} {
		got, err := parseBehaviour(text)
		require.Error(t, err, text)
		assert.Zero(t, got, text)
	}
}

func FuzzParseBehaviour(f *testing.F) {
	f.Add("latency:200ms,status:200,fail-first:3")
	f.Fuzz(func(t *testing.T, text string) {
		b, err := parseBehaviour(text)
		if err != nil {
			assert.Zero(t, b)
			return
		}
		assert.True(t, b.Status == 0 || b.Status >= 200 && b.Status <= 599)
		assert.GreaterOrEqual(t, min(int64(b.Latency), int64(b.Trickle), int64(b.FailFirst), int64(b.FailEvery)), int64(0))
	})
}
