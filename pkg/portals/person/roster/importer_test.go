package roster_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// counts are what came of a job.
func counts(added, found, places, refused int64) map[string]int64 {
	return map[string]int64{"added": added, "found": found, "places": places, "refused": refused}
}

// lines are a file of so many learners.
func (w *world) learners(from, to int) string {
	var b strings.Builder
	b.WriteString("name,externalId,portalId,role\n")
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "Kim %d,kim-%d,%s,learner\n", i, i, w.portal.ID)
	}
	return b.String()
}

// Every detail of a line arrives as if it had been sent alone.
func TestALineIsAPersonWithAPlace(t *testing.T) {
	w := newWorld(t)
	u := w.unit("7b")
	j := w.imported("\xEF\xBB\xBF" + strings.ReplaceAll(
		"name|givenName|familyName|email|phone|externalId|language|timezone|ageBand|portalId|unitCode|role|startsAt|endsAt|membership.externalId|metadata.House|membership.metadata.from\r\n"+
			"\"Kim;\nLee\"|Kim|Lee|Kim@Example.com|'+49 30 123456|k-1|German|Europe/Berlin|13_15|"+w.portal.ID.String()+"|7b|learner|2026-09-01|2027-07-31T18:00:00+02:00|seat-1|=red|import\r\n", "|", ";"))
	require.Equal(t, job.Succeeded, j.State)
	require.Equal(t, counts(1, 0, 1, 0), j.Counts)
	require.True(t, j.File.IsZero())
	require.Empty(t, j.Refused)
	all := w.people()
	require.Len(t, all, 1)
	p, m := all[0].Person, all[0].Places[0].Membership
	require.Equal(t, "Kim;\nLee", p.Name)
	require.Equal(t, []string{"Kim", "Lee", "Kim@Example.com", "+4930123456", "k-1", "de", "Europe/Berlin"},
		[]string{*p.GivenName, *p.FamilyName, *p.Email, *p.Phone, *p.ExternalID, *p.Language, *p.Timezone})
	require.Equal(t, person.From13, p.AgeBand)
	require.Equal(t, map[string]string{"House": "=red"}, p.Metadata, "what is no number is kept as it is")
	require.Equal(t, []any{w.portal.ID, u, person.Learner, "seat-1"}, []any{m.Portal, m.Unit, m.Role, *m.ExternalID})
	require.Equal(t, map[string]string{"from": "import"}, m.Metadata)
	require.True(t, m.StartsAt.Equal(time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC)))
	require.True(t, m.EndsAt.Equal(time.Date(2027, 7, 31, 16, 0, 0, 0, time.UTC)))
	require.Equal(t, 1, w.told(event.MemberAdded))
	require.Equal(t, 1, w.count(`SELECT count(*) FROM activity WHERE org_id = $1 AND action = 'person.added'`))
}

