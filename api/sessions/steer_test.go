package sessions_test

import (
	"context"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/api/apitest"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/tenant"
)

// orders are what the process of a session is asked to do.
func ordersOf(t testing.TB, w *apitest.World, s session.Session) []session.Ordered {
	t.Helper()
	found, err := session.Orders(context.Background(), w.Tenants, "shard-1", s.Owner.UUID)
	require.NoError(t, err)
	return found
}

func testSessionEnds(t *testing.T, w *apitest.World) {
	waiting := w.Minted(t, nil)
	expired := w.CallAs(t, "deleteSession", waiting, w.Acme.New, nil).Data(t)
	require.Equal(t, []any{"expired", "ended_by_api", 0.0, 0.0, nil}, []any{expired["state"], expired["endReason"], expired["durationS"], expired["billedS"], expired["startedAt"]})
	require.Empty(t, w.Events(t, w.Acme.New, "sessionId="+waiting), "nobody came")

	live := w.Talk(t, nil)
	own := live.ID.String()
	ended := w.CallAs(t, "endSession", own, w.Acme.New, map[string]any{"reason": "done"}).Data(t)
	require.Equal(t, []any{"ended", "ended_by_api"}, []any{ended["state"], ended["endReason"]})
	require.Equal(t, session.Over, ordersOf(t, w, live)[0].Command.Kind)
	entry := w.Last(t)
	require.Equal(t, []any{"session.ended", "done"}, []any{entry["action"], apitest.At(entry, "changes", "reason")})
	require.Zero(t, places(t, w))
	for _, operation := range []string{"endSession", "deleteSession"} {
		require.Equal(t, ended, w.CallAs(t, operation, own, w.Acme.New, nil).Data(t), "again changes nothing")
	}
	require.Equal(t, ended, w.CallAs(t, "endSession", own, w.Acme.New, map[string]any{"message": "Bye"}).Data(t))
	require.Equal(t, entry["id"], w.Last(t)["id"])
	require.Zero(t, places(t, w))
}

// A last message is said by the session's process, which ends it then.
func testLastMessage(t *testing.T, w *apitest.World) {
	live := w.Talk(t, nil)
	answered := make(chan apitest.Answer)
	o := w.Operation(t, "endSession")
	go func() {
		answered <- w.Do(apitest.Request{Method: o.Method, Path: apitest.WithID(o, live.ID.String()), Key: w.Acme.New, Body: map[string]any{"message": "Bye", "reason": "done"}})
	}()
	require.Eventually(t, func() bool { return len(ordersOf(t, w, live)) == 1 }, 20*time.Second, 5*time.Millisecond)
	asked := ordersOf(t, w, live)[0].Command
	require.Equal(t, []any{session.Finish, "Bye", session.EndedByAPI}, []any{asked.Kind, asked.Text, asked.Reason})
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := session.EndOwn(ctx, tx, live.ID, live.Epoch, session.Ending{Reason: asked.Reason, At: apitest.Moment(), By: live.Owner.UUID})
		return err
	})
	answer := <-answered
	w.Check(t, o, answer)
	require.Equal(t, []any{"ended", "ended_by_api"}, []any{answer.Data(t)["state"], answer.Data(t)["endReason"]})
	require.Equal(t, "done", apitest.At(w.Last(t), "changes", "reason"))
}

// skippingClock is the time of day, and more.
type skippingClock struct {
	clock.RealClock
	ahead atomic.Int64
}

func (c *skippingClock) Now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

func (c *skippingClock) Since(at time.Time) time.Duration { return c.Now().Sub(at) }

