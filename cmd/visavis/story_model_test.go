package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/provider/model/modeltest"
	"visavis.dev/pkg/visits/live/livetest"
)

// modelled is a platform whose conversations a model's service writes.
type modelled struct {
	*platform
	caller

	t      *testing.T
	models *modeltest.Server
	runs   []*program
}

// The secrets that two organizations gave for the service.
const (
	acmeSecret   = "sk-story-of-acme-0001"
	globexSecret = "sk-story-of-globex-0002"
)

func newModelled(t *testing.T) *modelled {
	t.Helper()
	m := &modelled{t: t, models: modeltest.Start(), platform: newPlatform(t, newDatabase(t), newDatabase(t))}
	t.Cleanup(m.models.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(ca, m.models.CA(), 0o600))
	flags := []string{"--allow-address", "127.0.0.0/8", "--trust-ca", ca, "--log-level", "debug"}
	portal, sockets := m.portal(t, flags...)
	api := m.serve(t, append(flags, "--live-url", sockets)...)
	m.caller = caller{api.url, m.platform.key}
	m.runs = []*program{portal, api.program, m.work(t, flags...).program}
	return m
}

// connect makes a connection to the service that passes its test.
func (m *modelled) connect(c caller, secret, fallback string) string {
	m.t.Helper()
	made := c.makes(m.t, "/connections", map[string]any{
		"kind": "model", "provider": "openai_compatible", "name": "Model", "secret": secret, "fallback": fallback,
		"config": map[string]any{"baseUrl": m.models.URL(), "model": "small"},
	})
	tested := data[struct{ OK bool }](m.t, post(m.t, c.base+"/connections/"+made+"/test", c.key, nil))
	require.True(m.t, tested.OK)
	return made
}

// modelPatience is how long the personas wait for its model.
const modelPatience = time.Second

// speaker makes a persona of a connection that has read a text.
func (m *modelled) speaker(c caller, connection, text string) string {
	m.t.Helper()
	base := c.makes(m.t, "/knowledge/bases", map[string]any{"name": "Pack"})
	c.ready(m.t, c.makes(m.t, "/knowledge/bases/"+base+"/documents", map[string]any{"kind": "text", "title": "Visiting", "text": text}))
	return c.persona(m.t, base, map[string]any{
		"greeting": map[string]any{"mode": "none"},
		"model":    map[string]any{"connectionId": connection, "timeoutMs": modelPatience.Milliseconds()},
	})
}

// enter connects to a new session.
func (m *modelled) enter(c caller, persona string) (session string, v *visitor) {
	m.t.Helper()
	ticket := c.mint(m.t, persona, "chat")
	return ticket.Session.ID, visit(m.t, ticket.Transport.URL, ticket.Token)
}

// state waits until a connection is in a state.
func (m *modelled) state(connection, state string) {
	m.t.Helper()
	require.Eventually(m.t, func() bool {
		a, err := attempt(http.MethodGet, m.base+"/connections/"+connection, m.caller.key, nil)
		return err == nil && strings.Contains(string(a.body), `"state":"`+state+`"`)
	}, patience, 20*time.Millisecond, "the connection is not %s", state)
}

const (
	museum  = "The museum opens at nine. Admission costs twelve euros."
	opening = "When does the museum open?"
	// builtinOpening is the answer without a model.
	builtinOpening = "The museum opens at nine."
)

