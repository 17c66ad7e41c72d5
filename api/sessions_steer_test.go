package api_test

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
func (w *world) orders(t testing.TB, s session.Session) []session.Ordered {
	t.Helper()
	found, err := session.Orders(context.Background(), w.Tenants, "shard-1", s.Owner.UUID)
	require.NoError(t, err)
	return found
}

func testSessionEnds(t *testing.T, w *world) {
	waiting := w.minted(t, nil)
	expired := w.do(t, "deleteSession", waiting, w.Acme.New, nil).Data(t)
	require.Equal(t, []any{"expired", "ended_by_api", 0.0, 0.0, nil}, []any{expired["state"], expired["endReason"], expired["durationS"], expired["billedS"], expired["startedAt"]})
	require.Empty(t, w.events(t, w.Acme.New, "sessionId="+waiting), "nobody came")

	live := w.talk(t, nil)
	own := live.ID.String()
	ended := w.do(t, "endSession", own, w.Acme.New, map[string]any{"reason": "done"}).Data(t)
	require.Equal(t, []any{"ended", "ended_by_api"}, []any{ended["state"], ended["endReason"]})
	require.Equal(t, session.Over, w.orders(t, live)[0].Command.Kind)
	entry := w.last(t)
	require.Equal(t, []any{"session.ended", "done"}, []any{entry["action"], at(entry, "changes", "reason")})
	require.Zero(t, w.places(t))
	for _, operation := range []string{"endSession", "deleteSession"} {
		require.Equal(t, ended, w.do(t, operation, own, w.Acme.New, nil).Data(t), "again changes nothing")
	}
	require.Equal(t, ended, w.do(t, "endSession", own, w.Acme.New, map[string]any{"message": "Bye"}).Data(t))
	require.Equal(t, entry["id"], w.last(t)["id"])
	require.Zero(t, w.places(t))
}

// A last message is said by the session's process, which ends it then.
func testLastMessage(t *testing.T, w *world) {
	live := w.talk(t, nil)
	answered := make(chan apitest.Answer)
	o := w.operation(t, "endSession")
	go func() {
		answered <- w.Do(apitest.Request{Method: o.Method, Path: withID(o, live.ID.String()), Key: w.Acme.New, Body: map[string]any{"message": "Bye", "reason": "done"}})
	}()
	require.Eventually(t, func() bool { return len(w.orders(t, live)) == 1 }, 10*time.Second, 5*time.Millisecond)
	asked := w.orders(t, live)[0].Command
	require.Equal(t, []any{session.Finish, "Bye", session.EndedByAPI}, []any{asked.Kind, asked.Text, asked.Reason})
	w.inTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := session.EndOwn(ctx, tx, live.ID, live.Epoch, session.Ending{Reason: asked.Reason, At: moment(), By: live.Owner.UUID})
		return err
	})
	answer := <-answered
	w.check(t, o, answer)
	require.Equal(t, []any{"ended", "ended_by_api"}, []any{answer.Data(t)["state"], answer.Data(t)["endReason"]})
	require.Equal(t, "done", at(w.last(t), "changes", "reason"))
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
	w := newWorld(t, func(o *apitest.Options) { o.Clock = skipping })
	live := w.talk(t, nil)
	answered := make(chan apitest.Answer)
	o := w.operation(t, "endSession")
	go func() {
		answered <- w.Do(apitest.Request{Method: o.Method, Path: withID(o, live.ID.String()), Key: w.Acme.New, Body: map[string]any{"message": "Bye"}})
	}()
	require.Eventually(t, func() bool { return len(w.orders(t, live)) == 1 }, 10*time.Second, 5*time.Millisecond)
	require.Equal(t, "live", w.read(t, live.ID.String())["state"])
	skipping.ahead.Store(int64(12 * time.Second))
	answer := <-answered
	w.check(t, o, answer)
	require.Equal(t, []any{"ended", "ended_by_api"}, []any{answer.Data(t)["state"], answer.Data(t)["endReason"]})
	items, _ := w.page(t, w.operation(t, "listActivity"), w.Acme.New, map[string][]string{"limit": {"2"}})
	require.Equal(t, "session.ended", at(items[0], "action"))
	require.NotEqual(t, "session.ended", at(items[1], "action"), "once")
}

