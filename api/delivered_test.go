package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/api/apitest"
	"visavis.dev/api/route"
	"visavis.dev/hack/receiver/endpoint"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/delivery"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/learning/certificate"
	"visavis.dev/pkg/portals/portal/portaltest"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/sessions/caselink"
	"visavis.dev/pkg/sessions/escalation"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/admission/admissiontest"
)

// catalogue is what GET /event-types says of the types: the schemas of their data, and their entries.
func catalogue(t *testing.T, w *apitest.World) (schemas map[string]*jsonschema.Schema, entries map[string]map[string]any) {
	t.Helper()
	schemas, entries = map[string]*jsonschema.Schema{}, map[string]map[string]any{}
	for _, entry := range w.Get(w.Acme.New, "/event-types").JSON(t)["data"].([]any) {
		e := entry.(map[string]any)
		name := e["type"].(string)
		text, err := json.Marshal(e["dataSchema"])
		require.NoError(t, err)
		parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		require.NoError(t, err)
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		require.NoError(t, c.AddResource("mem:///data.json", parsed))
		schemas[name], err = c.Compile("mem:///data.json")
		require.NoError(t, err, name)
		entries[name] = e
	}
	return schemas, entries
}

// receives makes a webhook of Acme's that receives every type at a path of a receiver, which checks the signatures. It answers its id.
func receives(t *testing.T, w *apitest.World, at *endpoint.Server, path string, key apikey.Secret) string {
	t.Helper()
	o := w.Operation(t, "createWebhook")
	answer := w.Call(t, o, apitest.Request{Path: o.Path, Key: key, Body: map[string]any{
		"url": at.URL(path), "events": []any{event.Any, event.TranscriptFinal}, "includeConversation": true,
	}})
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Raw)
	at.Set(path, endpoint.Behaviour{Secret: answer.Data(t)["secret"].(string)})
	return answer.Data(t)["id"].(string)
}

// deliver sends all that is due to a receiver, as a worker does.
func deliver(t *testing.T, w *apitest.World, to *endpoint.Server) {
	t.Helper()
	client := egress.New(egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, RootCAs: to.RootCAs(), Timeout: time.Minute})
	defer client.Client().CloseIdleConnections()
	require.NoError(t, delivery.New(delivery.Options{
		Tenants: w.Tenants, Vault: w.Vault, Renderer: w.Renderer, Shards: w.ShardNames, Egress: client, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler),
	}).Drain(context.Background()))
}

// more brings about what no operation does whose body and path are any good ones, webhooks tested among it.
func more(t *testing.T, w *apitest.World, hooks ...string) {
	t.Helper()
	do := func(operation, of string, body any) map[string]any {
		t.Helper()
		answer := w.CallAs(t, operation, of, w.Acme.New, body)
		require.Less(t, answer.Status, 300, "%s %s", operation, answer.Raw)
		return answer.Data(t)
	}
	for _, hook := range hooks {
		do("testWebhook", hook, nil)
	}
	unit, place := w.Unit(t, w.Acme), apitest.At(w.Member(t, w.Acme)["memberships"].([]any)[0], "id").(string)
	for _, enabled := range []bool{false, true} {
		do("updateUnit", unit, map[string]any{"enabled": enabled})
		do("updateMembership", place, map[string]any{"enabled": enabled})
	}
	at := w.Make(t, w.Acme, "createSchedule")["id"].(string)
	times := do("listTimes", at, nil)["times"].([]any)
	booked := do("createInboxItem", "", map[string]any{
		"kind": "booking", "contact": map[string]any{"name": "Kim Lee", "email": "kim@example.com"}, "need": "A tour for two",
		"booking": map[string]any{"scheduleId": at, "bookingKind": "tour", "startsAt": times[5].(map[string]any)["startsAt"]},
	})["id"].(string)
	do("updateInboxItem", booked, map[string]any{"booking": map[string]any{"state": "cancelled"}})
	do("updateInboxItem", w.Handoff(t, w.Acme), map[string]any{"state": "open"})

	learner := w.Learner(t, w.Acme)
	w.Assign(t, w.Acme, map[string]any{"audience": map[string]any{"personIds": []any{learner}}})
	w.Assess(t, w.Acme, learner, apitest.RightAnswer)
	w.TendAssignments(t, time.Now())

	role := w.Role(t, w.Acme, nil)
	slot := apitest.InterviewSlot(3)
	offered := do("offerInterview", w.Invite(t, w.Acme, role)["candidateId"].(string), map[string]any{
		"mode": "video", "interviewerIds": []any{w.HiringManager(t, w.Acme)}, "timezone": "Europe/Berlin", "slots": []any{slot},
	})["id"].(string)
	do("updateInterview", offered, map[string]any{"startsAt": slot["startsAt"]})
	do("eraseCandidate", w.Arrive(t, w.Acme, w.Invite(t, w.Acme, role)).String(), nil)
	w.EraseCandidates(t)

	visit, err := id.ParseSession(apitest.At(w.Visitor(t, w.Widget(t, w.Acme)["id"].(string), nil, nil).Data(t), "session", "id").(string))
	require.NoError(t, err)
	w.Attach(t, w.Acme, visit)
	do("endSession", visit.String(), nil)

	pack := w.Pack(t, w.Acme)
	broken := w.Upload(t, pack, apitest.Part{Field: "file", Name: "broken.pdf", ContentType: "application/pdf", Text: "%PDF-1.7 and nothing else"})
	require.Less(t, broken.Status, 300, "%s", broken.Raw)
	w.ReadDocuments(t)
}

