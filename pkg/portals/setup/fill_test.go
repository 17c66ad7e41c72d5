package setup_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/portaltest"
	"visavis.dev/pkg/portals/setup"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/provider/model/modeltest"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

// school is a portal with a subject, Knots.
func (w *world) school(changes ...func(*subject.Subject, *subject.Content)) (portal.Portal, subject.Subject) {
	w.t.Helper()
	p := portaltest.Portal(w.t, w.tenants, w.org, id.NewPersona(), func(p *portal.Portal) {
		p.Definition.Languages = []string{"en", "de"}
		p.Definition.Pages = portal.Pages{Title: language.Words{"en": "Harbour"}, Welcome: language.Words{"en": "Ask us.", "de": "Von Hand"}, Footer: language.Words{}}
	})
	return p, portaltest.Subject(w.t, w.tenants, w.org, p.ID, changes...)
}

func (w *world) portal(p id.Portal) portal.Detail {
	w.t.Helper()
	found, err := portal.GetDetail(context.Background(), w.tenants, w.org, p)
	require.NoError(w.t, err)
	return found
}

func unasked(_ *subject.Subject, c *subject.Content) { c.Questions = []subject.Question{} }

func every() []setup.Section {
	return []setup.Section{setup.Subjects, setup.Questions, setup.Texts, setup.Knowledge}
}

func TestAPortalIsFilledFromAWebsite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, s := w.school(unasked)
	w.site[start+"more"] = strings.Replace(harbour, "Harbour School", " KNOTS", 1)
	steps := w.crash(job.PortalFill)
	j := w.fill(p, setup.Request{Sections: every(), Source: setup.Input{URL: new(start)}})
	w.outlast()
	require.Equal(t, 2, *steps)
	done := w.job(j)
	require.Equal(t, job.Succeeded, done.State, done.ErrorCode)
	require.Equal(t, map[string]int64{"subjects": 1, "documents": 2, "texts": 0, "questions": 0}, done.Counts, "Knots is there")
	after := w.portal(p.ID)
	require.Len(t, after.Subjects, 2)
	require.Len(t, after.Definition.KnowledgeBaseIDs, 1)
	require.Equal(t, p.DraftVersion+1, after.DraftVersion)
	require.Equal(t, *p.PublishedVersion, *after.PublishedVersion)
	_, v, err := subject.GetContent(context.Background(), w.tenants, w.org, s.ID, 0)
	require.NoError(t, err)
	require.Equal(t, int64(1), v.Version, "what there was stays as it was")
	require.Equal(t, []event.Type{event.PortalUpdated, event.JobCompleted}, w.told())

	w.site["https://other.example/"] = harbour
	w.fill(p, setup.Request{Sections: []setup.Section{setup.Knowledge}, Source: setup.Input{URL: new("https://other.example/")}})
	w.outlast()
	require.Equal(t, after.Definition.KnowledgeBaseIDs, w.portal(p.ID).Definition.KnowledgeBaseIDs, "the portal's own pack is added to")
	require.Equal(t, 3, w.count("knowledge_document"))
}

// answers writes questions, texts or a proposal, whichever is asked for.
func answers(rw http.ResponseWriter, r *http.Request, asked modeltest.Request) {
	answer := proposal("Splices")
	switch orders := asked.Messages[0].Content; {
	case strings.Contains(orders, "questions that check"):
		answer = `{"questions": [{"en": "What does it make?", "de": "Was macht er?", "fr": "?"}]}`
	case strings.Contains(orders, "texts of a web page"):
		answer = `{"title": {"en": "Overwritten", "de": "Hafen"}, "welcome": {"de": "Overwritten"}, "footer": {}}`
	}
	modeltest.Stream(answer)(rw, r, asked)
}