// What is wrong with a line refuses it alone, says where, and leaves nothing of it.
func TestLinesAreRefused(t *testing.T) {
	w := newWorld(t)
	w.unit("twice")
	w.unit("twice")
	portal := w.portal.ID.String()
	file := "name,email,externalId,phone,language,ageBand,unitCode,endsAt,startsAt,portalId,role\n"
	var want []job.RefusedLine
	for i, test := range []struct{ line, column, message string }{
		{",,,,,,,,,P,learner", "name", "name is missing."},
		{"Kim,,,,,,,,,,learner", "portalId", "portalId is missing."},
		{"Kim,,,,,,,,,P,", "role", "role is missing."},
		{strings.Repeat("x", 201) + ",,,,,,,,,P,learner", "name", "name is longer than 200 characters."},
		{"Kim,no,,,,,,,,P,learner", "email", "email is no e-mail address."},
		{"Kim,,,030 12,,,,,,P,learner", "phone", "phone is no telephone number with its country, such as +4930123456."},
		{"Kim,,,,Klingon,,,,,P,learner", "language", "language is no language of GET /languages."},
		{"Kim,,,,,old,,,,P,learner", "ageBand", "ageBand must be one of under_13, 13_15, 16_17, adult, unknown."},
		{"Kim,,,,,,,,,P,boss", "role", "role must be one of learner, manager, reviewer, teacher, staff, admin."},
		{"Kim,,,,,,none,,,P,learner", "unitCode", "The portal has no unit with this code."},
		{"Kim,,,,,,twice,,,P,learner", "unitCode", "Several units of the portal have this code. Name the unit by unitId."},
		{"Kim,,,,,,,1.9.2026,,P,learner", "endsAt", "endsAt is no time, such as 2026-09-01 or 2026-09-01T08:00:00+02:00."},
		{"Kim,,,,,,,2026-09-01,2026-09-02,P,learner", "endsAt", "endsAt must lie after startsAt."},
		{"Kim,,,,,,,,,portal_1,learner", "portalId", "portalId is no id of a portal."},
		{"Kim,,,,,,,,," + id.NewPortal().String() + ",learner", "portalId", "There is no such portal."},
		{"Kim,,,,,,,,,P,learner,more", "", "The line has more cells than the header has columns."},
		{"K\x00,,,,,,,,,P,learner", "name", "name must not contain NUL characters."},
	} {
		file += strings.ReplaceAll(test.line, ",P,", ","+portal+",") + "\n"
		want = append(want, job.RefusedLine{Line: int64(i + 2), Column: test.column, Message: test.message})
	}
	file += "Lee,lee@example.com,lee,,,,,,," + portal + ",learner\n" +
		"Sam,sam@example.com,sam,,,,,,," + portal + ",learner\n" +
		"Lee,LEE@example.com,other,,,,,,," + portal + ",learner\n" +
		"Lee,sam@example.com,lee,,,,,,," + portal + ",learner\n" +
		"=cmd|' /C calc'!A0,,,1,,,,,," + portal + ",learner\n"
	last := int64(len(want) + 4)
	want = append(want,
		job.RefusedLine{Line: last, Column: "externalId", Message: "The externalId and the person do not belong together."},
		job.RefusedLine{Line: last + 1, Column: "email", Message: "Somebody else has this e-mail address."},
		job.RefusedLine{Line: last + 2, Column: "phone", Message: "phone is no telephone number with its country, such as +4930123456."})
	j := w.imported(file)
	require.Equal(t, want, j.Refused)
	require.Equal(t, counts(2, 0, 2, int64(len(want))), j.Counts)
	require.Len(t, w.people(), 2)

	rejects := w.rejects(j)
	require.True(t, strings.HasPrefix(rejects, "name,email,externalId,phone,language,ageBand,unitCode,endsAt,startsAt,portalId,role,problem\n"))
	require.Contains(t, rejects, ",030 12,,,,,,"+portal+",learner,\"Line 7: phone is no telephone number with its country, such as +4930123456.\"\n")
	require.Contains(t, rejects, "\n'=cmd|' /C calc'!A0,", "a spreadsheet computes nothing of it")

	// Corrected and sent again.
	j = w.imported(strings.ReplaceAll(strings.ReplaceAll(rejects, ",030 12,", ",'+49 30 123,"), ",1,,,", ",,,,"))
	require.Equal(t, counts(3, 0, 3, int64(len(want)-3)), j.Counts, "with the line whose last cell no column was for")
	require.Equal(t, "=cmd|' /C calc'!A0", w.people()[0].Person.Name)
}

// However often its process dies, each line has its effect once.
func TestAnImportSurvivesItsProcess(t *testing.T) {
	w := newWorld(t)
	w.crash()
	j := w.imported(w.learners(0, 130) + "Kim,,nowhere,learner\n" + strings.SplitN(w.learners(0, 2), "\n", 2)[1])
	require.Equal(t, job.Succeeded, j.State)
	require.Equal(t, counts(130, 2, 130, 1), j.Counts)
	require.Equal(t, []int64{133, 133}, []int64{j.Done, j.Total})
	require.Len(t, w.people(), 130)
	require.Equal(t, 130, w.told(event.MemberAdded))
	require.Equal(t, 1, w.told(event.JobCompleted))
	require.Equal(t, []job.RefusedLine{{Line: 132, Column: "portalId", Message: "portalId is no id of a portal."}}, j.Refused)

	j = w.imported(w.learners(100, 160))
	require.Equal(t, counts(30, 30, 30, 0), j.Counts, "sent again, nobody is there twice")
	require.Len(t, w.people(), 160)
}

