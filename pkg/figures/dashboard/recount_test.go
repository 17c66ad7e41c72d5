package dashboard_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/figures/dashboard"
	"visavis.dev/pkg/store/tenant"
)

// recounted is what the log says, worked out from its beginning.
type recounted struct {
	w *world
	// each is what happened of nobody, and batches what did of people, once it was of six.
	each, batches []happened
	levels        []level
}

// happened is what is to be added up.
type happened struct {
	at     time.Time
	portal id.Portal
	unit   id.Unit
	sums   map[string]float64
	ms     []int64
}

// level is how many sessions are live from a moment on.
type level struct {
	at     time.Time
	portal id.Portal
	n      int
}

type data struct {
	Session    id.Session    `json:"sessionId"`
	Portal     id.Portal     `json:"portalId"`
	Person     id.Person     `json:"personId"`
	Item       id.InboxItem  `json:"inboxItemId"`
	Result     id.Result     `json:"resultId"`
	Completion id.Completion `json:"completionId"`
	Candidate  id.Candidate  `json:"candidateId"`
	DurationS  float64       `json:"durationS"`
	BilledS    float64       `json:"billedS"`
	Outcome    string        `json:"outcome"`
	Rating     float64       `json:"rating"`
	Band       string        `json:"leadBand"`
	Decision   string        `json:"decision"`
	Previous   string        `json:"previousDecision"`
}

// batching has what people do wait for six of them.
type batching struct {
	r       *recounted
	waiting map[string]map[string]map[string]float64
}

func (b *batching) add(measure string, at time.Time, p id.Portal, u id.Unit, who string, sums map[string]float64) {
	key := fmt.Sprint(measure, p, u)
	if b.waiting[key] == nil {
		b.waiting[key] = map[string]map[string]float64{}
	}
	of := b.waiting[key][who]
	if of == nil {
		of = map[string]float64{}
	}
	for name, n := range sums {
		if of[name] += n; of[name] == 0 {
			delete(of, name)
		}
	}
	if b.waiting[key][who] = of; len(of) == 0 {
		delete(b.waiting[key], who)
	}
	if len(b.waiting[key]) < 6 {
		return
	}
	all := map[string]float64{}
	for _, of := range b.waiting[key] {
		for name, n := range of {
			all[name] += n
		}
	}
	delete(b.waiting, key)
	b.r.batches = append(b.r.batches, happened{at: at, portal: p, unit: u, sums: all})
}