func testSessionOrders(t *testing.T, w *world) {
	live := w.talk(t, nil)
	own, waiting := live.ID.String(), w.minted(t, nil)
	ended := w.minted(t, nil)
	require.Equal(t, http.StatusOK, w.do(t, "endSession", ended, w.Acme.New, nil).Status)
	for operation, more := range map[string]map[string]any{"saySession": {"interrupt": false, "record": false, "language": "German"}, "respondSession": {}} {
		body := map[string]any{"text": strings.Repeat("x", 29)}
		maps.Copy(body, more)
		before := len(w.orders(t, live))
		o := w.operation(t, operation)
		request := apitest.Request{Path: withID(o, own), Key: w.Acme.New, Body: body, Header: map[string]string{route.IdempotencyHeader: operation}}
		first, second := w.call(t, o, request), w.call(t, o, request)
		require.Equal(t, http.StatusAccepted, first.Status, "%s", first.Raw)
		require.Equal(t, string(first.Raw), string(second.Raw))
		require.Equal(t, []any{operation == "saySession", 3.0}, []any{first.Data(t)["queued"], first.Data(t)["estimatedS"]})
		orders := w.orders(t, live)
		require.Len(t, orders, before+1, "once")
		last := orders[before]
		require.Equal(t, []any{live.ID, first.Data(t)["turnId"], body["text"]}, []any{last.Session, last.Command.ID.String(), last.Command.Text})
		if operation == "saySession" {
			require.Equal(t, session.Command{
				ID: last.Command.ID, Kind: session.SayIt, Text: body["text"].(string), Language: "de", Interruptible: true,
			}, last.Command)
		}

		require.Equal(t, "not_live", reason(t, w.do(t, operation, waiting, w.Acme.New, body), "path.id"))
		requireError(t, w.do(t, operation, ended, w.Acme.New, body), http.StatusConflict, "session_ended", "path.id")
		requireError(t, w.do(t, operation, own, w.Globex.New, body), http.StatusNotFound, "not_found", "path.id")
		for _, text := range []string{"", strings.Repeat("x", 2001)} {
			requireError(t, w.do(t, operation, own, w.Acme.New, map[string]any{"text": text}), http.StatusBadRequest, "invalid_request", "body.text")
		}
		require.Len(t, w.orders(t, live), before+1)
	}
	for _, code := range []string{"Klingon", unspoken(t)} {
		requireError(t, w.do(t, "saySession", own, w.Acme.New, map[string]any{"text": "x", "language": code}), http.StatusBadRequest, "invalid_request", "body.language")
	}
}

func testSteering(t *testing.T, w *world) {
	live := w.talk(t, nil)
	own := live.ID.String()
	changed := w.do(t, "updateSession", own, w.Acme.New, map[string]any{
		"context": "VIP", "instructions": "Be brief.", "language": "zh-Hans", "voiceId": globalVoice, "listening": false, "mute": true, "interrupt": true,
		"goal": "need", "variables": map[string]any{"name": "Kim"}, "maxDurationS": 500, "metadata": map[string]any{"n": "1"},
	}).Data(t)
	require.Equal(t, []any{"zh-Hans", globalVoice, "global", 500.0, map[string]any{"n": "1"}},
		[]any{changed["language"], changed["voiceId"], changed["engine"], changed["maxDurationS"], changed["metadata"]})
	require.Equal(t, changed, w.read(t, own))
	orders := w.orders(t, live)
	require.Len(t, orders, 1)
	voice := id.NamedVoice("ka-ho")
	require.Equal(t, session.Command{
		ID: orders[0].Command.ID, Kind: session.SteerIt, Language: "zh-Hans", Voice: &voice, Context: new("VIP"), Instructions: new("Be brief."),
		Listening: new(false), Mute: new(true), Interrupt: true, Goal: new("need"), Variables: map[string]string{"name": "Kim"}, MaxDurationS: new(int64(500)),
	}, orders[0].Command)

	muted := w.do(t, "updateSession", own, w.Acme.New, map[string]any{"mute": false}).Data(t)
	require.Equal(t, changed, muted, "what is not named stays")
	require.Len(t, w.orders(t, live), 2)
	metadata := map[string]any{"metadata": map[string]any{"n": "2"}}
	require.Equal(t, metadata["metadata"], w.do(t, "updateSession", own, w.Acme.New, metadata).Data(t)["metadata"])
	require.Len(t, w.orders(t, live), 2, "which the process need not know")

	waiting := w.minted(t, nil)
	require.Equal(t, metadata["metadata"], w.do(t, "updateSession", waiting, w.Acme.New, metadata).Data(t)["metadata"])
	require.Equal(t, "not_live", reason(t, w.do(t, "updateSession", waiting, w.Acme.New, map[string]any{"mute": true}), "path.id"))
	require.Equal(t, http.StatusOK, w.do(t, "endSession", own, w.Acme.New, nil).Status)
	require.Equal(t, map[string]any{}, w.do(t, "updateSession", own, w.Acme.New, map[string]any{"metadata": map[string]any{}}).Data(t)["metadata"], "also after the end")
	requireError(t, w.do(t, "updateSession", own, w.Acme.New, map[string]any{"mute": true, "metadata": map[string]any{}}), http.StatusConflict, "session_ended", "path.id")
}