// visited brings about what those do who come by links that a call makes, and what a clock does.
func visited(t *testing.T, w *apitest.World) {
	t.Helper()
	own, err := id.ParsePortal(w.Entrance(t, w.Acme))
	require.NoError(t, err)
	token := func(operation string) string {
		return w.At(t, w.Acme, operation, own.String(), http.StatusCreated)["token"].(string)
	}
	asked, err := w.Gate.ByEscalation(t.Context(), w.Acme.ID, own, escalation.Token(token("createEscalation")))
	require.NoError(t, err)
	talk, err := id.ParseSession(apitest.At(w.On(t, map[string]any{"portalId": own.String()}).Data(t), "session", "id").(string))
	require.NoError(t, err)
	w.SetSession(t, talk.String(), `escalation_id = $3, outcome = 'resolved'`, asked.Escalation)
	w.Run(t, talk)
	require.Equal(t, http.StatusOK, w.CallAs(t, "endSession", talk.String(), w.Acme.New, nil).Status)

	_, link, _ := strings.Cut(w.At(t, w.Acme, "createCaseLink", own.String(), http.StatusCreated)["url"].(string), "case=")
	_, err = w.Gate.ByCaseLink(t.Context(), w.Acme.ID, own, caselink.Token(link))
	require.NoError(t, err)

	p := w.OpenPortal(t, w.Acme)
	taught := portaltest.Subject(t, w.Tenants, w.Acme.ID, p.ID, func(s *subject.Subject, _ *subject.Content) { s.Kind = subject.Practice })
	who := admissiontest.Person(t, w.Tenants, w.Acme.ID)
	admissiontest.Membership(t, w.Tenants, w.Acme.ID, who.ID, p.ID)
	practice, err := id.ParseSession(apitest.At(w.On(t, map[string]any{"subjectId": taught.ID.String(), "personId": who.ID.String()}).Data(t), "session", "id").(string))
	require.NoError(t, err)
	w.Run(t, practice)

	_, err = w.Gate.ByEmbedToken(t.Context(), w.Acme.ID, own, token("createEmbedToken"))
	require.NoError(t, err)

	exec := func(sql string) {
		w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
			_, err := tx.Exec(ctx, sql, tx.Org)
			return err
		})
	}
	exec(`UPDATE candidate_invite SET expires_at = now() - INTERVAL '1 hour', due_at = now() - INTERVAL '1 hour' WHERE org_id = $1 AND due_at IS NOT NULL`)
	_, err = candidate.Expire(t.Context(), w.Tenants, "shard-1", time.Now())
	require.NoError(t, err)
	for _, ends := range []string{"now() + INTERVAL '5 days'", "now() - INTERVAL '1 hour'"} {
		exec(`UPDATE certificate SET expires_at = ` + ends + `, notice_at = now() - INTERVAL '1 hour' WHERE org_id = $1`)
		_, err = certificate.Notice(t.Context(), w.Tenants, "shard-1", time.Now())
		require.NoError(t, err)
	}
}

// notByCalls are the types that nothing here brings about: they need a conversation in a browser, minutes that are paid for, or somebody else's system
// that works or fails. Tests of their packages have them; units are not deleted, so that nobody tells unit.deleted.
var notByCalls = []event.Type{
	event.ConnectionFailed, event.HandoffJoined, event.HandoffLeft, event.MemoryWritten, event.UnitDeleted, event.UsageThreshold, event.VoiceCloneCompleted,
}

