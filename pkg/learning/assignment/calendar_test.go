package assignment

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/session"
)

func at(t *testing.T, text, in string) time.Time {
	t.Helper()
	parsed, err := time.ParseInLocation("2006-01-02 15:04", text, zone(in))
	require.NoError(t, err)
	return parsed
}

// Months are the calendar's: what is too short ends earlier, and the clock on the wall stays
// over changes to and from summer time.
func TestAddMonths(t *testing.T) {
	for _, tt := range []struct {
		from   string
		months int
		in     string
		want   string
	}{
		{"2026-01-31 09:00", 1, "Europe/Berlin", "2026-02-28 09:00"},
		{"2026-01-31 09:00", 2, "Europe/Berlin", "2026-03-31 09:00"},
		{"2028-01-30 09:00", 1, "Europe/Berlin", "2028-02-29 09:00"},
		{"2026-12-31 23:30", 2, "America/New_York", "2027-02-28 23:30"},
		{"2026-03-01 09:00", 1, "America/New_York", "2026-04-01 09:00"},
		{"2026-10-01 09:00", 1, "Europe/Berlin", "2026-11-01 09:00"},
		{"2024-02-29 00:00", 12, "UTC", "2025-02-28 00:00"},
		{"2024-02-29 00:00", 48, "UTC", "2028-02-29 00:00"},
	} {
		got := AddMonths(at(t, tt.from, tt.in), tt.months, zone(tt.in))
		require.Equal(t, at(t, tt.want, tt.in).UTC(), got, "%s + %d", tt.from, tt.months)
	}
}

// Every one of a row that recurs opens after the one before, in the month that it should, however
// long it goes on.
func TestMonthsFollowEachOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"UTC", "Europe/Berlin", "America/New_York", "Asia/Tokyo", "Australia/Lord_Howe"}).Draw(t, "zone")
		first := time.Unix(rapid.Int64Range(1_700_000_000, 1_900_000_000).Draw(t, "first"), 0)
		every := rapid.IntRange(1, 24).Draw(t, "every")
		before := first.In(zone(name))
		for n := 1; n < 40; n++ {
			next := AddMonths(first, n*every, zone(name)).In(zone(name))
			require.True(t, next.After(before))
			months := (next.Year()-first.In(zone(name)).Year())*12 + int(next.Month()) - int(first.In(zone(name)).Month())
			require.Equal(t, n*every, months)
			require.LessOrEqual(t, next.Day(), first.In(zone(name)).Day())
			before = next
		}
	})
}

// What recurs is due and closes after it opens, at the same time of the clock.
func TestTimesOfARowKeepTheirDistance(t *testing.T) {
	for _, tt := range []struct{ opens, due, wantOpens, wantDue string }{
		{"2026-01-30 09:00", "2026-01-31 08:00", "2026-02-28 09:00", "2026-03-01 08:00"},
		{"2026-01-31 09:00", "2026-02-14 17:00", "2026-02-28 09:00", "2026-03-14 17:00"},
		{"2026-02-28 09:00", "2026-02-28 09:30", "2026-03-28 09:00", "2026-03-28 09:30"},
		{"2026-02-28 23:00", "2026-03-01 12:00", "2026-03-28 23:00", "2026-03-29 12:00"}, // summer time begins
		{"2026-02-28 02:30", "2026-02-28 03:10", "2026-03-28 02:30", "2026-03-28 03:10"},
	} {
		first, due := at(t, tt.opens, "Europe/Berlin"), at(t, tt.due, "Europe/Berlin")
		a := Assignment{Timezone: "Europe/Berlin", EveryMonths: new(int64(1)), FirstOpensAt: &first, FirstDueAt: &due, Occurrence: 1}
		a.setTimes()
		require.Equal(t, at(t, tt.wantOpens, "Europe/Berlin").UTC(), *a.OpensAt, tt.opens)
		require.Equal(t, at(t, tt.wantDue, "Europe/Berlin").UTC(), *a.DueAt, tt.opens)
		require.NoError(t, a.checkTimes())
	}
	// Between 2:30 and 3:10 there is no time on a day when 2:30 is 3:30: 29 March 2026 is one.
	first, due := at(t, "2026-01-29 02:30", "Europe/Berlin"), at(t, "2026-01-29 03:10", "Europe/Berlin")
	a := Assignment{Timezone: "Europe/Berlin", EveryMonths: new(int64(1)), FirstOpensAt: &first, FirstDueAt: &due}
	for a.Occurrence = 1; a.Occurrence < 200; a.Occurrence++ {
		a.setTimes()
		require.NoError(t, a.checkTimes())
	}
}

