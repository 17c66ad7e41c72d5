package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/visits/live/livetest"
)

// patience bounds the wait for anything that another process does.
const patience = time.Minute

// portal starts a process that holds conversations, and answers it with the
// address that its sockets are at.
func (p *platform) portal(t *testing.T, args ...string) (started *program, sockets string) {
	t.Helper()
	started = p.role(t, "portal", append([]string{"--addr", "127.0.0.1:0"}, args...)...)
	return started, "ws://" + started.awaitLine(t, "serving").Addr
}

// visitor is a client of a conversation, which plays what it is told at once.
type visitor struct {
	*livetest.Client
	t *testing.T
	// resume is the token that the client comes back by, and rates with.
	resume string
}

// spoken is a message of those that carry words.
type spoken struct {
	TurnID, Text, SpokenText, Name, Kind, Mode, Code, EndReason string

	Final   bool
	Sources []struct {
		DocumentID, Title string
		Page              *int
	}
}

// visit connects and is ready.
func visit(t *testing.T, url, token string) *visitor {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c, err := livetest.Dial(ctx, url, token)
	require.NoError(t, err)
	t.Cleanup(c.Drop)
	v := &visitor{Client: c, t: t}
	var ready struct{ ResumeToken string }
	m := v.await("session-ready", nil)
	require.NoError(t, json.Unmarshal(m.Data, &ready))
	v.resume = ready.ResumeToken
	v.send("client-ready", map[string]any{"audio": []string{"opus"}}) // it plays what it is told
	return v
}

func (v *visitor) send(kind string, data any) {
	v.t.Helper()
	require.NoError(v.t, v.Send(v.t.Context(), kind, data))
}

// await waits for a message of a type that is accepted; nil accepts any.
func (v *visitor) await(kind string, accept func(spoken) bool) livetest.Message {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(v.t.Context(), patience)
	defer cancel()
	m, err := v.Until(ctx, func(m livetest.Message) bool { return m.Type == kind && (accept == nil || accept(words(v.t, m))) })
	require.NoError(v.t, err, "waiting for %s", kind)
	return m
}

func words(t *testing.T, m livetest.Message) spoken {
	t.Helper()
	var s spoken
	require.NoError(t, json.Unmarshal(m.Data, &s), "%s", m.Data)
	return s
}

// hear waits for a whole turn of the avatar's, plays it, and answers its words
// and the titles of what it rests on.
func (v *visitor) hear() (text string, titles []string) {
	v.t.Helper()
	var sentences []string
	last := words(v.t, v.await("bot-text", func(s spoken) bool {
		if s.Text != "" {
			sentences = append(sentences, s.Text)
		}
		return s.Final
	}))
	v.play(last.TurnID)
	for _, s := range last.Sources {
		titles = append(titles, s.Title)
	}
	return strings.Join(sentences, " "), titles
}

// play says that all of a turn was played, and waits until the avatar listens.
func (v *visitor) play(turn string) {
	v.t.Helper()
	v.send("playback", map[string]any{"turnId": turn, "playedMs": time.Hour.Milliseconds()})
	v.awaitState("listening", "idle")
}

func (v *visitor) awaitState(states ...string) {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(v.t.Context(), patience)
	defer cancel()
	_, err := v.Until(ctx, func(m livetest.Message) bool {
		for _, state := range states {
			if m.Type == "state" && strings.Contains(string(m.Data), `"`+state+`"`) {
				return true
			}
		}
		return false
	})
	require.NoError(v.t, err, "waiting for the state %v", states)
}

// ask says something and hears the answer out.
func (v *visitor) ask(question string) (text string, titles []string) {
	v.t.Helper()
	v.send("user-text", map[string]string{"text": question})
	return v.hear()
}

// ended waits for the end and answers the reason.
func (v *visitor) ended() string {
	v.t.Helper()
	return words(v.t, v.await("session-ended", nil)).EndReason
}

