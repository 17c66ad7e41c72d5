package rehearsal_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/event/eventtest"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/provider/model/modeltest"
	"visavis.dev/pkg/sessions/rehearsal"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// document enters a document, which the museum's is.
func (w *world) document(d id.Document) {
	w.t.Helper()
	_, err := w.db.Exec(context.Background(), `
		INSERT INTO knowledge_document (org_id, id, base_id, kind, title, titled, status, error_code, content_type, bytes, sha256, same_key, chunks,
			tags, refresh, crawl_depth, crawl_pages, generation, revision, created_at, updated_at)
		VALUES ($1, $2, $2, 'text', 'Guide', true, 'ready', '', 'text/plain', 1, '', $3, 1, '{}', 'none', 0, 0, 1, 1, $4, $4)`,
		w.org, d, d[:], w.clock.Now())
	require.NoError(w.t, err)
}

func counts(total, passed, failed, unanswered int64) map[string]int64 {
	return map[string]int64{"total": total, "passed": passed, "failed": failed, "error": unanswered}
}

// changes are what a run changed, test by test.
func changes(r rehearsal.Run) (all []string) {
	for _, o := range r.Tests {
		if o.Change == nil {
			all = append(all, "")
			continue
		}
		all = append(all, *o.Change)
	}
	return all
}

// Each test is asked once, remembered, and held against the run before, however
// often the process dies.
func TestRun(t *testing.T) {
	w := newWorld(t, func(d *persona.Definition) { d.Knowledge.Mode = "open" }) // what a model says against the packs is said
	w.document(museum)
	w.crash()
	no := false
	w.test("When does the museum open?", rehearsal.Expectation{Facts: []string{"at Nine"}, NotFacts: []string{"ten"}, DocumentIDs: []id.Document{museum}})
	w.test("What is the admission to the museum?", rehearsal.Expectation{Facts: []string{"12.50 euros"}})
	w.test("Who invented the telephone?", rehearsal.Expectation{Grounded: &no})
	w.test("When does the museum open?", rehearsal.Expectation{Facts: []string{"at ten"}})
	for n := range 40 { // of several steps
		w.test(fmt.Sprint("Where does the museum stand? ", n), rehearsal.Expectation{NotFacts: []string{"nowhere"}})
	}
	j, r := w.run()
	require.Equal(t, job.Succeeded, j.State)
	require.Equal(t, counts(44, 43, 1, 0), j.Counts)
	require.Equal(t, []int64{44, 44}, []int64{j.Done, j.Total})
	require.Equal(t, []any{w.persona.ID, int64(1), true, 44}, []any{r.PersonaID, r.PersonaVersion, r.AIGenerated, len(r.Tests)})
	require.Equal(t, make([]string, 44), changes(r), "there was no run before")
	tests := w.tests()
	for i, o := range r.Tests {
		require.Equal(t, []any{tests[i].ID, tests[i].Name, tests[i].Question}, []any{o.ID, o.Name, o.Question}, "in the order in which they were made")
		last := tests[i].LastRun
		require.Equal(t, o.Result, last.Result)
		require.Equal(t, []any{j.ID, int64(1)}, []any{last.Job, last.PersonaVersion})
	}
	require.Equal(t, "The museum opens at nine.", r.Tests[0].Result.Answer)
	require.Equal(t, []rehearsal.Source{{DocumentID: museum, Title: "Guide"}}, r.Tests[0].Result.Sources)
	require.Equal(t, []string{"at ten"}, r.Tests[3].Result.Missing)
	require.Len(t, eventtest.Log(t, w.tenants, w.org, event.JobCompleted), 1)

	// The museum opens later from now on, and nobody speaks of anything else any more.
	w.modelled(modeltest.Stream("We open at ten [1]."))
	j, r = w.run()
	require.Equal(t, counts(44, 41, 3, 0), j.Counts)
	require.Equal(t, []string{"newly_failing", "newly_failing", "newly_failing", "newly_passing"}, changes(r)[:4])
	_, r = w.run()
	require.Equal(t, make([]string, 44), changes(r), "nothing is other than before")

	n, err := job.SweepSources(context.Background(), w.tenants, w.files, "a")
	require.NoError(t, err)
	require.Equal(t, 3, n)
	require.Zero(t, w.count(`SELECT count(*) FROM job_note WHERE org_id = $1`))
}

// Another process goes on where the first fell silent, which then commits nothing.
func TestAnotherProcessTakesOver(t *testing.T) {
	w := newWorld(t)
	for n := range 25 {
		w.test(fmt.Sprint("When does the museum open? ", n), rehearsal.Expectation{Facts: []string{"nine"}})
	}
	begun, err := w.beginTests(w.tests())
	require.NoError(t, err)
	second := w.process()
	work, suspended := w.rehearser.Work(), false
	w.runner.Works = map[job.Kind]job.Work{job.Simulate: {Prepare: func(ctx context.Context, j job.Job) (job.Step, error) {
		step, err := work.Prepare(ctx, j)
		if !suspended { // for longer than its lease, and the other one makes its step
			suspended = true
			w.clock.Step(time.Minute)
			_, other := second.Advance(context.Background(), "a")
			require.NoError(t, other)
		}
		return step, err
	}}}
	j := w.end(begun.ID)
	require.Equal(t, counts(25, 25, 0, 0), j.Counts)
	require.Len(t, read[rehearsal.Run](w, j).Tests, 25)
}