// Somebody is reminded at nine in the morning of theirs.
func TestNextReminder(t *testing.T) {
	due := at(t, "2026-03-30 12:00", "UTC")
	for _, tt := range []struct{ in, after, want string }{
		{"UTC", "2026-03-01 00:00", "2026-03-23 09:00"},
		{"UTC", "2026-03-23 09:00", "2026-03-29 09:00"},
		{"Europe/Berlin", "2026-03-23 09:00", "2026-03-29 09:00"}, // the day of the change to summer time
		{"Pacific/Kiritimati", "2026-03-01 00:00", "2026-03-24 09:00"},
		{"UTC", "2026-03-29 09:00", "2026-03-30 09:00"},
		{"UTC", "2026-03-30 09:00", ""},
		{"America/Los_Angeles", "2026-03-29 09:00", ""}, // nine there is after it is due
	} {
		got := nextReminder(due, []int64{1, 0, 7}, zone(tt.in), at(t, tt.after, tt.in))
		if tt.want == "" {
			require.Nil(t, got, "%s %s", tt.in, tt.after)
			continue
		}
		require.NotNil(t, got)
		require.Equal(t, at(t, tt.want, tt.in).UTC(), *got, "%s %s", tt.in, tt.after)
	}
}

// Where an assignment stands follows from the clock, and so does when that changes next.
func TestStatesFollowTheClock(t *testing.T) {
	opens, due, closes := at(t, "2026-02-01 00:00", "UTC"), at(t, "2026-02-10 00:00", "UTC"), at(t, "2026-02-20 00:00", "UTC")
	a := Assignment{OpensAt: &opens, DueAt: &due, ClosesAt: &closes}
	for _, tt := range []struct {
		at   time.Time
		want State
		next time.Time
	}{
		{opens.Add(-time.Hour), Scheduled, opens}, {opens, Open, due}, {due, Open, closes}, {closes, Closed, closes.Add(archivedAfter)},
	} {
		require.Equal(t, tt.want, a.StateAt(tt.at))
		require.Equal(t, tt.next, *a.turnsAt(tt.at))
	}
	require.Nil(t, a.turnsAt(closes.Add(archivedAfter)))
	a.ArchivedAt = &closes
	require.Equal(t, Archived, a.StateAt(opens))
}

// Where somebody stands.
func TestStanding(t *testing.T) {
	due := at(t, "2026-02-10 00:00", "UTC")
	before, after := due.Add(-time.Hour), due.Add(time.Hour)
	a := Assignment{Kind: Assess, DueAt: &due}
	passed, failed := new(true), new(false)
	result := func(state string, passed *bool, when time.Time) outcome {
		return outcome{ID: id.NewResult(), State: state, Passed: passed, StartedAt: when, CompletedAt: &when}
	}
	began := []talk{{ID: id.NewSession(), State: "ended", StartedAt: before, EndedAt: &before, Reason: new(session.Left), Spoke: true}}
	for name, tt := range map[string]struct {
		did  done
		now  time.Time
		want Standing
		late bool
	}{
		"nothing":                             {done{}, before, NotStarted, false},
		"nothing, and it is due":              {done{}, due, Overdue, true},
		"begun":                               {done{sessions: began}, before, Started, false},
		"passed, and waits":                   {done{began, []outcome{result("awaiting_review", passed, before)}, nil}, after, Started, false},
		"failed, and waits":                   {done{began, []outcome{result("awaiting_review", failed, before)}, nil}, after, Started, false},
		"passed too late, and waits":          {done{began, []outcome{result("awaiting_review", passed, after)}, nil}, after.Add(1), Overdue, true},
		"failed":                              {done{began, []outcome{result("released", failed, before)}, nil}, after, Overdue, true},
		"passed in time, and released late":   {done{began, []outcome{result("released", passed, before)}, nil}, after, Completed, false},
		"passed late":                         {done{began, []outcome{result("released", passed, after)}, nil}, after, Completed, true},
		"passed at the second attempt":        {done{began, []outcome{result("released", failed, before), result("contested", passed, before)}, nil}, after, Completed, false},
		"nobody can fail":                     {done{began, []outcome{result("released", nil, before)}, nil}, after, Completed, false},
		"completed by hand":                   {done{completions: []record{{ID: id.NewCompletion(), CompletedAt: before}}}, after, Completed, false},
		"a completion that rests on a result": {done{completions: []record{{ID: id.NewCompletion(), Result: id.NewResult(), CompletedAt: before}}}, after, Overdue, true},
	} {
		var p Progress
		p.take(&a, tt.did)
		p.stand(&a, tt.now)
		require.Equal(t, tt.want, p.State, name)
		require.Equal(t, tt.late, p.Late, name)
	}
	learned := Progress{}
	a.Kind = Learn
	learned.take(&a, done{sessions: began})
	learned.take(&a, done{}) // the conversation is forgotten
	learned.stand(&a, after)
	require.Equal(t, Completed, learned.State)
	require.Equal(t, int64(1), learned.Attempts)
}

