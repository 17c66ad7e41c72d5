package dashboard_test

import (
	"maps"
	"slices"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
)

// world is who and what random histories are about.
type world struct {
	*history
	portals  []id.Portal // the zero one is of the organization alone
	units    []id.Unit
	people   []id.Person
	places   map[id.Person]id.Membership
	unitOf   map[id.Person]id.Unit
	live     []id.Session
	ended    []id.Session
	of       map[id.Session]sessionOf
	leads    []id.InboxItem
	results  map[id.Result]id.Person
	complete map[id.Completion]id.Person
	hired    []id.Candidate
	decided  map[id.Candidate]string
	roleID   uuid.UUID
}

type sessionOf struct {
	portal  id.Portal
	person  id.Person
	sandbox bool
}

func newWorld(h *history) *world {
	w := &world{
		history: h, portals: []id.Portal{{}, id.NewPortal(), id.NewPortal()}, units: []id.Unit{{}, id.NewUnit()},
		places: map[id.Person]id.Membership{}, unitOf: map[id.Person]id.Unit{}, of: map[id.Session]sessionOf{},
		results: map[id.Result]id.Person{}, complete: map[id.Completion]id.Person{}, decided: map[id.Candidate]string{}, roleID: uuid.New(),
	}
	for i := range 8 {
		who, m := id.NewPerson(), id.NewMembership()
		w.people, w.places[who], w.unitOf[who] = append(w.people, who), m, w.units[min(1, i%3)]
		h.member(m, who, w.portals[1], w.unitOf[who])
	}
	h.role(w.roleID, w.portals[1])
	return w
}

// happen has one thing happen.
func (w *world) happen(t *rapid.T) {
	portal := rapid.SampledFrom(w.portals).Draw(t, "portal")
	who := rapid.SampledFrom(w.people).Draw(t, "who")
	at := map[string]any{}
	if !portal.IsZero() {
		at["portalId"] = portal
	}
	with := func(more map[string]any) map[string]any {
		all := maps.Clone(at)
		maps.Copy(all, more)
		return all
	}
	switch rapid.IntRange(0, 13).Draw(t, "what") {
	case 0, 1:
		w.begin(t, portal, who)
	case 2, 3:
		w.end(t)
	case 4:
		w.rate(t)
	case 5:
		w.tell(event.KnowledgeGap, with(map[string]any{"gapId": id.NewGap()}))
	case 6:
		w.lead(t)
		item := id.InboxItem(id.NewGap())
		w.tell(event.BookingRequested, with(map[string]any{"inboxItemId": item, "bookingKind": "request", "state": "requested"}))
		w.tell(event.BookingUpdated, with(map[string]any{
			"inboxItemId": item, "bookingKind": "request", "state": "confirmed", "previousState": "requested", "changedFields": []string{"state"},
		}))
	case 7:
		w.tell(event.HandoffRequested, with(map[string]any{"inboxItemId": id.InboxItem(id.NewGap())}))
		w.tell(event.HandoffJoined, with(map[string]any{"inboxItemId": id.InboxItem(id.NewGap()), "waitS": rapid.IntRange(0, 900).Draw(t, "wait")}))
	case 8, 9:
		w.score(t, who)
	case 10, 11:
		w.finish(t, who)
	default:
		w.hire(t)
	}
}

func (w *world) begin(t *rapid.T, p id.Portal, who id.Person) {
	s := id.NewSession()
	of := sessionOf{portal: p, sandbox: rapid.IntRange(0, 4).Draw(t, "sandbox") == 0}
	if p == w.portals[1] && rapid.Bool().Draw(t, "known") {
		of.person = who
	}
	w.of[s], w.live = of, append(w.live, s)
	w.session(s, p, of.person, w.places[of.person], of.sandbox)
	for i := range rapid.IntRange(0, 3).Draw(t, "turns") {
		grounded := rapid.SampledFrom([]*bool{nil, new(true), new(false)}).Draw(t, "grounded")
		w.turn(s, i, rapid.Int64Range(-1, 9000).Draw(t, "ms"), grounded, rapid.Bool().Draw(t, "interrupted"))
	}
	w.tell(event.SessionStarted, w.fields(s))
}

func (w *world) fields(s id.Session) map[string]any {
	of := w.of[s]
	f := map[string]any{"sessionId": s, "sandbox": of.sandbox, "kind": "conversation", "language": "en"}
	if !of.portal.IsZero() {
		f["portalId"] = of.portal
	}
	return f
}