func TestAModelsStory(t *testing.T) {
	t.Parallel()
	m := newModelled(t)
	connection := m.connect(m.caller, acmeSecret, "builtin")
	acme := m.speaker(m.caller, connection, museum)
	session, visitor := m.enter(m.caller, acme)
	var said []string
	ask := func(want string, titles ...string) {
		t.Helper()
		text, sources := visitor.ask(opening)
		require.Equal(t, want, text)
		require.Equal(t, titles, sources)
		said = append(said, "user: "+opening, "avatar: "+text)
	}

	// A sentence is said as soon as it is whole.
	more := make(chan struct{})
	m.models.Behave(modeltest.Pause("At nine we unlock the gate [1]. ", more, "Come ", "in!"))
	visitor.send("user-text", map[string]string{"text": opening})
	visitor.await("bot-text", func(w spoken) bool { return w.Text == "At nine we unlock the gate." })
	close(more)
	rest, titles := visitor.hear()
	require.Equal(t, "Come in!", rest)
	require.Equal(t, []string{"Visiting"}, titles)
	said = append(said, "user: "+opening, "avatar: At nine we unlock the gate. Come in!")

	well := func() {
		t.Helper()
		m.models.Behave(modeltest.Stream("We open at ", "nine [1]."))
		ask("We open at nine.", "Visiting")
	}
	// Whoever was kept waiting is answered by the packs for a while; others are not.
	afresh := func() {
		t.Helper()
		m.checkTranscript(session, visitor, said)
		session, visitor = m.enter(m.caller, acme)
		said = nil
	}
	outages := func() []listedEvent {
		t.Helper()
		return ofType(m.awaitLog(t, false, "connection.failed"), "connection.failed")
	}

	// What was said stands; half a sentence is not said; otherwise the packs answer.
	begun := []string{"At nine [1]. ", "And th"}
	for name, broken := range map[string]modeltest.Behaviour{
		"longer than sent": modeltest.LongerThanSent(begun...), "dropped": modeltest.Abort(begun...), "closed early": modeltest.EarlyClose(begun...),
	} {
		t.Log(name)
		m.models.Behave(broken)
		ask("At nine.", "Visiting")
		well()
	}
	for name, broken := range map[string]modeltest.Behaviour{
		"longer than announced": modeltest.ShorterThanMeant("At n", "ine."), "no stream": modeltest.Raw("text/html", "<p>At nine.</p>"),
		"dropped at once": modeltest.Abort(),
	} {
		t.Log(name)
		m.models.Behave(broken)
		ask(builtinOpening, "Visiting")
		well()
	}

	// One that keeps silent is not waited for longer than it may take.
	m.models.Behave(modeltest.Stall())
	began := time.Now()
	ask(builtinOpening, "Visiting")
	require.Less(t, time.Since(began), modelPatience+5*time.Second)
	afresh()
	m.models.Behave(modeltest.Stall(begun...))
	ask("At nine.", "Visiting")
	afresh()
	m.models.Behave(modeltest.Status(http.StatusInternalServerError, nil))
	ask(builtinOpening, "Visiting")
	m.state(connection, "failing")
	before := outages()
	require.Equal(t, connection, before[len(before)-1].Data["connectionId"])

	// After three failures it is left alone, and asked again after a while.
	asked := len(m.models.Requests())
	m.models.Behave(modeltest.Stream("We open at ", "nine [1]."))
	ask(builtinOpening, "Visiting")
	require.Len(t, m.models.Requests(), asked)
	require.Eventually(t, func() bool {
		text, _ := visitor.ask(opening)
		said = append(said, "user: "+opening, "avatar: "+text)
		return text == "We open at nine."
	}, patience, time.Second)
	m.state(connection, "active")

	// One that refuses the secret fails at once.
	m.models.Accept("sk-another")
	ask(builtinOpening, "Visiting")
	m.state(connection, "failing")
	require.Len(t, outages(), len(before)+1)
	m.models.Accept()

	m.checkTranscript(session, visitor, said)
	m.checkApart()
	m.checkSecrets(connection)
}

// checkTranscript ends a conversation and compares what is kept of it.
func (m *modelled) checkTranscript(session string, v *visitor, said []string) {
	m.t.Helper()
	v.send("end", nil)
	require.Equal(m.t, "ended_by_user", v.ended())
	var kept []string
	for _, turn := range m.transcript(m.t, session) {
		kept = append(kept, turn.Speaker+": "+turn.Text)
	}
	require.Equal(m.t, said, kept)
}

