package portal_test

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/learning/recordstore"
	"visavis.dev/pkg/learning/statement"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/personas/dispatch"
	"visavis.dev/pkg/provider/xapi/xapitest"
	"visavis.dev/pkg/store/tenant"
)

// archive is a school whose record store is told what its people learn.
type archive struct {
	*school
	*xapitest.Store
	connection string
	clock      *clocktest.FakeClock
	runner     *job.Runner
	reports    *connection.Reporter
}

func newArchive(t *testing.T, changes map[string]any) *archive {
	t.Helper()
	s := xapitest.New(t)
	a := &archive{Store: s, school: newSchool(t, func(o *apitest.Options) { o.RootCAs = s.Roots() }), clock: clocktest.NewFakeClock(time.Now())}
	config := s.Config()
	maps.Copy(config, changes)
	var made struct{ ID string }
	a.call(http.MethodPost, "/connections", map[string]any{"kind": "lms", "provider": "xapi", "name": "Store", "config": config, "secret": xapitest.Key}, &made)
	a.connection = made.ID
	a.reports = &connection.Reporter{Tenants: a.made.Tenants, Clock: a.clock, Log: slog.New(slog.DiscardHandler)}
	teller := &recordstore.Teller{
		Tenants: a.made.Tenants, Opener: connection.NewOpener(a.made.Tenants, a.made.Vault, a.clock), Egress: s.Guard(), Report: a.reports, Clock: a.clock,
		Rests: dispatch.NewRests(),
	}
	a.runner = &job.Runner{
		Tenants: a.made.Tenants, Works: teller.Background().Works, Steps: dispatch.Resumer{connection.XAPI: statement.ResumeSome}.Background().Steps,
		Clock: a.clock, Log: slog.New(slog.DiscardHandler),
	}
	return a
}

// told tells all that can be told now, and answers the statements that stand.
func (a *archive) told() []xapitest.Statement {
	a.Helper()
	// What a worker of other jobs met is tried again then. The others go by the real clock, which a busy machine may be ahead on.
	a.clock.Step(31*time.Second + max(0, time.Since(a.clock.Now())))
	for made := 1; made > 0; {
		var err error
		made, err = a.runner.Advance(context.Background(), "shard-1")
		require.NoError(a.school, err)
	}
	require.Empty(a.school, a.Refused())
	return a.Standing()
}

func (a *archive) untold() (all []struct {
	Kind, State, ObjectID string
	PersonID, ErrorCode   *string
},
) {
	a.Helper()
	a.call(http.MethodGet, "/connections/"+a.connection+"/untold", nil, &all)
	return all
}

// count counts what is kept of what was told, or the jobs that tell.
func (a *archive) count(sql string) (n int) {
	a.Helper()
	require.NoError(a.school, a.made.Tenants.InTx(a.Context(), a.org, func(ctx context.Context, tx *tenant.Tx) error {
		return tx.QueryRow(ctx, sql, a.org).Scan(&n)
	}))
	return n
}

func (a *archive) records() int {
	a.Helper()
	return a.count(`SELECT count(*) FROM record_statement WHERE org_id = $1`)
}

func (a *archive) jobs() int {
	a.Helper()
	return a.count(`SELECT count(*) FROM job WHERE org_id = $1 AND kind = 'statement_send'`)
}

// results are the statements of results of the exam; whoever passes it gets a certificate too.
func (a *archive) results() (found []xapitest.Statement) {
	a.Helper()
	for _, each := range a.told() {
		if id, _ := each.At("object.id").(string); strings.HasSuffix(id, "/subjects/"+a.exam) {
			found = append(found, each)
		}
	}
	return found
}

// of are the statements with a verb.
func of(all []xapitest.Statement, verb string) (found []xapitest.Statement) {
	for _, each := range all {
		if id, _ := each.At("verb.id").(string); strings.Contains(id, "/verbs/"+verb) {
			found = append(found, each)
		}
	}
	return found
}