// Another process goes on where the first fell silent, which then commits nothing.
func TestAnotherProcessTakesOver(t *testing.T) {
	w := newWorld(t)
	ctx := context.Background()
	which := w.begin(w.learners(0, 60), false)
	second, _ := w.process()
	w.runner.Works[job.PeopleImport] = job.Work{Prepare: func(ctx context.Context, j job.Job) (job.Step, error) {
		step, err := w.work.Prepare(ctx, j)
		// It is suspended for longer than its lease, and the other one makes its step. The
		// first may notice meanwhile, which ends its context.
		w.clock.Step(time.Minute)
		_, other := second.Advance(context.WithoutCancel(ctx), "a")
		require.NoError(t, other)
		return step, err
	}}
	_, err := w.runner.Advance(ctx, "a")
	require.NoError(t, err)
	require.Equal(t, int64(50), w.job(which).Done)
	require.Len(t, w.people(), 50)
	w.runner = second
	require.Equal(t, counts(60, 0, 60, 0), w.end(which).Counts)
	require.Len(t, w.people(), 60)
	require.Equal(t, 60, w.told(event.MemberAdded))
}

// The plan's limit refuses those who are new and too many; whoever is there already
// is found.
func TestThePlanLimitsAnImport(t *testing.T) {
	w := newWorld(t)
	limit := int64(70)
	w.terms = plan.Terms{Limits: plan.Limits{plan.Members: &limit}}
	file := w.learners(0, 75) + strings.SplitN(w.learners(3, 4), "\n", 2)[1]
	for _, dryRun := range []bool{true, false} {
		j := w.end(w.begin(file, dryRun))
		places := int64(70)
		require.Equal(t, counts(70, 1, places, 5), j.Counts, "for trial: %v", dryRun)
		require.Equal(t, job.RefusedLine{Line: 72, Message: "The plan allows no more people."}, j.Refused[0])
		if dryRun {
			require.Empty(t, w.people())
			require.Zero(t, w.told(event.MemberAdded))
			require.Zero(t, w.count(`SELECT count(*) FROM activity WHERE org_id = $1`))
		}
	}
	require.Len(t, w.people(), 70)
}

// A dry run finds somebody whom an earlier line would have added, by either key.
func TestADryRunLeavesNothing(t *testing.T) {
	w := newWorld(t)
	w.crash()
	file := "name,email,externalId,portalId,role\n"
	for i := range 60 {
		file += fmt.Sprintf("Kim,kim%d@example.com,kim-%d,%s,learner\n", i, i, w.portal.ID)
	}
	file += fmt.Sprintf("Kim,KIM3@example.com,,%s,learner\nKim,,kim-4,%[1]s,learner\nKim,,,%[1]s,boss\n", w.portal.ID)
	j := w.end(w.begin(file, true))
	require.Equal(t, counts(60, 2, 60, 1), j.Counts)
	require.Contains(t, w.rejects(j), "boss")
	for _, table := range []string{"person", "person_term", "membership"} {
		require.Zero(t, w.count(`SELECT count(*) FROM `+table+` WHERE org_id = $1`), table)
	}
	require.Equal(t, counts(60, 2, 60, 1), w.imported(file).Counts, "which is what comes of it")
}

// One that is cancelled stops where it is, and nothing of its file stays.
func TestAnImportIsCancelled(t *testing.T) {
	w := newWorld(t)
	ctx := context.Background()
	which := w.begin(w.learners(0, 120), false)
	_, err := w.runner.Advance(ctx, "a")
	require.NoError(t, err)
	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := job.Cancel(ctx, tx, which, activity.Actor{By: "test", At: w.clock.Now()})
		return err
	})
	j := w.end(which)
	require.Equal(t, job.Cancelled, j.State)
	require.Len(t, w.people(), 50)
	n, err := job.SweepSources(ctx, w.tenants, w.files, "a")
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, 1, w.count(`SELECT count(*) FROM file WHERE org_id = $1 AND state = 'deleting'`))
}