// A conversation that broke off, or in which nothing was said, teaches nobody.
func TestOnlyWhatIsHeldIsLearned(t *testing.T) {
	when := at(t, "2026-02-10 00:00", "UTC")
	a := Assignment{Kind: Learn}
	for name, tt := range map[string]struct {
		s    talk
		want Standing
	}{
		"held":           {talk{State: session.Ended, Reason: new(session.EndedByUser), Spoke: true}, Completed},
		"as long as can": {talk{State: session.Ended, Reason: new(session.MaxDuration), Spoke: true}, Completed},
		"silent":         {talk{State: session.Ended, Reason: new(session.Left)}, Started},
		"lost":           {talk{State: session.Ended, Reason: new(session.ConnectionLost), Spoke: true}, Started},
		"left alone":     {talk{State: session.Ended, Reason: new(session.Idle), Spoke: true}, Started},
		"withdrawn":      {talk{State: session.Ended, Reason: new(session.ConsentWithdrawn), Spoke: true}, Started},
		"failed":         {talk{State: session.Failed, Reason: new(session.EngineError), Spoke: true}, Started},
	} {
		tt.s.StartedAt, tt.s.EndedAt = when, &when
		var p Progress
		p.take(&a, done{sessions: []talk{tt.s}})
		p.stand(&a, when)
		require.Equal(t, tt.want, p.State, name)
	}
}

// An attempt that the person broke off by taking their consent back counts, and nothing comes of it.
func TestWithdrawnAttemptsCount(t *testing.T) {
	when := at(t, "2026-02-10 00:00", "UTC")
	var p Progress
	p.take(&Assignment{Kind: Assess}, done{results: []outcome{{ID: id.NewResult(), State: "withdrawn", StartedAt: when}}})
	require.Equal(t, []any{int64(1), id.Result{}, false}, []any{p.Attempts, p.Result, p.Waiting})
}

// What is told of a completion by hand names no result that failed before it.
func TestCompletedByHandNamesNoResult(t *testing.T) {
	when := at(t, "2026-02-10 00:00", "UTC")
	failed := outcome{ID: id.NewResult(), State: "released", Passed: new(false), StartedAt: when}
	passed := outcome{ID: id.NewResult(), State: "released", Passed: new(true), StartedAt: when.Add(time.Hour)}
	hand := record{ID: id.NewCompletion(), CompletedAt: when.Add(time.Minute)}
	of := record{ID: id.NewCompletion(), Result: passed.ID, CompletedAt: when.Add(time.Hour)}
	a := Assignment{Kind: Assess}
	for name, tt := range map[string]struct {
		did        done
		completion id.Completion
		result     any
	}{
		"by hand":              {done{results: []outcome{failed}, completions: []record{hand}}, hand.ID, nil},
		"by a result":          {done{results: []outcome{failed, passed}, completions: []record{of}}, of.ID, passed.ID.String()},
		"by hand, then passed": {done{results: []outcome{failed, passed}, completions: []record{hand, of}}, hand.ID, nil},
	} {
		var p Progress
		p.take(&a, tt.did)
		p.stand(&a, when.Add(2*time.Hour))
		fields := a.completed(p, tt.did, when).Fields
		require.Equal(t, []any{tt.completion.String(), tt.result}, []any{fields["completionId"], fields["resultId"]}, name)
	}
}