func (w *world) end(t *rapid.T) {
	if len(w.live) == 0 {
		return
	}
	s := w.live[0]
	w.live, w.ended = w.live[1:], append(w.ended, s)
	f := w.fields(s)
	f["durationS"], f["billedS"], f["turnCount"], f["endReason"] = rapid.IntRange(0, 4000).Draw(t, "s"), rapid.IntRange(0, 4000).Draw(t, "billed"), 3, "left"
	w.tell(event.SessionEnded, f)
	if w.of[s].person.IsZero() {
		f := w.fields(s)
		delete(f, "sandbox")
		delete(f, "kind")
		f["outcome"] = rapid.SampledFrom([]any{nil, "resolved", "lead", "abandoned"}).Draw(t, "outcome")
		w.tell(event.VisitorSessionEnded, f)
	}
}

func (w *world) rate(t *rapid.T) {
	if len(w.ended) == 0 {
		return
	}
	s := rapid.SampledFrom(w.ended).Draw(t, "session")
	w.tell(event.ConversationRated, map[string]any{"sessionId": s, "rating": rapid.IntRange(1, 5).Draw(t, "rating"), "scale": 5})
}

func (w *world) lead(t *rapid.T) {
	kind, i := event.LeadCaptured, id.InboxItem(id.NewGap())
	if len(w.leads) > 0 && rapid.Bool().Draw(t, "again") {
		kind, i = event.LeadUpdated, rapid.SampledFrom(w.leads).Draw(t, "lead")
	} else {
		w.leads = append(w.leads, i)
	}
	// A lead stays on its portal.
	fields := map[string]any{"inboxItemId": i, "leadBand": rapid.SampledFrom([]string{"hot", "warm", "cold"}).Draw(t, "band"), "portalId": w.portals[2]}
	w.tell(kind, fields)
}

func (w *world) score(t *rapid.T, who id.Person) {
	r := id.NewResult()
	known := slices.SortedFunc(maps.Keys(w.results), func(a, b id.Result) int { return slices.Compare(a[:], b[:]) })
	if len(known) > 0 && rapid.IntRange(0, 2).Draw(t, "again") == 0 {
		r = rapid.SampledFrom(known).Draw(t, "result")
		who = w.results[r]
	}
	w.results[r] = who
	worth := worth{shown: rapid.IntRange(0, 3).Draw(t, "shown") > 0, passed: rapid.Bool().Draw(t, "passed")}
	w.count() // what it was worth is counted as it is when it is counted
	w.result(r, who, w.portals[1], w.unitOf[who], worth)
	w.count()
}

func (w *world) finish(t *rapid.T, who id.Person) {
	fields := func(k id.Completion, who id.Person) map[string]any {
		return map[string]any{"completionId": k, "portalId": w.portals[1], "personId": who, "membershipId": w.places[who]}
	}
	known := slices.SortedFunc(maps.Keys(w.complete), func(a, b id.Completion) int { return slices.Compare(a[:], b[:]) })
	switch {
	case rapid.IntRange(0, 2).Draw(t, "assignment") == 0:
		w.tell(event.AssignmentCompleted, map[string]any{"assignmentId": id.NewAssignment(), "portalId": w.portals[1], "personId": who, "membershipId": w.places[who]})
	case len(known) > 0 && rapid.IntRange(0, 2).Draw(t, "withdraw") == 0:
		k := rapid.SampledFrom(known).Draw(t, "completion")
		w.tell(event.CompletionWithdrawn, fields(k, w.complete[k]))
		delete(w.complete, k)
	default:
		k := id.NewCompletion()
		w.complete[k] = who
		w.tell(event.CompletionRecorded, fields(k, who))
	}
}

func (w *world) hire(t *rapid.T) {
	if len(w.hired) == 0 || rapid.Bool().Draw(t, "another") {
		c := id.NewCandidate()
		w.hired = append(w.hired, c)
		w.candidate(c, w.roleID)
		w.tell(event.CandidateInvited, map[string]any{"candidateId": c})
		return
	}
	c := rapid.SampledFrom(w.hired).Draw(t, "candidate")
	decision := rapid.SampledFrom([]string{"advance", "reject", "hold", "hire"}).Draw(t, "decision")
	fields := map[string]any{"candidateId": c, "decision": decision}
	if before := w.decided[c]; before != "" {
		fields["previousDecision"] = before
	}
	w.decided[c] = decision
	w.tell(event.CandidateDecided, fields)
}