func TestARecordStoreIsTold(t *testing.T) {
	t.Parallel()
	a := newArchive(t, nil)
	var tested struct{ OK bool }
	a.call(http.MethodPost, "/connections/"+a.connection+"/test", nil, &tested)
	require.True(t, tested.OK)
	teacher, kim := a.comes("Tess Teacher", "teacher", ""), a.comes("Kim Lee", "learner", "")

	// What is not released stays here.
	which := a.sits(kim, a.about(), apitest.UnsureAnswer)
	require.Empty(t, a.told())
	status, _, body := a.decides(teacher, which, "scores", map[string][]string{"score.loop": {"1"}, "reason": {"Half of it."}})
	require.Equal(t, http.StatusSeeOther, status, body)
	require.Empty(t, a.told())
	require.Zero(t, a.Asked())
	status, _, body = a.decides(teacher, which, "release", map[string][]string{})
	require.Equal(t, http.StatusSeeOther, status, body)
	standing := a.told()
	require.Len(t, standing, 1)
	first := standing[0]
	require.Equal(t, []any{0.5, 1.0, 0.0, 2.0, true}, []any{
		first.At("result.score.scaled"), first.At("result.score.raw"), first.At("result.score.min"), first.At("result.score.max"), first.At("result.completion"),
	})
	require.Equal(t, "https://school.example.com/people/xapi/subjects/"+a.exam, first.At("object.id"))
	require.Equal(t, "https://school.example.com/people", first.At("actor.account.homePage"))
	name, _ := first.At("actor.account.name").(string)
	require.NoError(t, uuid.Validate(name))
	who, err := id.ParsePerson(kim.id)
	require.NoError(t, err)
	require.NotEqual(t, uuid.UUID(who).String(), name)
	require.Nil(t, first.At("actor.name"))
	require.Equal(t, uint8(5), uint8(uuid.MustParse(first["id"].(string)).Version()))
	require.Equal(t, []int{0, 1}, []int{a.jobs(), a.Asked()})
	require.Len(t, a.told(), 1)
	require.Equal(t, 1, a.Asked(), "it is told once")

	// Another score voids the one before; however often it changes meanwhile, one job tells it.
	for _, points := range []string{"0", "0.5"} {
		status, _, body = a.decides(teacher, which, "scores", map[string][]string{"score.loop": {points}, "reason": {"Looked again."}})
		require.Equal(t, http.StatusSeeOther, status, body)
	}
	require.Equal(t, 1, a.jobs())
	require.Equal(t, []any{"result", "waiting", which, kim.id}, []any{a.untold()[0].Kind, a.untold()[0].State, a.untold()[0].ObjectID, *a.untold()[0].PersonID})
	standing = a.told()
	require.Len(t, standing, 1)
	require.Equal(t, []any{0.25, name}, []any{standing[0].At("result.score.scaled"), standing[0].At("actor.account.name")})
	require.Len(t, a.All(), 3)
	require.Empty(t, a.untold())

	// What is void is voided.
	a.call(http.MethodPost, "/results/"+which+"/void", map[string]any{"reason": "It was a mistake."}, nil)
	require.Empty(t, a.told())
	require.Len(t, a.All(), 4)
}