func (w *world) recount() *recounted {
	r := &recounted{w: w}
	b := &batching{r, map[string]map[string]map[string]float64{}}
	var (
		leads   = map[id.InboxItem]*happened{}
		ratings = map[id.Session]*happened{}
		results = map[id.Result]worth{}
		live    = map[id.Portal]int{}
		count   = func(d data, at time.Time, sums map[string]float64) *happened {
			one := &happened{at: at, portal: d.Portal, sums: sums}
			r.each = append(r.each, *one)
			return one
		}
	)
	for _, e := range w.log() {
		var d data
		require.NoError(w.t, json.Unmarshal(e.Structure, &d))
		of, unit := w.of[d.Session], w.unitOf[d.Person]
		at := e.At
		switch e.Type {
		case event.SessionStarted, event.SessionEnded:
			r.session(e.Type, d, of, at, live)
		case event.VisitorSessionEnded:
			if !of.sandbox && d.Outcome != "" {
				count(d, at, map[string]float64{"outcomes": 1, d.Outcome: 1})
			}
		case event.ConversationRated:
			if of.sandbox {
				continue
			}
			sums := map[string]float64{"ratings": 1, "sum": (d.Rating - 1) * 25}
			before, again := ratings[d.Session]
			if again {
				sums = map[string]float64{"sum": sums["sum"] - before.sums["total"]}
			}
			first := at
			if again {
				first = before.at
			}
			ratings[d.Session] = &happened{at: first, sums: map[string]float64{"total": (d.Rating - 1) * 25}}
			d.Portal = of.portal
			switch {
			case again && sums["sum"] == 0:
			case of.person.IsZero():
				count(d, first, sums)
			default:
				b.add("ratings", at, of.portal, w.unitOf[of.person], of.person.String(), sums)
			}
		case event.KnowledgeGap:
			count(d, at, map[string]float64{"gaps": 1})
		case event.LeadCaptured:
			leads[d.Item] = &happened{at: at, portal: d.Portal, sums: map[string]float64{d.Band: 1}}
		case event.LeadUpdated:
			leads[d.Item].sums = map[string]float64{d.Band: 1}
		case event.BookingRequested:
			count(d, at, map[string]float64{"bookings": 1})
		case event.HandoffRequested:
			count(d, at, map[string]float64{"handoffs": 1})
		case event.HandoffJoined:
			count(d, at, map[string]float64{"joined": 1})
		case event.ScoreRecorded:
			now, before := w.worth[e.ID], results[d.Result]
			results[d.Result] = now
			who := w.results[d.Result]
			b.add("results", at, w.portals[1], w.unitOf[who], who.String(), map[string]float64{
				"results": one(now.shown) - one(before.shown), "passed": one(now.shown && now.passed) - one(before.shown && before.passed),
			})
		case event.CompletionRecorded:
			b.add("completions", at, d.Portal, unit, d.Person.String(), map[string]float64{"completions": 1})
		case event.CompletionWithdrawn:
			b.add("completions", at, d.Portal, unit, d.Person.String(), map[string]float64{"completions": -1})
		case event.AssignmentCompleted:
			b.add("assignments", at, d.Portal, unit, d.Person.String(), map[string]float64{"assignments": 1})
		case event.CandidateInvited:
			b.add("invited", at, w.portals[1], id.Unit{}, d.Candidate.String(), map[string]float64{"invited": 1})
		case event.CandidateDecided:
			if d.Decision == d.Previous {
				continue
			}
			for by, decision := range map[float64]string{-1: d.Previous, 1: d.Decision} {
				if decision != "" && decision != "hold" {
					b.add(decision, at, w.portals[1], id.Unit{}, d.Candidate.String(), map[string]float64{decision: by})
				}
			}
		}
	}
	for _, l := range leads {
		r.each = append(r.each, *l)
	}
	return r
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func (r *recounted) session(kind event.Type, d data, of sessionOf, at time.Time, live map[id.Portal]int) {
	if of.sandbox {
		if kind == event.SessionEnded {
			r.each = append(r.each, happened{at: at, portal: d.Portal, sums: map[string]float64{"sandbox": d.DurationS}})
		}
		return
	}
	by := 1
	if kind == event.SessionEnded {
		by = -1
		one := happened{at: at, portal: d.Portal, sums: map[string]float64{"sessions": 1, "seconds": d.DurationS, "billed": d.BilledS}}
		for _, said := range r.w.turnsOf(d.Session) {
			one.sums["avatarTurns"]++
			if said.interrupted {
				one.sums["interruptions"]++
			}
			if said.grounded != nil {
				one.sums[fmt.Sprint("grounded ", *said.grounded)]++
			}
			if said.ms >= 0 {
				one.ms = append(one.ms, said.ms)
			}
		}
		r.each = append(r.each, one)
	}
	all := []id.Portal{{}}
	if !d.Portal.IsZero() {
		all = append(all, d.Portal)
	}
	for _, p := range all {
		live[p] += by
		r.levels = append(r.levels, level{at, p, live[p]})
	}
}

// sum is what was added up in a part of a period; known is false where no batch was.
func (r *recounted) sum(q dashboard.Query, from, to time.Time, name string) (n float64, known bool) {
	for _, h := range r.each {
		if v, ok := h.sums[name]; ok && q.Unit.IsZero() && within(h.at, from, to) && (q.Portal.IsZero() || h.portal == q.Portal) {
			n, known = n+v, true
		}
	}
	for _, h := range r.batches {
		if v, ok := h.sums[name]; ok && within(h.at, from, to) && (q.Portal.IsZero() || h.portal == q.Portal) && (q.Unit.IsZero() || h.unit == q.Unit) {
			n, known = n+v, true
		}
	}
	return n, known
}

func within(at, from, to time.Time) bool { return !at.Before(from) && at.Before(to) }

// peak is how many sessions were live at once at most.
func (r *recounted) peak(q dashboard.Query, from, to time.Time) float64 {
	most, before := 0, 0
	for _, l := range r.levels {
		if l.portal != q.Portal {
			continue
		}
		if l.at.Before(from) {
			before = l.n
		}
		if within(l.at, from, to) {
			most = max(most, l.n)
		}
	}
	return float64(max(most, before))
}

// said is a turn of the avatar's.
type said struct {
	ms          int64
	grounded    *bool
	interrupted bool
}

func (w *world) turnsOf(s id.Session) (all []said) {
	require.NoError(w.t, w.tenants.Read(context.Background(), w.org, func(r *tenant.Reads) {
		all = nil
		r.Query(func(rows pgx.Rows) error {
			for rows.Next() {
				var one said
				if err := rows.Scan(&one.ms, &one.grounded, &one.interrupted); err != nil {
					return err
				}
				all = append(all, one)
			}
			return rows.Err()
		}, `SELECT (timing->>'responseMs')::BIGINT, grounded, interrupted FROM turn WHERE org_id = $1 AND session_id = $2`, w.org, s)
	}))
	return all
}