// Without a process that says the last message a session ends all the same.
func TestALastMessageThatNobodySays(t *testing.T) {
	skipping := &skippingClock{}
	w := apitest.NewWorld(t, func(o *apitest.Options) { o.Clock = skipping })
	live := w.Talk(t, nil)
	answered := make(chan apitest.Answer)
	o := w.Operation(t, "endSession")
	go func() {
		answered <- w.Do(apitest.Request{Method: o.Method, Path: apitest.WithID(o, live.ID.String()), Key: w.Acme.New, Body: map[string]any{"message": "Bye"}})
	}()
	require.Eventually(t, func() bool { return len(ordersOf(t, w, live)) == 1 }, 20*time.Second, 5*time.Millisecond)
	require.Equal(t, "live", w.Read(t, live.ID.String())["state"])
	skipping.ahead.Store(int64(12 * time.Second))
	answer := <-answered
	w.Check(t, o, answer)
	require.Equal(t, []any{"ended", "ended_by_api"}, []any{answer.Data(t)["state"], answer.Data(t)["endReason"]})
	items, _ := w.Page(t, w.Operation(t, "listActivity"), w.Acme.New, map[string][]string{"limit": {"2"}})
	require.Equal(t, "session.ended", apitest.At(items[0], "action"))
	require.NotEqual(t, "session.ended", apitest.At(items[1], "action"), "once")
}

func testSessionOrders(t *testing.T, w *apitest.World) {
	live := w.Talk(t, nil)
	own, waiting := live.ID.String(), w.Minted(t, nil)
	ended := w.Minted(t, nil)
	require.Equal(t, http.StatusOK, w.CallAs(t, "endSession", ended, w.Acme.New, nil).Status)
	for operation, more := range map[string]map[string]any{"saySession": {"interrupt": false, "record": false, "language": "German"}, "respondSession": {}} {
		body := map[string]any{"text": strings.Repeat("x", 29)}
		maps.Copy(body, more)
		before := len(ordersOf(t, w, live))
		o := w.Operation(t, operation)
		request := apitest.Request{Path: apitest.WithID(o, own), Key: w.Acme.New, Body: body, Header: map[string]string{route.IdempotencyHeader: operation}}
		first, second := w.Call(t, o, request), w.Call(t, o, request)
		require.Equal(t, http.StatusAccepted, first.Status, "%s", first.Raw)
		require.Equal(t, string(first.Raw), string(second.Raw))
		require.Equal(t, []any{operation == "saySession", 3.0}, []any{first.Data(t)["queued"], first.Data(t)["estimatedS"]})
		orders := ordersOf(t, w, live)
		require.Len(t, orders, before+1, "once")
		last := orders[before]
		require.Equal(t, []any{live.ID, first.Data(t)["turnId"], body["text"]}, []any{last.Session, last.Command.ID.String(), last.Command.Text})
		if operation == "saySession" {
			require.Equal(t, session.Command{
				ID: last.Command.ID, Kind: session.SayIt, Text: body["text"].(string), Language: "de", Interruptible: true,
			}, last.Command)
		}

		require.Equal(t, "not_live", apitest.Reason(t, w.CallAs(t, operation, waiting, w.Acme.New, body), "path.id"))
		apitest.RequireError(t, w.CallAs(t, operation, ended, w.Acme.New, body), http.StatusConflict, "session_ended", "path.id")
		apitest.RequireError(t, w.CallAs(t, operation, own, w.Globex.New, body), http.StatusNotFound, "not_found", "path.id")
		for _, text := range []string{"", strings.Repeat("x", 2001)} {
			apitest.RequireError(t, w.CallAs(t, operation, own, w.Acme.New, map[string]any{"text": text}), http.StatusBadRequest, "invalid_request", "body.text")
		}
		require.Len(t, ordersOf(t, w, live), before+1)
	}
	for _, code := range []string{"Klingon", unspoken(t)} {
		apitest.RequireError(t, w.CallAs(t, "saySession", own, w.Acme.New, map[string]any{"text": "x", "language": code}), http.StatusBadRequest, "invalid_request", "body.language")
	}
}

