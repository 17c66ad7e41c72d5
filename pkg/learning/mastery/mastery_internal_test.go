package mastery

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/portals/subject"
)

var start = time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)

// after is a day some days after the start.
func after(days int) time.Time { return start.AddDate(0, 0, days) }

// What succeeds is learned, what fails is not, and both are forgotten.
func TestLearning(t *testing.T) {
	var o Objective
	o.learn([]observation{{after(0), 1, 1}})
	once := o.At(after(0))
	require.InDelta(t, 0.6, once, 0.05)
	o.learn([]observation{{after(0), 1, 1}, {after(1), 1, 1}, {after(4), 1, 1}})
	require.Equal(t, Strong, o.LevelAt(after(4)))
	require.Equal(t, int64(3), o.Evidence)
	require.True(t, o.DueAt.After(after(5)), o.DueAt)
	fresh := o.At(after(4))
	require.Less(t, o.At(after(100)), fresh)
	require.Less(t, o.At(after(3000)), o.At(after(100)))
	o.learn([]observation{{after(0), 0, 1}})
	require.Equal(t, None, o.LevelAt(after(0)))
	o.learn([]observation{{after(0), 1, 0}})
	require.Less(t, o.At(after(0)), once, "what is not sure says less")
	o.learn(nil)
	require.Equal(t, []any{0.0, None, (*time.Time)(nil)}, []any{o.At(after(0)), o.LevelAt(after(0)), o.DueAt})
}

// Whatever is seen, mastery lies between 0 and 1, more points never make less of it, and it never
// grows by waiting.
func TestMasteryIsALikelihood(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var worse, better []observation
		at := start
		for range rapid.IntRange(1, 30).Draw(t, "n") {
			at = at.Add(time.Duration(rapid.Int64Range(0, 400*24).Draw(t, "hours")) * time.Hour)
			share := rapid.Float64Range(0, 1).Draw(t, "share")
			sure := rapid.Float64Range(0, 1).Draw(t, "sure")
			worse, better = append(worse, observation{at, share, sure}), append(better, observation{at, min(1, share+0.1), sure})
		}
		var low, high Objective
		low.learn(worse)
		high.learn(better)
		for _, m := range []float64{low.At(at), high.At(at), low.At(at.AddDate(50, 0, 0))} {
			if m < 0 || m > 1 {
				t.Fatalf("mastery %v", m)
			}
		}
		if low.Known > high.Known+1e-9 {
			t.Fatalf("%v with less than %v", low.Known, high.Known)
		}
		if later := low.At(at.AddDate(0, 1, 0)); later > low.At(at) {
			t.Fatalf("it grew to %v", later)
		}
	})
}

// A result changes what is mastered of the objectives that it shows something of; of others it says what is
// remembered.
func TestWhatAResultChanges(t *testing.T) {
	all := []subject.Objective{{Key: "knots"}, {Key: "sails"}, {Key: "tides"}}
	criteria := func(key string, score float64) []Criterion { return []Criterion{{key, &score, 2, 1}} }
	written := func(c []Criterion) json.RawMessage {
		text, err := json.Marshal(c)
		require.NoError(t, err)
		return text
	}
	before := []worth{{after(3), written(criteria("knots", 1.5))}, {after(0), written(criteria("sails", 2))}}
	found := shifts(all, before, Scored{At: after(10), Criteria: criteria("knots", 2)})
	var knots, sails Objective
	knots.learn([]observation{{after(3), 0.75, 1}})
	sails.learn([]observation{{after(0), 1, 1}})
	was := knots.At(after(10))
	knots.learn([]observation{{after(3), 0.75, 1}, {after(10), 1, 1}})
	require.Equal(t, []Shift{
		{"knots", knots.Known, was}, {"sails", sails.At(after(10)), sails.At(after(10))}, {"tides", 0, 0},
	}, found)
	require.Less(t, was, knots.Known)
	failed := shifts(all, before, Scored{At: after(10), Criteria: criteria("knots", 0)})
	require.Equal(t, was, failed[0].Previous)
	require.Less(t, failed[0].Mastery, was)
	require.Equal(t, found[1:], shifts(all, before, Scored{At: after(10), Criteria: []Criterion{{"knots", nil, 2, 0}}})[1:])
}

// Criteria show something of the objectives after which they or their questions are named.
func TestWhatCriteriaShow(t *testing.T) {
	all := []subject.Objective{{Key: "knots"}, {Key: "knots_loop"}, {Key: "sails"}}
	for criterion, want := range map[string][]bool{
		"knots": {true, false, false}, "knots_2.length": {true, false, false}, "knots_loop_a": {false, true, false},
		"q1.sails": {false, false, true}, "knots.sails_up": {false, false, true}, "q1.other": {true, true, true}, "knotsmith": {true, true, true},
	} {
		for i, o := range all {
			require.Equal(t, want[i], shows(o.Key, all, criterion), "%s %s", criterion, o.Key)
		}
	}
	half, full := 0.5, 2.0
	o, ok := observe("sails", all, []Criterion{{"sails.a", &half, 1, 1}, {"sails.b", &full, 3, 0.5}, {"sails.c", nil, 9, 0}, {"knots", &full, 2, 1}}, start)
	require.True(t, ok)
	require.Equal(t, observation{start, 0.625, 0.625}, o)
	_, ok = observe("sails", all, []Criterion{{"sails.c", nil, 9, 0}}, start)
	require.False(t, ok, "what nobody judged shows nothing")
}