// An answer that is lost has the same statement sent again, by the same id, and nothing stands twice,
// whatever changed meanwhile.
func TestALostAnswerLeavesNoStatementBehind(t *testing.T) {
	t.Parallel()
	a := newArchive(t, map[string]any{"version": "2.0.0"})
	teacher, kim := a.comes("Tess Teacher", "teacher", ""), a.comes("Kim Lee", "learner", "")
	which := a.sits(kim, a.about(), apitest.UnsureAnswer)
	change := func(points string) {
		status, _, body := a.decides(teacher, which, "scores", map[string][]string{"score.loop": {points}, "reason": {"Looked again."}})
		require.Equal(t, http.StatusSeeOther, status, body)
	}
	change("1")
	status, _, body := a.decides(teacher, which, "release", map[string][]string{})
	require.Equal(t, http.StatusSeeOther, status, body)
	a.Lose(1)
	require.Len(t, a.told(), 1)
	require.Equal(t, []int{1, 0}, []int{a.Asked(), a.Conflicts()})
	require.Equal(t, "waiting", a.untold()[0].State)
	require.Len(t, a.told(), 1)
	require.Equal(t, []int{2, 0}, []int{a.Asked(), a.Conflicts()}, "it is the same to the byte")
	require.Empty(t, a.untold())

	// The void arrives, then the next statement, and nobody hears of it; then the score changes again.
	change("0")
	a.Lose(1)
	a.told()
	a.Lose(1)
	a.told()
	a.Lose(2)
	a.told()
	change("0.5")
	for range 3 {
		a.told()
	}
	standing := a.told()
	require.Len(t, standing, 1)
	require.InDelta(t, 0.25, standing[0].At("result.score.scaled"), 0.001)
	require.Empty(t, a.untold())

	// What may have arrived, and is void by the time that is looked at again, does not stay; nor does it
	// matter that it did not arrive.
	change("1")
	a.Lose(2)
	a.told()
	a.Lose(1)
	a.told()
	require.Len(t, a.untold(), 1)
	for range 2 {
		standing = a.told()
	}
	require.Len(t, standing, 1)
	change("0")
	a.Behave(http.StatusServiceUnavailable)
	a.told()
	require.Len(t, a.untold(), 1)
	a.call(http.MethodPost, "/results/"+which+"/void", map[string]any{"reason": "It was a mistake."}, nil)
	for range 3 {
		standing = a.told()
	}
	require.Empty(t, standing)
	require.NotEmpty(t, a.untold(), "it may still come")
	a.clock.Step(5 * time.Minute)
	require.Empty(t, a.told())
	require.Empty(t, a.untold())

	// As one does that arrived, and was not known to.
	second := a.sits(kim, a.about(), apitest.UnsureAnswer)
	which = second
	change("1")
	a.Lose(1)
	status, _, body = a.decides(teacher, which, "release", map[string][]string{})
	require.Equal(t, http.StatusSeeOther, status, body)
	require.Len(t, a.told(), 1)
	a.call(http.MethodPost, "/results/"+which+"/void", map[string]any{"reason": "It was a mistake."}, nil)
	for range 3 {
		standing = a.told()
	}
	require.Empty(t, standing)
	require.Empty(t, a.untold())
}

func TestAssignmentsAndCertificatesAreTold(t *testing.T) {
	t.Parallel()
	a := newArchive(t, nil)
	kim := a.comes("Kim Lee", "learner", a.red)
	var set struct{ ID string }
	a.call(http.MethodPost, "/assignments", map[string]any{"subjectId": a.exam, "kind": "assess", "title": "Loops", "audience": map[string]any{"unitIds": []string{a.red}}}, &set)
	about := a.about()
	about.Set("assignment", set.ID)
	which := a.sits(kim, about, apitest.RightAnswer)
	var issued []struct{ ID, Number string }
	a.call(http.MethodGet, "/certificates", nil, &issued)
	require.Len(t, issued, 1)
	standing := a.told()
	require.Len(t, of(standing, "passed"), 1)
	earned := of(standing, "earned")
	require.Len(t, earned, 1)
	require.NotContains(t, earned[0]["object"], issued[0].Number, "by its number anybody may see whose it is")
	require.Equal(t, "https://school.example.com/people/xapi/subjects/"+a.exam+"/certificate", earned[0].At("object.id"))
	completed := of(standing, "completed")
	require.Len(t, completed, 1)
	require.Equal(t, "https://school.example.com/people/xapi/assignments/"+set.ID, completed[0].At("object.id"))
	require.Len(t, standing, 3)

	// All three rest on the result.
	a.call(http.MethodPost, "/results/"+which+"/void", map[string]any{"reason": "It was a mistake."}, nil)
	require.Empty(t, a.told())
	require.Len(t, a.All(), 6)
}

// Of somebody who is erased, what stands is voided, and nothing is kept of what was told.
func TestWhatIsToldOfWhoIsErasedIsVoided(t *testing.T) {
	t.Parallel()
	a := newArchive(t, nil)
	kim := a.comes("Kim Lee", "learner", "")
	a.sits(kim, a.about(), apitest.RightAnswer)
	require.Len(t, a.told(), 2)
	a.Lose(1)
	a.Behave(http.StatusServiceUnavailable)
	a.sits(kim, a.about(), apitest.RightAnswer)
	a.told()
	require.NotEmpty(t, a.untold(), "nobody knows what of it arrived")
	a.call(http.MethodPost, "/people/"+kim.id+"/erase", map[string]any{}, nil)
	(&apitest.World{API: a.made}).Erase(t)
	for range 3 {
		require.Empty(t, a.told())
	}
	a.clock.Step(5 * time.Minute)
	require.Empty(t, a.told())
	require.Equal(t, []int{0, 0}, []int{a.records(), a.jobs()})
	require.Empty(t, a.untold())
}