func testSteering(t *testing.T, w *apitest.World) {
	live := w.Talk(t, nil)
	own := live.ID.String()
	changed := w.CallAs(t, "updateSession", own, w.Acme.New, map[string]any{
		"context": "VIP", "instructions": "Be brief.", "language": "zh-Hans", "voiceId": apitest.GlobalVoice, "listening": false, "mute": true, "interrupt": true,
		"goal": "need", "variables": map[string]any{"name": "Kim"}, "maxDurationS": 500, "metadata": map[string]any{"n": "1"},
	}).Data(t)
	require.Equal(t, []any{"zh-Hans", apitest.GlobalVoice, "global", 500.0, map[string]any{"n": "1"}},
		[]any{changed["language"], changed["voiceId"], changed["engine"], changed["maxDurationS"], changed["metadata"]})
	require.Equal(t, changed, w.Read(t, own))
	orders := ordersOf(t, w, live)
	require.Len(t, orders, 1)
	voice := id.NamedVoice("ka-ho")
	require.Equal(t, session.Command{
		ID: orders[0].Command.ID, Kind: session.SteerIt, Language: "zh-Hans", Voice: &voice, Context: new("VIP"), Instructions: new("Be brief."),
		Listening: new(false), Mute: new(true), Interrupt: true, Goal: new("need"), Variables: map[string]string{"name": "Kim"}, MaxDurationS: new(int64(500)),
	}, orders[0].Command)

	muted := w.CallAs(t, "updateSession", own, w.Acme.New, map[string]any{"mute": false}).Data(t)
	require.Equal(t, changed, muted, "what is not named stays")
	require.Len(t, ordersOf(t, w, live), 2)
	metadata := map[string]any{"metadata": map[string]any{"n": "2"}}
	require.Equal(t, metadata["metadata"], w.CallAs(t, "updateSession", own, w.Acme.New, metadata).Data(t)["metadata"])
	require.Len(t, ordersOf(t, w, live), 2, "which the process need not know")

	waiting := w.Minted(t, nil)
	require.Equal(t, metadata["metadata"], w.CallAs(t, "updateSession", waiting, w.Acme.New, metadata).Data(t)["metadata"])
	require.Equal(t, "not_live", apitest.Reason(t, w.CallAs(t, "updateSession", waiting, w.Acme.New, map[string]any{"mute": true}), "path.id"))
	require.Equal(t, http.StatusOK, w.CallAs(t, "endSession", own, w.Acme.New, nil).Status)
	require.Equal(t, map[string]any{}, w.CallAs(t, "updateSession", own, w.Acme.New, map[string]any{"metadata": map[string]any{}}).Data(t)["metadata"], "also after the end")
	apitest.RequireError(t, w.CallAs(t, "updateSession", own, w.Acme.New, map[string]any{"mute": true, "metadata": map[string]any{}}), http.StatusConflict, "session_ended", "path.id")
}

func testSteeringRefusals(t *testing.T, w *apitest.World) {
	live := w.Talk(t, nil)
	sandbox := w.Talk(t, map[string]any{"sandbox": true}).ID.String()
	own := live.ID.String()
	refused := func(param string, body map[string]any) {
		t.Helper()
		apitest.RequireError(t, w.CallAs(t, "updateSession", own, w.Acme.New, body), http.StatusBadRequest, "invalid_request", param)
	}
	refused("body.language", map[string]any{"language": "Klingon"})
	refused("body.language", map[string]any{"language": unspoken(t)})
	refused("body.goal", map[string]any{"goal": "fame"})
	refused("body.variables", map[string]any{"variables": map[string]any{"a b": "x"}})
	refused("body.metadata", map[string]any{"metadata": map[string]any{strings.Repeat("k", 41): "x"}})
	refused("body.maxDurationS", map[string]any{"maxDurationS": 29})
	refused("body.maxDurationS", map[string]any{"maxDurationS": 7201})
	refused("body.maxDurationS", map[string]any{"maxDurationS": 601}) // the persona's
	refused("body.context", map[string]any{"context": strings.Repeat("x", 8001)})
	apitest.RequireError(t, w.CallAs(t, "updateSession", own, w.Acme.New, map[string]any{"voiceId": id.NewVoice().String()}), http.StatusNotFound, "not_found", "body.voiceId")
	apitest.RequireError(t, w.CallAs(t, "updateSession", sandbox, w.Acme.New, map[string]any{"maxDurationS": 61}), http.StatusBadRequest, "invalid_request", "body.maxDurationS")
	w.Limit(t, plan.Limits{plan.MaxSessionS: new(int64(300))})
	refused("body.maxDurationS", map[string]any{"maxDurationS": 301})
	require.Empty(t, ordersOf(t, w, live))
	require.Equal(t, 600.0, w.Read(t, own)["maxDurationS"])
}

