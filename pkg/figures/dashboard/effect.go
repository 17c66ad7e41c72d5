package dashboard

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
)

// told is what is read of an event's structure.
type told struct {
	Session    id.Session    `json:"sessionId"`
	Portal     id.Portal     `json:"portalId"`
	Subject    id.Subject    `json:"subjectId"`
	Person     id.Person     `json:"personId"`
	Membership id.Membership `json:"membershipId"`
	Item       id.InboxItem  `json:"inboxItemId"`
	Result     id.Result     `json:"resultId"`
	Completion id.Completion `json:"completionId"`
	Objective  string        `json:"objectiveKey"`
	Candidate  id.Candidate  `json:"candidateId"`
	Kind       string        `json:"kind"`
	Language   string        `json:"language"`
	Sandbox    bool          `json:"sandbox"`
	DurationS  int64         `json:"durationS"`
	BilledS    int64         `json:"billedS"`
	TurnCount  int64         `json:"turnCount"`
	EndReason  string        `json:"endReason"`
	Outcome    string        `json:"outcome"`
	Rating     int64         `json:"rating"`
	Scale      int64         `json:"scale"`
	Band       string        `json:"leadBand"`
	WaitS      int64         `json:"waitS"`
	Decision   string        `json:"decision"`
	Previous   string        `json:"previousDecision"`
}

// entry is an event that is to be counted.
type entry struct {
	told
	kind event.Type
	at   time.Time
}

func entryOf(e event.Event) (entry, error) {
	n := entry{kind: e.Type, at: e.At.UTC()}
	err := json.Unmarshal(e.Structure, &n.told)
	return n, err
}

// isCounted says whether events of a type are counted.
func isCounted(t event.Type) bool { return countedTypes[t] }

var countedTypes = map[event.Type]bool{
	event.SessionStarted: true, event.PracticeStarted: true, event.SessionEnded: true, event.VisitorSessionEnded: true,
	event.ConversationRated: true, event.KnowledgeGap: true,
	event.LeadCaptured: true, event.LeadUpdated: true, event.HandoffRequested: true, event.HandoffJoined: true, event.BookingRequested: true,
	event.ScoreRecorded: true, event.AssessmentCompleted: true, event.ReviewCompleted: true, event.ResultContested: true,
	event.CompletionRecorded: true, event.CompletionWithdrawn: true, event.AssignmentCompleted: true, event.MasteryUpdated: true,
	event.CandidateInvited: true, event.CandidateInviteOpened: true, event.CandidateScreened: true, event.CandidateReviewed: true,
	event.CandidateDecided: true, event.CandidateErased: true,
}

// counting counts the events of a step, in their order.
type counting struct {
	found *found
	// cells, waiting and facts are what there is, with what the step changes of it.
	cells   map[place]counts
	waiting map[group]map[uuid.UUID]counts
	facts   map[factKey]fact
	live    map[uuid.UUID]int64
	// changed are those of waiting that the step changed, and changes those of facts.
	changed map[waiter]bool
	changes map[factKey]bool
	// erased are the people of whom nothing is to wait.
	erased map[uuid.UUID]bool
}

// count counts one event.
func (c *counting) count(n entry) {
	switch n.kind {
	case event.SessionStarted, event.PracticeStarted:
		c.begin(n)
	case event.SessionEnded:
		c.end(n)
	case event.VisitorSessionEnded:
		c.visit(n)
	case event.ConversationRated:
		c.rate(n)
	case event.KnowledgeGap:
		c.direct(ofSessions, n.Portal, n.at, counts{"gaps": 1})
	case event.LeadCaptured, event.LeadUpdated:
		c.lead(n)
	case event.HandoffRequested:
		c.direct(ofInbox, n.Portal, n.at, counts{"handoffs": 1})
	case event.HandoffJoined:
		c.direct(ofInbox, n.Portal, n.at, counts{"joined": 1, "wait:" + stepOf(n.WaitS*1000): 1})
	case event.BookingRequested:
		c.direct(ofInbox, n.Portal, n.at, counts{"bookings": 1})
	case event.ScoreRecorded, event.AssessmentCompleted, event.ReviewCompleted, event.ResultContested:
		c.result(n)
	case event.CompletionRecorded, event.CompletionWithdrawn:
		c.completion(n)
	case event.AssignmentCompleted:
		c.people(ofLearning, "assignments", n.Portal, c.found.units[n.Membership], uuid.UUID(n.Person), n.at, counts{"assignments": 1})
	case event.MasteryUpdated:
		c.mastery(n)
	default:
		c.hiring(n)
	}
}

