package connection_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/upstream"
)

func TestConfigsAreOfTheProvidersForm(t *testing.T) {
	role := id.NewRole().String()
	for name, test := range map[string]struct {
		kind     connection.Kind
		provider connection.Provider
		config   connection.Config
		path     string
	}{
		"model":            {connection.Model, connection.OpenAICompatible, connection.Config{"baseUrl": "https://a.example/v1", "model": "m"}, ""},
		"no address":       {connection.Model, connection.OpenAICompatible, connection.Config{"model": "m"}, "baseUrl"},
		"no model":         {connection.Model, connection.OpenAICompatible, connection.Config{"baseUrl": "https://a.example/v1"}, "model"},
		"a number":         {connection.Model, connection.OpenAICompatible, connection.Config{"baseUrl": "https://a.example/v1", "model": 1.0}, "model"},
		"unknown":          {connection.Model, connection.OpenAICompatible, connection.Config{"baseUrl": "https://a.example/v1", "model": "m", "apiKey": "k"}, "apiKey"},
		"not one of them":  {connection.Model, connection.OpenAICompatible, connection.Config{"baseUrl": "https://a.example/v1", "model": "m", "tokensParameter": "x"}, "tokensParameter"},
		"speech, no voice": {connection.Speech, connection.OpenAICompatible, connection.Config{"baseUrl": "https://a.example/v1", "model": "m"}, "voice"},
		"elevenlabs":       {connection.Speech, connection.ElevenLabs, connection.Config{}, ""},
		"deepgram":         {connection.Recognition, connection.Deepgram, connection.Config{"model": "nova-3"}, ""},
		"livekit":          {connection.Media, connection.LiveKit, connection.Config{"url": "wss://a.example", "apiKey": "k", "roomPrefix": "eu-"}, ""},
		"livekit, https":   {connection.Media, connection.LiveKit, connection.Config{"url": "https://a.example", "apiKey": "k"}, "url"},
		"crm":              {connection.CRM, connection.HubSpot, connection.Config{"properties": map[string]any{"name": "firstname", "kind": "k"}}, ""},
		"crm, the address": {connection.CRM, connection.HubSpot, connection.Config{"properties": map[string]any{"name": "email"}}, "properties.name"},
		"crm, twice":       {connection.CRM, connection.HubSpot, connection.Config{"properties": map[string]any{"kind": "k", "state": "k"}}, "properties.state"},
		"ats":              {connection.ATS, connection.Ashby, connection.Config{"roles": []any{role}, "profileUrl": "https://a.example/{candidateId}?x={candidateId}"}, ""},
		"ats, no roles":    {connection.ATS, connection.Greenhouse, connection.Config{"roles": []any{}, "profileUrl": "https://a.example/{candidateId}"}, "roles"},
		"ats, no role":     {connection.ATS, connection.Greenhouse, connection.Config{"roles": []any{role, "con_1"}, "profileUrl": "https://a.example/{candidateId}"}, "roles.1"},
		"ats, no TLS":      {connection.ATS, connection.Greenhouse, connection.Config{"roles": []any{role}, "profileUrl": "http://a.example/{candidateId}"}, "profileUrl"},
		"ats, one page":    {connection.ATS, connection.Greenhouse, connection.Config{"roles": []any{role}, "profileUrl": "https://a.example/"}, "profileUrl"},
		"ats, a host":      {connection.ATS, connection.Greenhouse, connection.Config{"roles": []any{role}, "profileUrl": "https://a.{candidateId}/"}, "profileUrl"},
		"ats, a password":  {connection.ATS, connection.Greenhouse, connection.Config{"roles": []any{role}, "profileUrl": "https://a:b@a.example/{candidateId}"}, "profileUrl"},
		"xapi":             {connection.LMS, connection.XAPI, connection.Config{"baseUrl": "https://a.example/xapi", "homePage": "https://b.example/people", "actor": "email", "version": "2.0.0"}, ""},
		"xapi, no TLS":     {connection.LMS, connection.XAPI, connection.Config{"baseUrl": "http://a.example/xapi", "homePage": "https://b.example"}, "baseUrl"},
		"xapi, a query":    {connection.LMS, connection.XAPI, connection.Config{"baseUrl": "https://a.example/xapi", "homePage": "https://b.example/?a"}, "homePage"},
		"xapi, a quote":    {connection.LMS, connection.XAPI, connection.Config{"baseUrl": "https://a.example/xapi", "homePage": `https://b.example/"`}, "homePage"},
		"xapi, a name":     {connection.LMS, connection.XAPI, connection.Config{"baseUrl": "https://a.example/xapi", "homePage": "https://b.example", "actor": "name"}, "actor"},
		"livekit, prefix":  {connection.Media, connection.LiveKit, connection.Config{"url": "wss://a.example", "apiKey": "k", "roomPrefix": "a/b"}, "roomPrefix"},
	} {
		t.Run(name, func(t *testing.T) {
			offer, ok := connection.FindOffer(test.kind, test.provider)
			require.True(t, ok)
			err := offer.Check(test.config)
			if test.path == "" {
				require.NoError(t, err)
				return
			}
			e, ok := errors.AsType[*connection.ConfigError](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, test.path, e.Path)
			require.NotEmpty(t, e.Message)
		})
	}
	_, ok := connection.FindOffer(connection.Media, connection.ElevenLabs)
	require.False(t, ok)
	require.Len(t, connection.Offers(), 21)
}