// One run at a time; when it has ended, by itself or not, there can be the next.
func TestOneRunAtATime(t *testing.T) {
	w := newWorld(t)
	w.test("When does the museum open?", rehearsal.Expectation{Facts: []string{"nine"}})
	w.begin(rehearsal.Script{Turns: []string{"Hi"}}) // which is no run of tests
	first, err := w.beginTests(w.tests())
	require.NoError(t, err)
	_, err = w.beginTests(w.tests())
	var running *errdefs.Conflict
	require.ErrorAs(t, err, &running)
	require.Equal(t, first.ID, running.Details["jobId"])
	here := w.persona
	w.persona = w.insert()
	w.test("When does the museum open?", rehearsal.Expectation{Facts: []string{"nine"}})
	_, err = w.beginTests(w.tests())
	require.NoError(t, err, "of another persona")
	w.persona = here

	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := job.Cancel(ctx, tx, first.ID, activity.Actor{By: "test", At: w.clock.Now()})
		return err
	})
	require.Nil(t, w.tests()[0].LastRun)
	j, _ := w.run()
	require.Equal(t, counts(1, 1, 0, 0), j.Counts)
}

// Of runs that are begun at once, one is.
func TestRunsBegunAtOnce(t *testing.T) {
	w := newWorld(t)
	w.test("When does the museum open?", rehearsal.Expectation{Facts: []string{"nine"}})
	tests, results := w.tests(), make(chan error, 8)
	for range cap(results) {
		go func() {
			_, err := w.beginTests(tests)
			results <- err
		}()
	}
	begun := 0
	for range cap(results) {
		if err := <-results; err == nil {
			begun++
		} else {
			var running *errdefs.Conflict
			require.ErrorAs(t, err, &running)
		}
	}
	require.Equal(t, 1, begun)
}

// A test that is changed or deleted during a run has the run's result in its file,
// and nothing of it itself.
func TestTestsChangeDuringARun(t *testing.T) {
	w := newWorld(t)
	w.document(museum)
	for range 3 {
		w.test("When does the museum open?", rehearsal.Expectation{Facts: []string{"nine"}, DocumentIDs: []id.Document{museum}})
	}
	tests := w.tests()
	begun, err := w.beginTests(tests)
	require.NoError(t, err)
	_, err = w.db.Exec(context.Background(), `UPDATE knowledge_document SET deleted_at = created_at WHERE org_id = $1`, w.org)
	require.NoError(t, err)
	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		after := tests[0]
		after.Question, after.UpdatedAt = "Who is it?", w.clock.Now().Add(time.Second)
		gone := rehearsal.Delete(ctx, tx, tests[1].ID, author())
		return errors.Join(rehearsal.Update(ctx, tx, tests[0], after, author()), gone)
	})
	j := w.end(begun.ID)
	require.Equal(t, counts(3, 3, 0, 0), j.Counts)
	for _, o := range read[rehearsal.Run](w, j).Tests {
		require.Equal(t, []id.Document{museum}, o.Result.DeletedDocuments, "which is told")
	}
	after := w.tests()
	require.Len(t, after, 2)
	require.Nil(t, after[0].LastRun)
	require.Equal(t, tests[2].ID, after[1].ID)
	require.True(t, after[1].LastRun.Passed)
}

// A model that does not answer says nothing of the persona: it is an error, and the
// last result stays.
func TestARunWithoutItsModel(t *testing.T) {
	w := newWorld(t, func(d *persona.Definition) { d.Model.TimeoutMs = 500 })
	w.minds.modelOnly = true
	w.test("When does the museum open?", rehearsal.Expectation{Facts: []string{"nine"}})
	w.test("Who invented the telephone?", rehearsal.Expectation{NotFacts: []string{"Bell"}})
	models := w.modelled(modeltest.Stream("At nine [1]."))
	j, _ := w.run()
	require.Equal(t, counts(2, 2, 0, 0), j.Counts)

	models.Behave(silence)
	j, r := w.run()
	require.Equal(t, job.Succeeded, j.State)
	require.Equal(t, counts(2, 0, 0, 2), j.Counts, "the model is asked for what the packs do not know too")
	require.Equal(t, []rehearsal.Reason{rehearsal.NoAnswer}, r.Tests[0].Result.Reasons)
	require.Equal(t, []string{"nine"}, r.Tests[0].Result.Missing)
	require.Equal(t, []string{"", ""}, changes(r))
	require.True(t, w.tests()[0].LastRun.Passed)

	w.minds.modelOnly = false
	models.Behave(modeltest.Stall())
	began := time.Now()
	j, _ = w.run()
	require.Equal(t, counts(2, 2, 0, 0), j.Counts, "the packs answer instead")
	require.Less(t, time.Since(began), 10*time.Second)

	models.Behave(func(rw http.ResponseWriter, r *http.Request, q modeltest.Request) { modeltest.Abort("At n")(rw, r, q) })
	w.minds.away = errors.New("the database is away")
	begun, err := w.beginTests(w.tests())
	require.NoError(t, err)
	_, err = w.runner.Advance(context.Background(), "a")
	require.NoError(t, err)
	require.Equal(t, job.Running, w.job(begun.ID).State, "it waits for the packs")
	w.minds.away = nil
	require.Equal(t, counts(2, 2, 0, 0), w.end(begun.ID).Counts)
}