// sandbox says whether a session is one of a trial, which no figure counts but its minutes.
func (c *counting) sandbox(n entry) bool { return n.Sandbox || c.found.sessions[n.Session].Sandbox }

// screening says whether a session is an interview of a candidate. Few are held, so that figures of
// sessions would tell of one: only what is paid for counts.
func (c *counting) screening(n entry) bool {
	return n.Kind == screening || c.found.sessions[n.Session].Kind == screening
}

const screening = "screening"

func (c *counting) begin(n entry) {
	if c.sandbox(n) || c.screening(n) {
		return
	}
	for _, p := range portals(n.Portal) {
		before := c.live[p]
		c.live[p]++
		c.cell(place{ofSessions, p, uuid.UUID{}, slotOf(n.at)}).add(counts{peak: max(before, c.live[p]), live: c.live[p]})
	}
}

func (c *counting) end(n entry) {
	if c.sandbox(n) {
		c.direct(ofSessions, n.Portal, n.at, counts{"sandbox": n.DurationS})
		return
	}
	if c.screening(n) {
		c.direct(ofSessions, n.Portal, n.at, counts{"billed": n.BilledS})
		return
	}
	one := counts{"sessions": 1, "seconds": n.DurationS, "turns": n.TurnCount, "billed": n.BilledS}
	one.add(c.found.said[n.Session])
	c.direct(ofSessions, n.Portal, n.at, one)
	c.breakDown(n)
	for _, p := range portals(n.Portal) {
		before := c.live[p]
		c.live[p] = max(0, before-1)
		c.cell(place{ofSessions, p, uuid.UUID{}, slotOf(n.at)}).add(counts{peak: before, live: c.live[p]})
	}
}

// breakdown is what a session counts by name.
func (f *found) breakdown(n entry) counts {
	one := counts{"billed:" + n.Kind: n.BilledS, "reason:" + n.EndReason: 1, "language:" + n.Language: 1}
	said := f.said[n.Session]
	if asked := said["grounded"] + said["ungrounded"]; asked > 0 && !n.Subject.IsZero() {
		one["topic:"+n.Subject.String()] = asked
	}
	return one
}

// breakDown counts a session by name: of a visitor at once, of somebody who is known in a batch of
// six for each name.
func (c *counting) breakDown(n entry) {
	one, who := c.found.breakdown(n), c.found.whose(n)
	if who.IsZero() {
		c.direct(ofSessions, n.Portal, n.at, one)
		return
	}
	unit := c.found.units[c.found.sessions[n.Session].Membership]
	for _, name := range slices.Sorted(maps.Keys(one)) {
		c.people(ofBreakdowns, name, n.Portal, unit, uuid.UUID(who), n.at, counts{name: one[name]})
	}
}

func (c *counting) visit(n entry) {
	if c.sandbox(n) || c.screening(n) || n.Outcome == "" {
		return
	}
	c.direct(ofSessions, n.Portal, n.at, counts{"outcomes": 1, "outcome:" + n.Outcome: 1})
}

// rate counts a rating: of a visitor at once, of somebody who is known in a batch. One that
// replaces another takes its place.
func (c *counting) rate(n entry) {
	s := c.found.sessions[n.Session]
	if s.Sandbox || s.Kind == screening || n.Scale < 2 {
		return
	}
	key := factKey{rated, uuid.UUID(n.Session)}
	now := fact{At: slotOf(n.at), Counts: counts{"ratings": 1, "ratingSum": (n.Rating - 1) * 100 / (n.Scale - 1)}}
	before, again := c.facts[key]
	if again {
		now.At = before.At
	}
	difference := minus(now.Counts, before.Counts)
	c.note(key, now)
	switch {
	case difference == nil:
	case s.Person.IsZero():
		c.direct(ofRatings, s.Portal, now.At, difference)
	default:
		c.people(ofRatings, "ratings", s.Portal, c.found.units[s.Membership], uuid.UUID(s.Person), n.at, difference)
	}
}