// Of somebody who is erased, a store is asked to void what stands for as long as it does.
func TestWhatStandsOfWhoIsErasedIsNeverGivenUp(t *testing.T) {
	t.Parallel()
	a := newArchive(t, nil)
	kim := a.comes("Kim Lee", "learner", "")
	a.sits(kim, a.about(), apitest.RightAnswer)
	require.Len(t, a.told(), 2)
	a.call(http.MethodPost, "/people/"+kim.id+"/erase", map[string]any{}, nil)
	(&apitest.World{API: a.made}).Erase(t)
	for range 2 {
		a.Behave(http.StatusBadRequest, http.StatusUnprocessableEntity)
		require.Len(t, a.told(), 2)
		require.Equal(t, []int{2, 2}, []int{a.records(), a.jobs()})
		a.clock.Step(20 * 7 * 24 * time.Hour)
	}
	require.Empty(t, a.told())
	require.Equal(t, []int{0, 0}, []int{a.records(), a.jobs()})
}

// What arrives late and is not to stand is voided, and a void that is refused keeps nothing from being told.
func TestStatementsThatComeLate(t *testing.T) {
	t.Parallel()
	a := newArchive(t, nil)
	teacher, kim := a.comes("Tess Teacher", "teacher", ""), a.comes("Kim Lee", "learner", "")
	which := a.sits(kim, a.about(), apitest.UnsureAnswer)
	for _, step := range []string{"scores", "release"} {
		status, _, body := a.decides(teacher, which, step, map[string][]string{"score.loop": {"1"}, "reason": {"Half of it."}})
		require.Equal(t, http.StatusSeeOther, status, body)
	}
	require.Len(t, a.told(), 1)
	a.Behave(http.StatusBadRequest)
	status, _, body := a.decides(teacher, which, "scores", map[string][]string{"score.loop": {"0.5"}, "reason": {"Looked again."}})
	require.Equal(t, http.StatusSeeOther, status, body)
	standing := a.told()
	require.Len(t, standing, 2, "the first one's void was refused")
	require.InDelta(t, 0.25, standing[1].At("result.score.scaled"), 0.001)
	require.Empty(t, a.untold())

	second := a.sits(kim, a.about(), apitest.UnsureAnswer)
	a.Delay(1)
	for _, step := range []string{"scores", "release"} {
		status, _, body := a.decides(teacher, second, step, map[string][]string{"score.loop": {"1"}, "reason": {"Half of it."}})
		require.Equal(t, http.StatusSeeOther, status, body)
	}
	require.Len(t, a.told(), 2)
	a.call(http.MethodPost, "/results/"+second+"/void", map[string]any{"reason": "It was a mistake."}, nil)
	for range 2 {
		require.Len(t, a.told(), 2)
	}
	a.Arrive()
	require.Len(t, a.told(), 3)
	a.clock.Step(5 * time.Minute)
	require.Len(t, a.told(), 2)
	require.Empty(t, a.untold())
}

// A change of what is not told has nothing told anew.
func TestWhatIsTheSameIsToldOnce(t *testing.T) {
	t.Parallel()
	a := newArchive(t, nil)
	kim := a.comes("Kim Lee", "learner", "")
	which := a.sits(kim, a.about(), apitest.RightAnswer)
	require.Len(t, a.told(), 2)
	asked := a.Asked()
	o := statement.Object{Kind: statement.Result}
	result, err := id.ParseResult(which)
	require.NoError(t, err)
	o.ID = uuid.UUID(result)
	o.Person, err = id.ParsePerson(kim.id)
	require.NoError(t, err)
	require.NoError(t, a.made.Tenants.InTx(t.Context(), a.org, func(ctx context.Context, tx *tenant.Tx) error {
		return statement.Follow(ctx, tx, o, time.Now())
	}))
	require.Equal(t, 1, a.jobs())
	require.Len(t, a.told(), 2)
	require.Equal(t, []int{asked, 0}, []int{a.Asked(), a.jobs()})
	require.Empty(t, a.untold())
	a.call(http.MethodPost, "/results/"+which+"/void", map[string]any{"reason": "It was a mistake."}, nil)
	require.Empty(t, a.told())
}