func testSteeringRefusals(t *testing.T, w *world) {
	live := w.talk(t, nil)
	sandbox := w.talk(t, map[string]any{"sandbox": true}).ID.String()
	own := live.ID.String()
	refused := func(param string, body map[string]any) {
		t.Helper()
		requireError(t, w.do(t, "updateSession", own, w.Acme.New, body), http.StatusBadRequest, "invalid_request", param)
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
	requireError(t, w.do(t, "updateSession", own, w.Acme.New, map[string]any{"voiceId": id.NewVoice().String()}), http.StatusNotFound, "not_found", "body.voiceId")
	requireError(t, w.do(t, "updateSession", sandbox, w.Acme.New, map[string]any{"maxDurationS": 61}), http.StatusBadRequest, "invalid_request", "body.maxDurationS")
	w.limit(t, plan.Limits{plan.MaxSessionS: new(int64(300))})
	refused("body.maxDurationS", map[string]any{"maxDurationS": 301})
	require.Empty(t, w.orders(t, live))
	require.Equal(t, 600.0, w.read(t, own)["maxDurationS"])
}

func testEndIdle(t *testing.T, w *world) {
	foreign := w.apart(t)
	foreign.use(t, foreign.Acme)
	idle := func(w *world, properties map[string]any) string {
		own := w.talk(t, properties).ID.String()
		w.setSession(t, own, `last_activity_at = last_activity_at - INTERVAL '10 minutes'`)
		return own
	}
	first, named, theirs := idle(w, nil), idle(w, map[string]any{"externalId": "mine"}), idle(foreign, nil)
	busy, waiting := w.talk(t, nil).ID.String(), w.minted(t, nil)
	reclaim := func(body any) []string {
		t.Helper()
		answer := w.do(t, "endIdleSessions", "", w.Acme.New, body)
		require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
		ended := answer.Data(t)["ended"].([]any)
		require.EqualValues(t, len(ended), answer.Data(t)["count"])
		for _, e := range ended {
			require.Equal(t, "concurrency_reclaimed", at(e, "endReason"))
		}
		return ids(ended)
	}
	require.Equal(t, []string{first, named}, reclaim(map[string]any{"dryRun": true}))
	require.Equal(t, 4, w.places(t), "a dry run ends nothing")
	require.Empty(t, reclaim(map[string]any{"olderThanS": 3600}))
	require.Empty(t, reclaim(map[string]any{"personaId": id.NewPersona().String()}))
	require.Equal(t, []string{named}, reclaim(map[string]any{"externalId": "mine", "personaId": w.shown(t, w.Acme)}))
	require.Equal(t, 3, w.places(t))
	require.Equal(t, []string{first}, reclaim(nil))
	require.Equal(t, []any{"ended", "concurrency_reclaimed"}, []any{w.read(t, first)["state"], w.read(t, first)["endReason"]})
	require.Equal(t, "session.reclaimed", w.last(t)["action"])
	require.Equal(t, []string{waiting}, reclaim(map[string]any{"olderThanS": 0}), "never one in which somebody may speak")
	require.Equal(t, "live", w.read(t, busy)["state"])
	require.Equal(t, 1, w.places(t))
	require.Equal(t, "live", foreign.read(t, theirs)["state"])
	require.Equal(t, 1, foreign.places(t))
	requireError(t, w.do(t, "endIdleSessions", "", w.Acme.New, map[string]any{"personaId": "x"}), http.StatusNotFound, "not_found", "body.personaId")
	requireError(t, w.do(t, "endIdleSessions", "", w.Acme.New, map[string]any{"olderThanS": -1}), http.StatusBadRequest, "invalid_request", "body.olderThanS")
}

func testConcurrency(t *testing.T, w *world) {
	w.talk(t, nil)
	w.minted(t, nil)
	least := w.scoped(contract.Latest)
	require.Equal(t, map[string]any{"limit": nil, "active": 2.0, "reserved": 1.0, "canStart": true}, w.do(t, "getConcurrency", "", least, nil).Data(t))
	w.limit(t, plan.Limits{plan.MaxConcurrentSessions: new(int64(2))})
	require.Equal(t, map[string]any{"limit": 2.0, "active": 2.0, "reserved": 1.0, "canStart": false}, w.do(t, "getConcurrency", "", w.Acme.New, nil).Data(t))
	require.Equal(t, 2, w.places(t))
	requireError(t, w.do(t, "getConcurrency", "", apikey.Secret("x"), nil), http.StatusUnauthorized, "unauthorized", "header.Authorization")
}