// lead counts a lead by its band when it was captured, and again when its band changes.
func (c *counting) lead(n entry) {
	key := factKey{captured, uuid.UUID(n.Item)}
	before, known := c.facts[key]
	now := fact{At: slotOf(n.at), Counts: counts{"lead:" + n.Band: 1}}
	switch {
	case n.Band == "" || !known && n.kind == event.LeadUpdated:
		return // it was captured before the log that there is
	case known:
		now.At = before.At
	}
	if difference := minus(now.Counts, before.Counts); difference != nil {
		c.direct(ofInbox, n.Portal, now.At, difference)
		c.note(key, now)
	}
}

// result counts what a released result of an assessment is worth, as it is now.
func (c *counting) result(n entry) {
	r, ok := c.found.results[n.Result]
	if !ok || r.Kind != "assessment" || r.Sandbox {
		return
	}
	key := factKey{scored, uuid.UUID(n.Result)}
	now := fact{At: slotOf(n.at)}
	if r.Shown {
		now.Counts = counts{"results": 1}
		if r.Passed {
			now.Counts["passed"] = 1
		}
	}
	if difference := minus(now.Counts, c.facts[key].Counts); difference != nil {
		c.people(ofLearning, "results", r.Portal, r.Unit, uuid.UUID(r.Person), n.at, difference)
		c.note(key, now)
	}
}

func (c *counting) completion(n entry) {
	key := factKey{completed, uuid.UUID(n.Completion)}
	before := c.facts[key]
	now := fact{At: slotOf(n.at), Unit: before.Unit}
	if n.kind == event.CompletionRecorded {
		now.Counts, now.Unit = counts{"completions": 1}, c.found.units[n.Membership]
	}
	if difference := minus(now.Counts, before.Counts); difference != nil {
		c.people(ofLearning, "completions", n.Portal, now.Unit, uuid.UUID(n.Person), n.at, difference)
		c.note(key, now)
	}
}

func (c *counting) mastery(n entry) {
	secure, ok := c.found.mastery[objective{Person: n.Person, Subject: n.Subject, Key: n.Objective}]
	if !ok || c.found.sessions[n.Session].Sandbox {
		return
	}
	one := counts{"practiced": 1}
	if secure {
		one["secure"] = 1
	}
	c.people(ofLearning, "mastery", n.Portal, c.found.units[n.Membership], uuid.UUID(n.Person), n.at, one)
}

// stages are the measures of candidates, each of which waits by itself: a count of candidates
// is of six of them or more.
var stages = map[event.Type]string{
	event.CandidateInvited: "invited", event.CandidateInviteOpened: "opened", event.CandidateScreened: "screened", event.CandidateReviewed: "reviewed",
}

// decisions are those that are counted.
var decisions = []string{"advance", "reject", "hire"}

func (c *counting) hiring(n entry) {
	who, ok := c.found.candidates[n.Candidate]
	switch {
	case n.kind == event.CandidateErased:
		c.forget(uuid.UUID(n.Candidate))
		return
	case !ok || who.Sandbox:
		return
	}
	at := func(measure string, by int64) {
		c.people(ofHiring, measure, who.Portal, id.Unit{}, uuid.UUID(n.Candidate), n.at, counts{measure: by})
	}
	if measure, ok := stages[n.kind]; ok {
		at(measure, 1)
	}
	if n.kind != event.CandidateDecided || n.Decision == n.Previous {
		return
	}
	if slices.Contains(decisions, n.Previous) {
		at(n.Previous, -1)
	}
	if slices.Contains(decisions, n.Decision) {
		at(n.Decision, 1)
	}
}

// portals are the organization, and the portal where there is one.
func portals(p id.Portal) []uuid.UUID {
	if p.IsZero() {
		return []uuid.UUID{{}}
	}
	return []uuid.UUID{{}, uuid.UUID(p)}
}

// direct counts what is about nobody.
func (c *counting) direct(a area, p id.Portal, at time.Time, n counts) {
	for _, portal := range portals(p) {
		cell := c.cell(place{a, portal, uuid.UUID{}, slotOf(at)})
		cell.add(n)
		if a == ofSessions { // the last of its cells says how many sessions are live
			cell.add(counts{peak: c.live[portal], live: c.live[portal]})
		}
	}
}

func (c *counting) cell(p place) counts {
	cell, ok := c.cells[p]
	if !ok {
		cell = counts{}
		c.cells[p] = cell
	}
	return cell
}

func (c *counting) note(key factKey, f fact) {
	c.facts[key] = f
	c.changes[key] = true
}