// A store that asks for patience is left alone by all that is to be told there.
func TestARecordStoreRests(t *testing.T) {
	t.Parallel()
	a := newArchive(t, nil)
	kim := a.comes("Kim Lee", "learner", "")
	a.Behave(http.StatusTooManyRequests)
	a.sits(kim, a.about(), apitest.RightAnswer)
	for range 2 {
		require.Empty(t, a.told())
		require.Equal(t, []int{1, 2}, []int{a.Asked(), a.jobs()})
	}
	a.clock.Step(time.Minute)
	require.Len(t, a.told(), 2)
	require.Equal(t, []int{3, 0}, []int{a.Asked(), a.jobs()})
}

// Results go to a store, so whoever connects one may read them.
func TestWhatARecordStoreNeeds(t *testing.T) {
	t.Parallel()
	a := newArchive(t, nil)
	body := map[string]any{"kind": "lms", "provider": "xapi", "name": "x", "config": a.Config(), "secret": "no-colon"}
	err := a.api.Call(t.Context(), http.MethodPost, "/connections", body, nil)
	require.ErrorContains(t, err, "400 invalid_request")
	require.ErrorContains(t, err, "secret")
	delete(body, "secret")
	require.ErrorContains(t, a.api.Call(t.Context(), http.MethodPost, "/connections", body, nil), "400 invalid_request")
	body["secret"] = xapitest.Key
	body["config"].(map[string]any)["baseUrl"] = "https://169.254.169.254/xapi"
	require.ErrorContains(t, a.api.Call(t.Context(), http.MethodPost, "/connections", body, nil), "400 invalid_request")
	body["config"] = a.Config()
	var key struct{ Secret string }
	a.call(http.MethodPost, "/keys", map[string]any{"name": "less", "scopes": []string{"connections:write", "embed:write"}}, &key)
	a.api.Key = key.Secret
	require.ErrorContains(t, a.api.Call(t.Context(), http.MethodPost, "/connections", body, nil), "results:read")
}

func TestWhomARecordStoreIsToldOf(t *testing.T) {
	t.Parallel()
	a := newArchive(t, map[string]any{"actor": "email"})
	for band, mail := range map[string]string{"adult": "kim@example.com", "16_17": "lee@example.com"} {
		a.band = map[string]string{"16_17": "16_17"}[band]
		who := a.comes("Kim Lee", "learner", "")
		a.call(http.MethodPatch, "/people/"+who.id, map[string]any{"email": mail}, nil)
		which := a.sits(who, a.about(), apitest.RightAnswer)
		var found xapitest.Statement
		for _, each := range a.results() {
			found = each
		}
		want, address := any("mailto:"+mail), found.At("actor.mbox")
		if band != "adult" {
			want = nil
		}
		require.Equal(t, want, address, band)
		a.call(http.MethodPost, "/results/"+which+"/void", map[string]any{"reason": "It was a mistake."}, nil)
		require.Empty(t, a.told())
	}

	// Where everybody is taken for a minor, nobody is told of by their address, whatever they said.
	a.band = ""
	who := a.comes("Kim Lee", "learner", "")
	a.call(http.MethodPatch, "/people/"+who.id, map[string]any{"email": "sam@example.com"}, nil)
	young := func(of string, on bool) {
		require.NoError(t, a.made.Tenants.InTx(t.Context(), a.org, func(ctx context.Context, tx *tenant.Tx) error {
			_, err := tx.Exec(ctx, `
				INSERT INTO setting (org_id, scope_kind, scope_id, key, value, changed_at, changed_by)
				VALUES ($1, $2, $3, 'learning.young_learners', $4, now(), '') ON CONFLICT (org_id, scope_kind, scope_id, key) DO UPDATE SET value = EXCLUDED.value`,
				a.org, map[bool]string{true: "organization", false: "portal"}[of == ""], of, map[bool]string{true: "true", false: "false"}[on])
			return err
		}))
	}
	portal, err := id.ParsePortal(a.portalID)
	require.NoError(t, err)
	sits := func() any {
		which := a.sits(who, a.about(), apitest.RightAnswer)
		found := a.results()
		require.Len(t, found, 1)
		a.call(http.MethodPost, "/results/"+which+"/void", map[string]any{"reason": "It was a mistake."}, nil)
		require.Empty(t, a.told())
		return found[0].At("actor.mbox")
	}
	require.Equal(t, "mailto:sam@example.com", sits())
	young(uuid.UUID(portal).String(), true)
	require.Nil(t, sits(), "at its portal")
	young(uuid.UUID(portal).String(), false)
	young("", true)
	require.Equal(t, "mailto:sam@example.com", sits(), "the portal says otherwise")
	require.NoError(t, a.made.Tenants.InTx(t.Context(), a.org, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `DELETE FROM setting WHERE org_id = $1 AND scope_kind = 'portal' AND key = 'learning.young_learners'`, a.org)
		return err
	}))
	require.Nil(t, sits(), "of the whole organization")
}

