package api_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
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
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/memory"
)

// mark is a word that nobody else has: whatever it is found in is about the person who
// is marked.
const mark = "zyqxmark"

// marked finds every row of every database, and every file, with the mark.
func marked(t *testing.T, w *world) (found []string) {
	t.Helper()
	databases := map[string]*database.DB{"directory": w.Directory.DB}
	for _, name := range []string{"shard-1", "shard-2"} {
		db, err := w.Tenants.Shard(t.Context(), name)
		require.NoError(t, err)
		databases[name] = db
	}
	for name, db := range databases {
		rows, err := db.Query(t.Context(), `SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`)
		require.NoError(t, err)
		tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		require.NotEmpty(t, tables)
		for _, table := range tables {
			rows, err := db.Query(t.Context(), fmt.Sprintf(`SELECT r::TEXT FROM %s AS r WHERE lower(r::TEXT) LIKE '%%' || $1 || '%%' OR r::TEXT LIKE '%%' || $2 || '%%'`,
				pgx.Identifier{table}.Sanitize()), mark, hex.EncodeToString([]byte(mark)))
			require.NoError(t, err)
			texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
			require.NoError(t, err, table)
			for _, text := range texts {
				found = append(found, name+"."+table+": "+text)
			}
		}
	}
	address, err := url.Parse(w.Options.FilesURL)
	require.NoError(t, err)
	require.NoError(t, filepath.WalkDir(address.Path, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(strings.ToLower(string(text)), mark) {
			found = append(found, "file "+path)
		}
		return err
	}))
	return found
}

// placesOf are the places of what was found.
func placesOf(found []string) map[string]bool {
	all := map[string]bool{}
	for _, f := range found {
		place, _, _ := strings.Cut(f, ":")
		if strings.HasPrefix(place, "file ") {
			place = "file"
		}
		all[place] = true
	}
	return all
}