func TestAModelFillsWhatIsLacking(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, s := w.school(unasked)
	kept := portaltest.Subject(t, w.tenants, w.org, p.ID, func(s *subject.Subject, _ *subject.Content) { s.Title = "Ropes" })
	w.connect(answers)
	j := w.fill(p, setup.Request{Sections: every(), Source: setup.Input{Brief: new("A school of sailing")}})
	steps := w.crash(job.PortalFill)
	w.outlast()
	require.Equal(t, 4, *steps, "one for the questions, and one for all of it, each twice")
	done := w.job(j)
	require.Equal(t, job.Succeeded, done.State, done.ErrorCode)
	require.Equal(t, map[string]int64{"subjects": 1, "documents": 0, "texts": 1, "questions": 1}, done.Counts)
	pages := w.portal(p.ID).Definition.Pages
	require.Equal(t, language.Words{"en": "Harbour", "de": "Hafen"}, pages.Title)
	require.Equal(t, language.Words{"en": "Ask us.", "de": "Von Hand"}, pages.Welcome, "nobody's words are replaced")
	_, v, err := subject.GetContent(context.Background(), w.tenants, w.org, s.ID, 0)
	require.NoError(t, err)
	require.Equal(t, int64(2), v.Version)
	require.Equal(t, language.Words{"en": "What does it make?", "de": "Was macht er?"}, v.Content.Questions[0].Text)
	_, v, err = subject.GetContent(context.Background(), w.tenants, w.org, kept.ID, 0)
	require.NoError(t, err)
	require.Equal(t, int64(1), v.Version, "it has questions")
	require.Equal(t, []event.Type{event.PortalUpdated, event.SubjectDraftSaved, event.JobCompleted}, w.told())
}

// A job that is cancelled between its steps leaves the portal as it was.
func TestACancelledFillChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, s := w.school(unasked)
	w.connect(answers)
	j := w.fill(p, setup.Request{Sections: []setup.Section{setup.Questions}})
	made, err := w.runner.Advance(context.Background(), "a")
	require.NoError(t, err)
	require.Equal(t, 1, made)
	require.Equal(t, int64(1), w.job(j).Done)
	w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := job.Cancel(ctx, tx, j, activity.Actor{By: "test", At: w.clock.Now()})
		return err
	})
	w.outlast()
	_, v, err := subject.GetContent(context.Background(), w.tenants, w.org, s.ID, 0)
	require.NoError(t, err)
	require.Equal(t, int64(1), v.Version)
}

func TestAPortalThatCannotBeFilled(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		sections []setup.Section
		connect  modeltest.Behaviour
		code     string
	}{
		"no model":     {[]setup.Section{setup.Texts}, nil, "no_connection"},
		"nonsense":     {[]setup.Section{setup.Questions}, modeltest.Stream("No."), "malformed"},
		"unavailable":  {[]setup.Section{setup.Texts}, modeltest.Status(http.StatusServiceUnavailable, nil), "unavailable"},
		"nothing read": {[]setup.Section{setup.Knowledge}, nil, "empty"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p, _ := w.school(unasked)
			if test.connect != nil {
				w.connect(test.connect)
			}
			delete(w.site, start)
			j := w.fill(p, setup.Request{Sections: test.sections, Source: setup.Input{URL: new(start)}})
			w.runDueJobs()
			require.Equal(t, test.code, w.job(j).ErrorCode)
			require.Equal(t, p.DraftVersion, w.portal(p.ID).DraftVersion)
		})
	}
}

func TestThePortalIsArchivedMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, _ := w.school()
	j := w.fill(p, setup.Request{Sections: []setup.Section{setup.Subjects}, Source: setup.Input{URL: new(start)}})
	w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		held, err := portal.Lock(ctx, tx, p.ID)
		require.NoError(t, err)
		_, err = portal.Archive(ctx, tx, held, portal.Author{By: by, At: w.clock.Now()})
		return err
	})
	w.runDueJobs()
	require.Equal(t, job.Cancelled, w.job(j).State)
	require.Equal(t, 1, w.count("subject"))
}

func TestTheListRidesItsKey(t *testing.T) {
	t.Parallel()
	tenants, sent, one, _ := tenanttest.NewTraced(t)
	db, err := tenants.Shard(context.Background(), "a")
	require.NoError(t, err)
	for _, s := range sent.Of(t, "FROM setup_plan", func() error {
		_, err := setup.List(context.Background(), tenants, one, id.NewSetupPlan(), 10)
		return err
	}) {
		require.Contains(t, s.Forced(t, db), "Index Scan Backward using setup_plan_pkey")
	}
}