func TestWhereServicesAre(t *testing.T) {
	for want, test := range map[string]struct {
		provider connection.Provider
		config   connection.Config
	}{
		"https://a.example/v1":       {connection.OpenAICompatible, connection.Config{"baseUrl": "https://a.example/v1/"}},
		"https://api.elevenlabs.io":  {connection.ElevenLabs, connection.Config{}},
		"https://api.deepgram.com":   {connection.Deepgram, nil},
		"https://rtc.example":        {connection.LiveKit, connection.Config{"url": "wss://rtc.example/"}},
		"https://eu.elevenlabs.test": {connection.ElevenLabs, connection.Config{"baseUrl": "https://eu.elevenlabs.test"}},
	} {
		require.Equal(t, want, test.config.BaseURL(test.provider))
	}
}

func TestSecretsAreNotWritten(t *testing.T) {
	s := connection.Secret("sk-something-very-secret")
	require.NotContains(t, fmt.Sprintf("%v %s %+v %#v %q", s, s, s, s, s), "something")
	require.NotContains(t, fmt.Sprintf("%+v", connection.Opened{Secrets: []connection.Secret{s}}), "something")
}

func TestChanges(t *testing.T) {
	set := draft("sk-1234567890123456")
	set.State, set.Health.Failures, set.Health.ErrorCode = connection.Failing, 4, upstream.Timeout
	later := now.Add(time.Hour)
	name, other, same := "n", connection.Config{"baseUrl": "https://evil.example/v1", "model": "m"}, connection.Config{"baseUrl": "https://models.example/v2", "model": "m"}
	port := connection.Config{"baseUrl": "https://models.example:8443/v1", "model": "m"}
	secret, off, on := connection.Secret("short"), false, true

	after, changes, err := set.Apply(connection.Change{Name: &name}, later)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"name": "n"}, changes)
	require.Equal(t, []any{connection.Failing, later, now}, []any{after.State, after.UpdatedAt, after.SettledAt})

	for _, c := range []connection.Config{other, port} {
		_, _, err = set.Apply(connection.Change{Config: &c}, later)
		require.ErrorIs(t, err, connection.ErrSecretNeeded, "a secret never follows to another address")
	}
	google := set
	google.Kind, google.Provider, google.Config = connection.Calendar, connection.GoogleCalendar, connection.Config{"clientId": "c", "baseUrl": "https://proxy.example/v3"}
	tokens := connection.Config{"clientId": "c", "baseUrl": "https://proxy.example/v3", "tokenUrl": "https://proxy.example/token"}
	_, _, err = google.Apply(connection.Change{Config: &tokens}, later)
	require.ErrorIs(t, err, connection.ErrSecretNeeded, "nor to another address for tokens")
	after, changes, err = set.Apply(connection.Change{Config: &other, Secret: &secret}, later)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"config": []string{"baseUrl"}, "secret": "replaced"}, changes)
	require.Empty(t, after.SecretLast4, "too short to show")
	require.Equal(t, []any{connection.Unverified, later, int64(0), upstream.Code("")},
		[]any{after.State, after.SettledAt, after.Health.Failures, after.Health.ErrorCode})
	after, _, err = set.Apply(connection.Change{Config: &same}, later)
	require.NoError(t, err)
	require.Equal(t, connection.Unverified, after.State)

	open := draft("")
	_, _, err = open.Apply(connection.Change{Config: &other}, later)
	require.NoError(t, err, "there is no secret to protect")

	disabled, changes, err := set.Apply(connection.Change{Enabled: &off}, later)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"enabled": false}, changes)
	require.Equal(t, connection.Disabled, disabled.State)
	_, changes, err = disabled.Apply(connection.Change{Enabled: &off}, later)
	require.NoError(t, err)
	require.Empty(t, changes)
	enabled, _, err := disabled.Apply(connection.Change{Enabled: &on}, later)
	require.NoError(t, err)
	require.Equal(t, connection.Unverified, enabled.State)
}