// leaveWords has somebody leave words wherever the API takes them, and answers who.
func leaveWords(t *testing.T, w *world) (who string, repeat func() apitest.Answer) {
	t.Helper()
	metadata := map[string]string{"nick": mark + " metadata"}
	body := w.personBody(t, w.Acme)
	place := body["membership"].(map[string]any)
	place["unitId"], place["externalId"], place["metadata"] = nil, mark+"-place", metadata
	body["name"], body["givenName"], body["familyName"] = "Kim "+mark, mark+"given", mark+"family"
	body["email"], body["externalId"], body["metadata"] = mark+"@example.com", mark+"-1", metadata
	create := func() apitest.Answer {
		o := w.operation(t, "createPerson")
		return w.call(t, o, apitest.Request{Path: o.Path, Key: w.Acme.New, Body: body, Header: map[string]string{"Idempotency-Key": "make"}})
	}
	made := create()
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
	who = made.Data(t)["id"].(string)
	seat := made.Data(t)["membershipId"].(string)
	require.Equal(t, http.StatusOK, w.do(t, "updatePerson", who, w.Acme.New, map[string]any{"name": "Kim the second " + mark}).Status)

	guardian := guardianBody(1)
	guardian["guardianName"], guardian["guardianEmail"], guardian["relationship"] = "Sam "+mark, mark+"sam@example.com", mark+"uncle"
	guardian["evidence"] = "data:application/pdf;base64," + base64.StdEncoding.EncodeToString([]byte("%PDF-1.4\n"+mark))
	o := w.operation(t, "recordGuardianConsent")
	agreed := w.call(t, o, apitest.Request{
		Path: strings.Replace(o.Path, "{id}", seat, 1), Key: w.Acme.New, Body: guardian, Header: map[string]string{"Idempotency-Key": "agree"},
	})
	require.Equal(t, http.StatusCreated, agreed.Status, "%s", agreed.Raw)

	csv := fmt.Sprintf("name,externalId,email,portalId,role\nKim %s,%[1]s-1,%[1]s@example.com,%s,learner\nKim %[1]s,,%[1]s@,%[2]s,learner\n", mark, w.campus(t, w.Acme))
	require.Equal(t, http.StatusAccepted, w.do(t, "importPeople", "", w.Acme.New, map[string]any{"csv": csv}).Status)
	w.runImports(t)

	s := w.talk(t, map[string]any{"externalId": mark, "metadata": metadata, "context": "They like " + mark, "variables": map[string]string{"pet": mark}})
	person, err := id.ParsePerson(who)
	require.NoError(t, err)
	w.setSession(t, s.ID.String(), `person_id = $3, collected = jsonb_build_object('name', $4::TEXT), summary = $4, rating_comment = $4`, person, mark)
	w.said(t, s, 0, session.User, "I am "+mark)
	w.inTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO memory (org_id, persona_id, person_id, id, items, session_id, written_at, expires_at) VALUES ($1, $2, $3, $3, $4, $5, now(), now())`,
			tx.Org, s.Persona, person, []map[string]string{{"text": mark}}, s.ID)
		return err
	})
	w.signIn(t, who, person)
	return who, create
}

// signIn signs the marked person in by the organization's own system, and has its identity
// provider know them.
func (w *world) signIn(t *testing.T, who string, person id.Person) {
	t.Helper()
	portal := w.entrance(t, w.Acme)
	body := embedTokenBody(0)
	body["personId"], body["externalId"], body["name"], body["email"] = "", mark+"-1", "Kim "+mark, mark+"@example.com"
	o := w.operation(t, "createEmbedToken")
	made := w.call(t, o, apitest.Request{Path: withID(o, portal), Key: w.Acme.New, Body: body, Header: map[string]string{"Idempotency-Key": "embed"}})
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
	require.Equal(t, who, made.Data(t)["personId"])
	on, err := id.ParsePortal(portal)
	require.NoError(t, err)
	_, err = w.Gate.ByEmbedToken(t.Context(), w.Acme.ID, on, made.Data(t)["token"].(string))
	require.NoError(t, err)
	w.inTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `
			INSERT INTO person_identity (org_id, connection_id, issuer, subject, person_id, created_at)
			VALUES ($1, $2, 'https://login.example.com', $3, $4, now())`, tx.Org, id.NewConnection(), mark, person)
		return err
	})
}

// Whoever is erased is in no table of any database and in no file any more, whatever
// they left where.
func TestAnErasedPersonIsNowhere(t *testing.T) {
	w := newWorld(t)
	who, repeat := leaveWords(t, w)
	require.Equal(t, "true", repeat().Header.Get("Idempotency-Replayed"))
	before := placesOf(marked(t, w))
	for _, place := range []string{"person", "person_term", "membership", "consent", "idempotency_record", "session", "turn", "memory", "person_identity"} {
		require.True(t, before["shard-1."+place], "nothing was left in %s, so this test shows nothing of it", place)
	}
	require.True(t, before["file"])

	require.Equal(t, http.StatusAccepted, w.do(t, "erasePerson", who, w.Acme.New, nil).Status)
	gone := repeat()
	requireError(t, gone, http.StatusGone, "gone", "header.Idempotency-Key")
	require.NotContains(t, strings.ToLower(string(gone.Raw)), mark)

	w.erase(t)
	sweep(t, w)
	require.Empty(t, marked(t, w))
	requireError(t, repeat(), http.StatusGone, "gone", "header.Idempotency-Key")
}

// erase does what is left to do for those who were erased.
func (w *world) erase(t *testing.T) {
	t.Helper()
	eraser := person.Eraser{Files: w.Files, Forget: memory.ForgetPerson}
	w.runJobs(t, map[job.Kind]job.Work{job.Erase: {Prepare: func(context.Context, job.Job) (job.Step, error) { return eraser.Step, nil }}})
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
			w := newWorld(t)
			who, _ := leaveWords(t, w)
			erased := false
			tracer := &interruption{text: moment, do: func() {
				erased = true
				require.Equal(t, http.StatusAccepted, w.do(t, "erasePerson", who, w.Acme.New, nil).Status)
				w.erase(t)
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
			w.erase(t)
			sweep(t, w)
			require.Empty(t, marked(t, w))
		})
	}
}

// sweep deletes the files that nothing refers to any more, on whatever shard.
func sweep(t *testing.T, w *world) {
	t.Helper()
	for _, shard := range []string{"shard-1", "shard-2"} {
		_, err := job.SweepSources(t.Context(), w.Tenants, w.Files, shard)
		require.NoError(t, err)
		w.inTx(t, func(ctx context.Context, tx *tenant.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE file SET changed_at = changed_at - INTERVAL '2 hours' WHERE org_id = $1`, tx.Org)
			return err
		})
		_, err = w.Files.Sweep(t.Context(), shard)
		require.NoError(t, err)
	}
}