// checkApart has another organization talk with the same service: neither's
// words are ever sent with the other's secret.
func (m *modelled) checkApart() {
	m.t.Helper()
	org := adminTool[shownOrg](m.t, m.directory, "org", "create", "Globex", "--plan", "enterprise")
	globex := caller{m.base, adminTool[adminKey](m.t, m.directory, "key", "create", org.ID, "--full-access").Secret}
	m.models.Behave(modeltest.Stream("At the harbour [1]."))
	persona := m.speaker(globex, m.connect(globex, globexSecret, "builtin"), "The lighthouse stands at the harbour.")
	_, visitor := m.enter(globex, persona)
	text, titles := visitor.ask("Where does the lighthouse stand?")
	require.Equal(m.t, "At the harbour.", text)
	require.Equal(m.t, []string{"Visiting"}, titles)
	seen := map[string]string{}
	for _, r := range m.models.Requests() {
		seen[r.Authorization] += fmt.Sprint(r.Body)
	}
	require.Len(m.t, seen, 2)
	require.Contains(m.t, seen["Bearer "+acmeSecret], "museum")
	require.NotContains(m.t, seen["Bearer "+acmeSecret], "lighthouse")
	require.Contains(m.t, seen["Bearer "+globexSecret], "lighthouse")
	require.NotContains(m.t, seen["Bearer "+globexSecret], "museum")
}

// checkSecrets looks for the secrets wherever somebody could read them.
func (m *modelled) checkSecrets(connection string) {
	m.t.Helper()
	var shown strings.Builder
	for _, path := range []string{"/connections", "/connections/" + connection, "/connections/" + connection + "/calls", "/events?includeConversation=true", "/activity"} {
		a := get(m.t, m.base+path, m.caller.key)
		require.Equal(m.t, http.StatusOK, a.status, "%s: %s", path, a.body)
		shown.Write(a.body)
	}
	for _, p := range m.runs {
		shown.WriteString(p.stdout.String() + p.stderr.String())
	}
	for _, secret := range []string{acmeSecret, globexSecret} {
		require.NotContains(m.t, shown.String(), secret)
	}
}

// A connection that is to fail takes the conversation with it.
func TestAConversationFailsWithItsModel(t *testing.T) {
	t.Parallel()
	m := newModelled(t)
	connection := m.connect(m.caller, acmeSecret, "fail")
	persona := m.speaker(m.caller, connection, museum)
	session, visitor := m.enter(m.caller, persona)
	m.models.Behave(modeltest.Status(http.StatusInternalServerError, nil))
	visitor.send("user-text", map[string]string{"text": opening})
	failed := words(t, visitor.await("error", nil))
	require.Equal(t, "upstream_error", failed.Code)
	require.Equal(t, "upstream_error", visitor.ended())
	m.requireFailed(session)

	// One that is switched off is not even begun with.
	m.models.Behave(modeltest.Stream("Hello."))
	off := m.connect(m.caller, acmeSecret, "fail")
	a, err := attempt(http.MethodPatch, m.base+"/connections/"+off, m.caller.key, map[string]any{"enabled": false})
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, a.status, "%s", a.body)
	ticket := m.mint(t, m.speaker(m.caller, off, museum), "chat")
	refused, err := livetest.Dial(t.Context(), ticket.Transport.URL, ticket.Token)
	require.NoError(t, err)
	_, err = refused.UntilType(t.Context(), "session-ready")
	require.ErrorIs(t, err, livetest.ErrClosed)
	m.requireFailed(ticket.Session.ID)
}

func (m *modelled) requireFailed(session string) {
	m.t.Helper()
	shown := data[struct{ State, EndReason string }](m.t, get(m.t, m.base+"/sessions/"+session, m.caller.key))
	require.Equal(m.t, []string{"failed", "upstream_error"}, []string{shown.State, shown.EndReason})
}
