package dashboard_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/figures/dashboard"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

// table is what a table of a dashboard says of the hour of a history.
func (h *history) table(k dashboard.Key, key string) map[string]int64 {
	d, err := dashboard.Find(k)
	require.NoError(h.t, err)
	f, err := dashboard.Read(context.Background(), h.tenants, h.org, d, dashboard.Query{Period: dashboard.Period{
		From: start, To: start.Add(time.Hour), Granularity: dashboard.Hour, Zone: time.UTC,
	}}, h.now)
	require.NoError(h.t, err)
	for _, t := range f.Tables {
		if t.Key == key {
			all := map[string]int64{}
			for _, r := range t.Rows {
				all[r[0].(string)] = r[1].(int64)
			}
			return all
		}
	}
	require.Fail(h.t, "there is no such table", key)
	return nil
}

// hour is the first of a history.
var hour = dashboard.Query{Period: dashboard.Period{From: start, To: start.Add(time.Hour), Granularity: dashboard.Hour, Zone: time.UTC}}

// One learner's session is in no figure by name until it is one of six people's, name by name.
func TestNamesOfPeoplesSessionsAreCountedInBatches(t *testing.T) {
	tenants, org, _ := tenanttest.New(t)
	h := newHistory(t, tenants, org)
	hold := func(kind, language string, who id.Person) {
		s := id.NewSession()
		h.session(s, id.Portal{}, who, id.Membership{}, false)
		fields := map[string]any{"sessionId": s, "kind": kind, "language": language, "endReason": "left", "durationS": 60, "billedS": 60}
		if !who.IsZero() {
			fields["personId"] = who
		}
		h.tell(event.SessionEnded, fields)
		h.count()
	}
	hold("practice", "eo", id.NewPerson())
	for range 4 {
		hold("practice", "de", id.NewPerson())
	}
	require.Empty(t, h.table(dashboard.Conversations, "languages"))
	require.Empty(t, h.table(dashboard.Usage, "kinds"))
	hold("assessment", "de", id.NewPerson())
	require.Empty(t, h.table(dashboard.Conversations, "languages"), "five speak German")
	require.Empty(t, h.table(dashboard.Usage, "kinds"), "five practiced")
	require.Equal(t, map[string]int64{"left": 6}, h.table(dashboard.Conversations, "endReasons"))
	hold("practice", "de", id.NewPerson())
	require.Equal(t, map[string]int64{"de": 6}, h.table(dashboard.Conversations, "languages"))
	require.Equal(t, map[string]int64{"practice": 360}, h.table(dashboard.Usage, "kinds"))
	hold("conversation", "fr", id.Person{})
	require.Equal(t, map[string]int64{"de": 6, "fr": 1}, h.table(dashboard.Conversations, "languages"), "of a visitor at once")
	require.Equal(t, 8.0, *h.tiles(dashboard.Overview, hour)["sessions"])
}

// An interview of a candidate is in no figure but the minutes that are paid for.
func TestInterviewsAreInNoFigureOfSessions(t *testing.T) {
	tenants, org, _ := tenanttest.New(t)
	h := newHistory(t, tenants, org)
	s := id.NewSession()
	h.session(s, id.Portal{}, id.Person{}, id.Membership{}, false)
	h.exec(`UPDATE session SET kind = 'screening' WHERE org_id = $1 AND id = $2`, s)
	h.turn(s, 0, 500, new(true), true)
	fields := map[string]any{"sessionId": s, "kind": "screening", "language": "eo"}
	h.tell(event.SessionStarted, fields)
	fields["endReason"], fields["durationS"], fields["billedS"], fields["turnCount"] = "left", 60, 60, 3
	h.tell(event.SessionEnded, fields)
	h.tell(event.ConversationRated, map[string]any{"sessionId": s, "rating": 5, "scale": 5})
	h.count()
	for _, k := range []dashboard.Key{dashboard.Overview, dashboard.Conversations, dashboard.Questions} {
		for name, v := range h.tiles(k, hour) {
			require.True(t, v == nil || *v == 0, "%s %s", k, name)
		}
	}
	require.Empty(t, h.table(dashboard.Conversations, "languages"))
	require.Empty(t, h.table(dashboard.Conversations, "endReasons"))
	require.Empty(t, h.table(dashboard.Usage, "kinds"))
	got := h.tiles(dashboard.Usage, hour)
	require.Equal(t, 1.0, *got["minutes"])
	require.Zero(t, *got["sessions"])
}

// An event that cannot be read keeps no others waiting, and is told of.
func TestAnEventThatCannotBeReadIsLeftOut(t *testing.T) {
	tenants, org, _ := tenanttest.New(t)
	h := newHistory(t, tenants, org)
	bad := h.tell(event.KnowledgeGap, nil)
	h.exec(`UPDATE event SET data = '{"sessionId": 5}' WHERE org_id = $1 AND id = $2`, bad.ID)
	h.tell(event.KnowledgeGap, nil)
	n, err := dashboard.Count(context.Background(), tenants, "a", h.now)
	require.ErrorContains(t, err, bad.ID.String())
	require.Equal(t, 2, n)
	require.Equal(t, 1.0, *h.tiles(dashboard.Questions, hour)["gaps"])
	_, err = dashboard.Count(context.Background(), tenants, "a", h.now)
	require.NoError(t, err, "once")
}

// What the hosts of a duo say in turn is one answer.
func TestAnAnswerOfADuoCountsOnce(t *testing.T) {
	tenants, org, _ := tenanttest.New(t)
	h := newHistory(t, tenants, org)
	s := id.NewSession()
	h.session(s, id.Portal{}, id.Person{}, id.Membership{}, false)
	h.turn(s, 0, -1, nil, false)
	for i, part := range []struct {
		ms          int64
		grounded    *bool
		interrupted bool
	}{{-1, nil, false}, {900, new(true), false}, {-1, new(false), false}, {-1, new(true), true}} {
		at := 2*i + 2
		h.turn(s, at, part.ms, part.grounded, part.interrupted)
		if i > 0 {
			h.exec(`UPDATE turn SET timing = timing || '{"continues": true}' WHERE org_id = $1 AND session_id = $2 AND ordinal = $3`, s, at)
		}
	}
	h.turn(s, 5, -1, nil, false)
	h.exec(`UPDATE turn SET speaker = 'user' WHERE org_id = $1 AND session_id = $2 AND ordinal = 5`, s)
	h.turn(s, 10, 300, new(true), false)
	h.tell(event.SessionEnded, map[string]any{"sessionId": s, "kind": "conversation", "language": "en", "endReason": "left", "durationS": 60})
	h.count()
	tiles := h.tiles(dashboard.Conversations, hour)
	require.InDelta(t, 33.3, *tiles["interruptions"], 0, "one of three answers")
	require.InDelta(t, 950, *tiles["responseP90"], 50)
	tiles = h.tiles(dashboard.Questions, hour)
	require.InDelta(t, 2, *tiles["questions"], 0)
	require.InDelta(t, 50, *tiles["answered"], 0, "an answer is grounded as a whole")
}