// Whatever calls of the API bring about is received: signed, and as the catalogue says, by webhooks of both contracts.
func TestWhatIsReceived(t *testing.T) {
	w := apitest.NewWorld(t)
	to, err := endpoint.Start(endpoint.Options{Keep: 100_000})
	require.NoError(t, err)
	t.Cleanup(to.Close)
	hooks := []string{receives(t, w, to, "/new", w.Acme.New), receives(t, w, to, "/old", w.OldNamed)}
	stock(t, w, w.Acme)
	w.Each(t, func(t *testing.T, o *route.Operation) {
		if o.Method != http.MethodGet {
			w.Call(t, o, apitest.Request{Path: freshPath(t, w, o, w.Acme), Body: w.Body(t, o), Key: w.Acme.New})
		}
	})
	w.ReadDocuments(t)
	w.Score(t)
	w.ScoreInterviews(t)
	w.Build(t)
	w.RunImports(t)
	w.Export(t)
	w.ForgetVisitors(t)
	w.EraseCandidates(t)
	more(t, w, hooks...)
	visited(t, w)
	deliver(t, w, to)

	schemas, entries := catalogue(t, w)
	// What was received is counted by its events: each is sent again where an answer came late.
	seen, older := map[string]string{}, map[string]string{}
	for _, r := range to.Received("/new") {
		require.True(t, r.Verified, r.Why)
		var body struct {
			ID, Type, APIVersion, OrganizationID string
			CreatedAt                            time.Time
			Data                                 map[string]any
		}
		require.NoError(t, json.Unmarshal(r.Body, &body))
		require.Equal(t, []string{r.EventID, r.Header.Get("X-Service-Event"), string(contract.Latest), w.Acme.ID.String()}, []string{body.ID, body.Type, body.APIVersion, body.OrganizationID})
		require.True(t, strings.HasPrefix(r.DeliveryID, "whd_"), r.DeliveryID)
		require.NotNil(t, schemas[body.Type], body.Type)
		data, err := jsonschema.UnmarshalJSON(bytes.NewReader(must(json.Marshal(body.Data))))
		require.NoError(t, err)
		require.NoError(t, schemas[body.Type].Validate(data), "%s", r.Body)
		for _, field := range entries[body.Type]["fields"].(map[string]any)["structure"].([]any) {
			name, _, _ := strings.Cut(field.(string), ".")
			name, _, _ = strings.Cut(name, "[]")
			require.Contains(t, body.Data, name, "%s: what there is nothing of is null", body.Type)
		}
		seen[body.ID] = body.Type
	}
	for _, r := range to.Received("/old") {
		require.True(t, r.Verified, r.Why)
		require.False(t, strings.HasPrefix(r.DeliveryID, "whd_"), r.DeliveryID)
		body := map[string]any{}
		require.NoError(t, json.Unmarshal(r.Body, &body))
		require.Equal(t, r.EventID, body["id"])
		data := body["data"].(map[string]any)
		for _, name := range []string{"contact", "leadBand", "inboxItemId"} {
			require.NotContains(t, data, name, "%s", r.Body)
		}
		for _, name := range []string{"portalId", "subjectId"} {
			if of, ok := data[name].(string); ok {
				require.NotContains(t, of, "_", "%s", r.Body)
			}
		}
		delete(body, "aiGenerated") // in every contract
		require.Len(t, body, 4, "%s", r.Body)
		older[r.EventID] = body["type"].(string)
	}
	types := func(events map[string]string) map[string]int {
		counts := map[string]int{}
		for _, of := range events {
			counts[of]++
		}
		return counts
	}
	counts := types(seen)
	require.Equal(t, counts, types(older))
	require.Equal(t, 1, counts[string(event.WebhookTest)], "of each webhook its own")
	var missing []event.Type
	for _, k := range event.Kinds() {
		if counts[string(k.Type)] == 0 {
			missing = append(missing, k.Type)
		}
	}
	slices.Sort(missing)
	require.Equal(t, notByCalls, missing)
	requireJobsAreTold(t, w)
}

// requireJobsAreTold requires that a full-access key of before 2026-10-01 is told of the ends of those jobs that it sees, and of exports.
func requireJobsAreTold(t *testing.T, w *apitest.World) {
	t.Helper()
	told := map[bool]int{}
	for _, e := range w.Events(t, w.Acme.New, "type=job.completed&limit=200") {
		if apitest.At(e, "data", "kind") == string(job.Export) {
			continue
		}
		seen := w.CallAs(t, "getJob", apitest.At(e, "data", "jobId").(string), w.Acme.Old, nil).Status == http.StatusOK
		event := w.CallAs(t, "getEvent", apitest.At(e, "id").(string), w.Acme.Old, nil).Status == http.StatusOK
		require.Equal(t, seen, event, "%v", e)
		told[seen]++
	}
	require.Positive(t, told[false])
	require.Positive(t, told[true])
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}