func TestHealth(t *testing.T) {
	at := func(s int) time.Time { return now.Add(time.Duration(s) * time.Second) }
	for name, test := range map[string]struct {
		from  connection.State
		codes []upstream.Code
		want  connection.State
	}{
		"two failures":         {connection.Active, []upstream.Code{upstream.Timeout, upstream.Timeout}, connection.Active},
		"three failures":       {connection.Active, []upstream.Code{upstream.Timeout, upstream.Timeout, upstream.Unavailable}, connection.Failing},
		"with a good one":      {connection.Active, []upstream.Code{upstream.Timeout, upstream.Timeout, "", upstream.Timeout}, connection.Active},
		"refused":              {connection.Active, []upstream.Code{upstream.Refused}, connection.Failing},
		"recovers":             {connection.Failing, []upstream.Code{""}, connection.Active},
		"use verifies":         {connection.Unverified, []upstream.Code{""}, connection.Active},
		"unverified, refused":  {connection.Unverified, []upstream.Code{upstream.Refused}, connection.Failing},
		"unverified, two fail": {connection.Unverified, []upstream.Code{upstream.Timeout, upstream.Timeout}, connection.Unverified},
		"unverified, three":    {connection.Unverified, []upstream.Code{upstream.Timeout, upstream.Timeout, upstream.Timeout}, connection.Failing},
		"disabled, good":       {connection.Disabled, []upstream.Code{""}, connection.Disabled},
		"disabled, refused":    {connection.Disabled, []upstream.Code{upstream.Refused}, connection.Disabled},
	} {
		t.Run(name, func(t *testing.T) {
			c := draft("")
			c.State = test.from
			for i, code := range test.codes {
				c = c.After(connection.Outcome{At: at(i), Code: code})
			}
			require.Equal(t, test.want, c.State)
		})
	}
	c := draft("")
	c.State = connection.Active
	c = c.After(connection.Outcome{At: at(-1), Code: upstream.Refused})
	require.Equal(t, connection.Active, c.State, "it was called before it was changed")
	require.Nil(t, c.Health.ErrorAt)
}

// Whatever happens, a connection fails only after three failures in a row or a
// refusal, and the last good call makes it active.
func TestHealthHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := draft("")
		c.State = connection.Active
		row := 0
		for i, code := range rapid.SliceOf(rapid.SampledFrom([]upstream.Code{"", upstream.Timeout, upstream.Malformed, upstream.Refused})).Draw(t, "codes") {
			before := c
			c = c.After(connection.Outcome{At: now.Add(time.Duration(i) * time.Second), Code: code})
			if code == "" {
				row = 0
				if c.State != connection.Active || c.Health.ErrorCode != "" {
					t.Fatal("a good call makes it active")
				}
				continue
			}
			row++
			if before.State == connection.Active && (c.State == connection.Failing) != (row >= 3 || code == upstream.Refused) {
				t.Fatalf("%s after %d failures, the last %s", c.State, row, code)
			}
			if int(c.Health.Failures) != row {
				t.Fatal("failures in a row are counted")
			}
		}
	})
}

func TestKeysOfApplicantTrackingSystems(t *testing.T) {
	const key = "a-key-of-our-own-making"
	greenhouse, _ := connection.FindOffer(connection.ATS, connection.Greenhouse)
	ashby, _ := connection.FindOffer(connection.ATS, connection.Ashby)
	for secret, good := range map[connection.Secret][2]bool{
		key:                                 {true, false},
		key + ":theirs":                     {false, true},
		key + ":":                           {false, false},
		"short":                             {false, false},
		"short:theirs-which-is-long-enough": {false, false},
		connection.Secret(strings.Repeat("k", 111)): {false, false},
	} {
		taken := [2]bool{greenhouse.CheckSecret(secret) == "", ashby.CheckSecret(secret) == ""}
		require.Equal(t, good, taken)
	}
	opened := connection.Opened{Secrets: []connection.Secret{key + ":theirs", "the-key-before-this-one"}}
	require.True(t, opened.Admits(key))
	require.True(t, opened.Admits("the-key-before-this-one"))
	for _, wrong := range []string{"", "theirs", key + ":theirs", key + " "} {
		require.False(t, opened.Admits(wrong), wrong)
	}
	require.False(t, connection.Opened{}.Admits(""))
}