func testEndIdle(t *testing.T, w *apitest.World) {
	foreign := w.Apart(t)
	foreign.Use(t, foreign.Acme)
	idle := func(w *apitest.World, properties map[string]any) string {
		own := w.Talk(t, properties).ID.String()
		w.SetSession(t, own, `last_activity_at = last_activity_at - INTERVAL '10 minutes'`)
		return own
	}
	first, named, theirs := idle(w, nil), idle(w, map[string]any{"externalId": "mine"}), idle(foreign, nil)
	busy, waiting := w.Talk(t, nil).ID.String(), w.Minted(t, nil)
	reclaim := func(body any) []string {
		t.Helper()
		answer := w.CallAs(t, "endIdleSessions", "", w.Acme.New, body)
		require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
		ended := answer.Data(t)["ended"].([]any)
		require.EqualValues(t, len(ended), answer.Data(t)["count"])
		for _, e := range ended {
			require.Equal(t, "concurrency_reclaimed", apitest.At(e, "endReason"))
		}
		return apitest.IDs(ended)
	}
	require.Equal(t, []string{first, named}, reclaim(map[string]any{"dryRun": true}))
	require.Equal(t, 4, places(t, w), "a dry run ends nothing")
	require.Empty(t, reclaim(map[string]any{"olderThanS": 3600}))
	require.Empty(t, reclaim(map[string]any{"personaId": id.NewPersona().String()}))
	require.Equal(t, []string{named}, reclaim(map[string]any{"externalId": "mine", "personaId": w.Shown(t, w.Acme)}))
	require.Equal(t, 3, places(t, w))
	require.Equal(t, []string{first}, reclaim(nil))
	require.Equal(t, []any{"ended", "concurrency_reclaimed"}, []any{w.Read(t, first)["state"], w.Read(t, first)["endReason"]})
	require.Equal(t, "session.reclaimed", w.Last(t)["action"])
	require.Equal(t, []string{waiting}, reclaim(map[string]any{"olderThanS": 0}), "never one in which somebody may speak")
	require.Equal(t, "live", w.Read(t, busy)["state"])
	require.Equal(t, 1, places(t, w))
	require.Equal(t, "live", foreign.Read(t, theirs)["state"])
	require.Equal(t, 1, places(t, foreign))
	apitest.RequireError(t, w.CallAs(t, "endIdleSessions", "", w.Acme.New, map[string]any{"personaId": "x"}), http.StatusNotFound, "not_found", "body.personaId")
	apitest.RequireError(t, w.CallAs(t, "endIdleSessions", "", w.Acme.New, map[string]any{"olderThanS": -1}), http.StatusBadRequest, "invalid_request", "body.olderThanS")
}

func testConcurrency(t *testing.T, w *apitest.World) {
	w.Talk(t, nil)
	w.Minted(t, nil)
	least := w.Scoped(contract.Latest)
	require.Equal(t, map[string]any{"limit": nil, "active": 2.0, "reserved": 1.0, "canStart": true}, w.CallAs(t, "getConcurrency", "", least, nil).Data(t))
	w.Limit(t, plan.Limits{plan.MaxConcurrentSessions: new(int64(2))})
	require.Equal(t, map[string]any{"limit": 2.0, "active": 2.0, "reserved": 1.0, "canStart": false}, w.CallAs(t, "getConcurrency", "", w.Acme.New, nil).Data(t))
	require.Equal(t, 2, places(t, w))
	apitest.RequireError(t, w.CallAs(t, "getConcurrency", "", apikey.Secret("x"), nil), http.StatusUnauthorized, "unauthorized", "header.Authorization")
}
