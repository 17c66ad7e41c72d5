package api_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/operations/move"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
)

// leaveWords has somebody leave words wherever the API takes them, and answers who.
func leaveWords(t *testing.T, w *apitest.World) (who string, repeat func() apitest.Answer) {
	t.Helper()
	metadata := map[string]string{"nick": apitest.Mark + " metadata"}
	body := w.PersonBody(t, w.Acme)
	place := body["membership"].(map[string]any)
	place["unitId"], place["externalId"], place["metadata"] = nil, apitest.Mark+"-place", metadata
	body["name"], body["givenName"], body["familyName"] = "Kim "+apitest.Mark, apitest.Mark+"given", apitest.Mark+"family"
	body["email"], body["externalId"], body["metadata"] = apitest.Mark+"@example.com", apitest.Mark+"-1", metadata
	create := func() apitest.Answer {
		o := w.Operation(t, "createPerson")
		return w.Call(t, o, apitest.Request{Path: o.Path, Key: w.Acme.New, Body: body, Header: map[string]string{"Idempotency-Key": "make"}})
	}
	made := create()
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
	who = made.Data(t)["id"].(string)
	seat := made.Data(t)["membershipId"].(string)
	require.Equal(t, http.StatusOK, w.CallAs(t, "updatePerson", who, w.Acme.New, map[string]any{"name": "Kim the second " + apitest.Mark}).Status)

	certified := w.CallAs(t, "createCertificate", "", w.Acme.New, map[string]any{"personId": who, "subjectId": w.Exam(t, w.Acme), "recipientName": "Kim " + apitest.Mark})
	require.Equal(t, http.StatusCreated, certified.Status, "%s", certified.Raw)

	guardian := apitest.GuardianBody(1)
	guardian["guardianName"], guardian["guardianEmail"], guardian["relationship"] = "Sam "+apitest.Mark, apitest.Mark+"sam@example.com", apitest.Mark+"uncle"
	guardian["evidence"] = "data:application/pdf;base64," + base64.StdEncoding.EncodeToString([]byte("%PDF-1.4\n"+apitest.Mark))
	o := w.Operation(t, "recordGuardianConsent")
	agreed := w.Call(t, o, apitest.Request{
		Path: strings.Replace(o.Path, "{id}", seat, 1), Key: w.Acme.New, Body: guardian, Header: map[string]string{"Idempotency-Key": "agree"},
	})
	require.Equal(t, http.StatusCreated, agreed.Status, "%s", agreed.Raw)

	csv := fmt.Sprintf("name,externalId,email,portalId,role\nKim %s,%[1]s-1,%[1]s@example.com,%s,learner\nKim %[1]s,,%[1]s@,%[2]s,learner\n", apitest.Mark, w.Campus(t, w.Acme))
	require.Equal(t, http.StatusAccepted, w.CallAs(t, "importPeople", "", w.Acme.New, map[string]any{"csv": csv}).Status)
	w.RunImports(t)

	s := w.Talk(t, map[string]any{"externalId": apitest.Mark, "metadata": metadata, "context": "They like " + apitest.Mark, "variables": map[string]string{"pet": apitest.Mark}})
	person, err := id.ParsePerson(who)
	require.NoError(t, err)
	w.SetSession(t, s.ID.String(), `person_id = $3, collected = jsonb_build_object('name', $4::TEXT), summary = $4, rating_comment = $4`, person, apitest.Mark)
	w.Said(t, s, 0, session.User, "I am "+apitest.Mark)
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO memory (org_id, persona_id, person_id, id, items, session_id, written_at, expires_at) VALUES ($1, $2, $3, $3, $4, $5, now(), now())`,
			tx.Org, s.Persona, person, []map[string]string{{"text": apitest.Mark}}, s.ID)
		return err
	})
	signIn(t, w, who, person)
	return who, create
}

// signIn signs the marked person in by the organization's own system, and has its identity
// provider know them.
func signIn(t *testing.T, w *apitest.World, who string, person id.Person) {
	t.Helper()
	portal := w.Entrance(t, w.Acme)
	body := apitest.EmbedTokenBody(0)
	body["personId"], body["externalId"], body["name"], body["email"] = "", apitest.Mark+"-1", "Kim "+apitest.Mark, apitest.Mark+"@example.com"
	o := w.Operation(t, "createEmbedToken")
	made := w.Call(t, o, apitest.Request{Path: apitest.WithID(o, portal), Key: w.Acme.New, Body: body, Header: map[string]string{"Idempotency-Key": "embed"}})
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
	require.Equal(t, who, made.Data(t)["personId"])
	on, err := id.ParsePortal(portal)
	require.NoError(t, err)
	_, err = w.Gate.ByEmbedToken(t.Context(), w.Acme.ID, on, made.Data(t)["token"].(string))
	require.NoError(t, err)
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `
			INSERT INTO person_identity (org_id, connection_id, issuer, subject, person_id, created_at)
			VALUES ($1, $2, 'https://login.example.com', $3, $4, now())`, tx.Org, id.NewConnection(), apitest.Mark, person)
		return err
	})
}

// Whoever is erased is in no table of any database and in no file any more, whatever
// they left where.
func TestAnErasedPersonIsNowhere(t *testing.T) {
	w := apitest.NewWorld(t)
	who, repeat := leaveWords(t, w)
	require.Equal(t, "true", repeat().Header.Get("Idempotency-Replayed"))
	before := apitest.PlacesOf(apitest.Marked(t, w))
	for _, place := range []string{"person", "person_term", "membership", "consent", "idempotency_record", "session", "turn", "memory", "person_identity", "certificate"} {
		require.True(t, before["shard-1."+place], "nothing was left in %s, so this test shows nothing of it", place)
	}
	require.True(t, before["file"])

	require.Equal(t, http.StatusAccepted, w.CallAs(t, "erasePerson", who, w.Acme.New, nil).Status)
	gone := repeat()
	apitest.RequireError(t, gone, http.StatusGone, "gone", "header.Idempotency-Key")
	require.NotContains(t, strings.ToLower(string(gone.Raw)), apitest.Mark)

	w.Erase(t)
	sweep(t, w)
	require.Empty(t, apitest.Marked(t, w))
	apitest.RequireError(t, repeat(), http.StatusGone, "gone", "header.Idempotency-Key")
}

// interruption does something before the first statement that contains a text.
type interruption struct {
	text string
	do   func()
	sync.Once
}

// TraceQueryStart implements pgx.QueryTracer.
func (o *interruption) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if strings.Contains(data.SQL, o.text) {
		o.Do(o.do)
	}
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (*interruption) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// Whoever is erased while their organization moves from shard to shard is on neither of
// them afterwards, wherever the move was: before a table is copied, or when what was
// written meanwhile is copied again.
func TestAPersonErasedDuringAMoveIsNowhere(t *testing.T) {
	for _, moment := range []string{"FROM turn t", "FROM person t", "DELETE FROM move_dirty"} {
		t.Run(moment, func(t *testing.T) {
			w := apitest.NewWorld(t)
			who, _ := leaveWords(t, w)
			erased := false
			tracer := &interruption{text: moment, do: func() {
				erased = true
				require.Equal(t, http.StatusAccepted, w.CallAs(t, "erasePerson", who, w.Acme.New, nil).Status)
				w.Erase(t)
			}}
			db, err := database.Open(w.Options.DirectoryURL, database.PoolOptions{Tracer: tracer})
			require.NoError(t, err)
			t.Cleanup(db.Close)
			d := directory.New(db, directory.Options{Clock: clock.RealClock{}})
			tenants := tenant.New(d, database.PoolOptions{Tracer: tracer})
			t.Cleanup(tenants.Close)
			mover := move.New(move.Options{
				Directory: d, Tenants: tenants, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler), Small: -1, Keep: -1, Page: 7, RowsPerSecond: 1_000_000,
			})
			require.NoError(t, move.Begin(t.Context(), d, tenants, w.Acme.ID, "shard-2", "test"))
			require.Eventually(t, func() bool {
				_, err := mover.Advance(t.Context())
				require.NoError(t, err)
				m, err := d.MoveOf(t.Context(), w.Acme.ID)
				require.NoError(t, err)
				return move.Switched(m)
			}, time.Minute, time.Millisecond)
			require.True(t, erased, "the move never came to %q", moment)
			shard, err := tenants.ShardOf(t.Context(), w.Acme.ID)
			require.NoError(t, err)
			require.Equal(t, "shard-2", shard)
			w.Erase(t)
			sweep(t, w)
			require.Empty(t, apitest.Marked(t, w))
		})
	}
}

// sweep deletes the files that nothing refers to any more, on whatever shard.
func sweep(t *testing.T, w *apitest.World) {
	t.Helper()
	for _, shard := range []string{"shard-1", "shard-2"} {
		_, err := job.SweepSources(t.Context(), w.Tenants, w.Files, shard)
		require.NoError(t, err)
		w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE file SET changed_at = changed_at - INTERVAL '2 hours' WHERE org_id = $1`, tx.Org)
			return err
		})
		_, err = w.Files.Sweep(t.Context(), shard)
		require.NoError(t, err)
	}
}