func TestWhatARecordStoreCannotBeTold(t *testing.T) {
	t.Parallel()
	a := newArchive(t, nil)
	kim := a.comes("Kim Lee", "learner", "")
	// One that is rejected is told no more before it changes.
	a.Behave(http.StatusBadRequest, http.StatusBadRequest)
	first := a.sits(kim, a.about(), apitest.RightAnswer)
	require.Empty(t, a.told())
	found := a.untold()
	require.Len(t, found, 2)
	for _, each := range found {
		require.Equal(t, []any{"stopped", "rejected"}, []any{each.State, *each.ErrorCode})
	}
	require.Zero(t, a.jobs())

	// A key that is not taken is tried for long, until it is replaced.
	a.call(http.MethodPost, "/connections/"+a.connection+"/rotate", map[string]any{"secret": "key-2:wrong"}, nil)
	second := a.sits(kim, a.about(), apitest.RightAnswer)
	require.Empty(t, a.told())
	a.reports.Flush(t.Context())
	var shown struct{ Health struct{ ErrorCode string } }
	a.call(http.MethodGet, "/connections/"+a.connection, nil, &shown)
	require.Equal(t, "refused", shown.Health.ErrorCode)
	a.clock.Step(30 * 24 * time.Hour)
	require.Empty(t, a.told())
	a.call(http.MethodPost, "/connections/"+a.connection+"/rotate", map[string]any{"secret": xapitest.Key}, nil)
	require.Len(t, a.results(), 2, "at once, and what was rejected too")
	a.call(http.MethodPost, "/results/"+first+"/void", map[string]any{"reason": "It was a mistake."}, nil)
	require.Len(t, a.results(), 1)

	// Switched off, it waits; another store is told what changes, and never voids what the first one has.
	a.call(http.MethodPatch, "/connections/"+a.connection, map[string]any{"enabled": false}, nil)
	a.call(http.MethodPost, "/results/"+second+"/void", map[string]any{"reason": "It was a mistake."}, nil)
	require.Len(t, a.results(), 1)
	require.Zero(t, a.jobs())
	require.Equal(t, "disabled", *a.untold()[0].ErrorCode)
	a.call(http.MethodPatch, "/connections/"+a.connection, map[string]any{"enabled": true}, nil)
	a.clock.Step(time.Hour)
	require.Empty(t, a.told())

	third := a.sits(kim, a.about(), apitest.RightAnswer)
	require.Len(t, a.results(), 1)
	before := len(a.All())
	config := a.Config()
	config["baseUrl"] = a.URL + "/xapi/"
	a.call(http.MethodPatch, "/connections/"+a.connection, map[string]any{"config": config}, nil)
	a.call(http.MethodPost, "/results/"+third+"/void", map[string]any{"reason": "It was a mistake."}, nil)
	require.Empty(t, a.told())
	require.Greater(t, len(a.All()), before, "a stroke at the end makes no other store of it")

	// With the connection goes what it was told, and what is to be.
	a.sits(kim, a.about(), apitest.RightAnswer)
	require.Positive(t, a.records())
	a.call(http.MethodDelete, "/connections/"+a.connection, nil, nil)
	require.Zero(t, a.records())
	a.told()
	require.Zero(t, a.jobs())
	a.sits(kim, a.about(), apitest.RightAnswer)
	require.Zero(t, a.records())
	n, err := statement.Sweep(t.Context(), a.made.Tenants, "shard-1")
	require.NoError(t, err)
	require.Zero(t, n)
}