// upload adds a file to a pack and answers the document's id.
func (c caller) upload(t *testing.T, base, path string) string {
	t.Helper()
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", filepath.Base(path))
	require.NoError(t, err)
	_, err = part.Write(file)
	require.NoError(t, err)
	require.NoError(t, form.Close())
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.base+"/knowledge/bases/"+base+"/documents", &body)
	require.NoError(t, err)
	request.Header.Set("Content-Type", form.FormDataContentType())
	request.Header.Set("Authorization", "Bearer "+c.key)
	response, err := client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return data[struct{ ID string }](t, answer{response.StatusCode, response.Header, text}).ID
}

// ready waits until a document was read.
func (c caller) ready(t *testing.T, document string) {
	t.Helper()
	var last answer // not asked for so often that the address limit refuses
	require.Eventually(t, func() bool {
		a, err := attempt(http.MethodGet, c.base+"/knowledge/documents/"+document, c.key, nil)
		last = a
		return err == nil && !bytes.Contains(a.body, []byte(`"status":"processing"`))
	}, patience, 200*time.Millisecond, "%s is not read", document)
	require.Equal(t, "ready", data[struct{ Status string }](t, last).Status, "%s", last.body)
}

// makes posts a body and answers the id of what was made.
func (c caller) makes(t *testing.T, path string, body map[string]any) string {
	t.Helper()
	return data[struct{ ID string }](t, post(t, c.base+path, c.key, body)).ID
}

// persona makes a persona that answers from a pack; parts replace what it is.
func (c caller) persona(t *testing.T, base string, parts map[string]any) string {
	t.Helper()
	first := func(path string) string {
		return data[[]struct{ ID string }](t, get(t, c.base+path+"?limit=1", c.key))[0].ID
	}
	body := map[string]any{
		"name": "Amara", "avatarId": first("/avatars"), "voiceId": first("/voices"), "knowledge": map[string]any{"baseIds": []string{base}},
	}
	maps.Copy(body, parts)
	return c.makes(t, "/personas", body)
}

// ticket is what a client needs to connect.
type ticket struct {
	Token     string
	Session   struct{ ID string }
	Transport struct{ URL string }
}

func (c caller) mint(t *testing.T, persona, channel string) ticket {
	t.Helper()
	return data[ticket](t, post(t, c.base+"/sessions/tokens", c.key, map[string]any{"personaId": persona, "channel": channel}))
}

// shownTurn is a turn of a transcript.
type shownTurn struct {
	Index       int
	Speaker     string
	Name        *string
	Text        string
	SpokenText  *string
	Source      string
	EndedAt     *time.Time
	Interrupted bool
	Sources     []struct{ DocumentID, Title string }
	Grounded    *bool
}

// transcript is what was said in a session.
func (c caller) transcript(t *testing.T, session string) []shownTurn {
	t.Helper()
	return data[struct{ Turns []shownTurn }](t, get(t, c.base+"/sessions/"+session+"/transcript", c.key)).Turns
}

// listedEvent is one of the event log, or a webhook's body.
type listedEvent struct {
	ID, Type string
	Data     map[string]any
}

// awaitLog waits until the log holds events of every type named, and answers all
// of it, oldest first, with or without what was said.
func (c caller) awaitLog(t *testing.T, words bool, types ...string) []listedEvent {
	t.Helper()
	var all []listedEvent
	require.Eventually(t, func() bool {
		a, err := attempt(http.MethodGet, fmt.Sprintf("%s/events?order=asc&limit=100&includeConversation=%t", c.base, words), c.key, nil)
		if err != nil || a.status != http.StatusOK {
			return false
		}
		all = data[[]listedEvent](t, a)
		for _, kind := range types {
			if len(ofType(all, kind)) == 0 {
				return false
			}
		}
		return true
	}, patience, 50*time.Millisecond, "not all of %v happened", types)
	return all
}

func ofType(events []listedEvent, kind string) []listedEvent {
	var found []listedEvent
	for _, e := range events {
		if e.Type == kind {
			found = append(found, e)
		}
	}
	return found
}
