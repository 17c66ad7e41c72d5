// Package dashboard is an organization's figures (spec, Dashboards). They are counted from the
// event log as it grows, into counts of quarters of an hour, so that reading them costs the
// same however much happened. What an event does not carry, such as how long answers took, is
// read from the rows that it is about when it is counted.
//
// Figures about people are counted in batches. What happened waits, by measure, portal and
// unit, until it is of six people, and is then counted all at once. So every figure is a sum
// of whole batches, whatever portal, unit, period or time zone is asked for, and no difference
// of two figures tells of fewer than six.
package dashboard

import (
	"slices"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/scope"
)

// Key names a dashboard.
type Key string

// The dashboards.
const (
	Overview      Key = "overview"
	Conversations Key = "conversations"
	Questions     Key = "questions"
	Learning      Key = "learning"
	Inbox         Key = "inbox"
	Hiring        Key = "hiring"
	Usage         Key = "usage"
	Delivery      Key = "delivery"
)

// Keys lists every dashboard.
func Keys() []Key {
	return []Key{Overview, Conversations, Questions, Learning, Inbox, Hiring, Usage, Delivery}
}

// Noun is what errors call a dashboard.
const Noun errdefs.Noun = "dashboard"

func (k Key) String() string { return string(k) }

// area is a part of what is counted.
type area string

// The areas.
const (
	ofSessions   area = "sessions"
	ofRatings    area = "ratings"
	ofBreakdowns area = "breakdowns"
	ofLearning   area = "learning"
	ofInbox      area = "inbox"
	ofHiring     area = "hiring"
	ofDeliveries area = "deliveries"
)

// Definition is what a dashboard shows.
type Definition struct {
	Key   Key
	Label string
	// Needs is the scope that reads its records, beside dashboards:read; empty for none.
	Needs scope.Scope
	// ByPortal and ByUnit say that it can be asked for of one.
	ByPortal, ByUnit bool
	areas            []area
	tiles            []tile
	tables           []table
}

// tile is one figure.
type tile struct {
	key, label, unit string
	of               func(counts) *float64
	// drawn says that it is shown for each part of the period too.
	drawn bool
	// ofUnits says that it is counted of units. Of a dashboard that can be asked for of a unit
	// the others are null then.
	ofUnits bool
}

// value is the figure, nil where there is none: what is taken off again can be counted in another
// part of time than what it is taken off from, and no part is more than its whole.
func (t tile) value(c counts) *float64 {
	v := t.of(c)
	if v != nil && (*v < 0 || t.unit == percent && *v > 100) {
		return nil
	}
	return v
}

// The units of tiles.
const (
	number  = "count"
	percent = "percent"
	minute  = "minutes"
	second  = "seconds"
	ms      = "milliseconds"
)

// definitions are in the order of Keys.
var definitions = []Definition{
	{
		Key: Overview, Label: "Overview", Needs: scope.SessionsRead, ByPortal: true, ByUnit: true, areas: []area{ofSessions, ofRatings},
		tiles: []tile{
			{key: "sessions", label: "Sessions that ended", unit: number, of: whole("sessions"), drawn: true},
			{key: "minutes", label: "Minutes of conversation", unit: minute, of: minutes("seconds"), drawn: true},
			{key: "peakConcurrency", label: "Sessions live at once, at most", unit: number, of: whole(peak), drawn: true},
			{key: "resolution", label: "Visitors' conversations that were resolved, of those with a known outcome", unit: percent, of: share("outcome:resolved", "outcomes"), drawn: true},
			{key: "rating", label: "Average rating, from 0 for the worst to 100 for the best", unit: percent, of: average("ratingSum", "ratings"), drawn: true, ofUnits: true},
			{key: "ratings", label: "Conversations that were rated", unit: number, of: counted("ratings"), ofUnits: true},
		},
		tables: []table{{key: "outcomes", label: "Outcomes of visitors' conversations", name: "Outcome", number: "Conversations", prefix: "outcome:"}},
	},
	{
		Key: Conversations, Label: "Conversations", Needs: scope.SessionsRead, ByPortal: true, areas: []area{ofSessions, ofBreakdowns},
		tiles: []tile{
			{key: "sessions", label: "Sessions that ended", unit: number, of: whole("sessions"), drawn: true},
			{key: "averageS", label: "Average length of a session", unit: second, of: average("seconds", "sessions")},
			{key: "turns", label: "Turns that were taken", unit: number, of: whole("turns")},
			{key: "responseP50", label: "Half of the answers began within", unit: ms, of: nth("response:", 50), drawn: true},
			{key: "responseP90", label: "Nine in ten answers began within", unit: ms, of: nth("response:", 90)},
			{key: "responseP95", label: "Nineteen in twenty answers began within", unit: ms, of: nth("response:", 95), drawn: true},
			{key: "interruptions", label: "Avatar's turns that were interrupted", unit: percent, of: share("interruptions", "avatarTurns"), drawn: true},
		},
		tables: []table{
			{key: "endReasons", label: "Why sessions ended", name: "Reason", number: "Sessions", prefix: "reason:"},
			{key: "languages", label: "Languages of sessions", name: "Language", number: "Sessions", prefix: "language:"},
		},
	},
	{
		Key: Questions, Label: "Questions", Needs: scope.KnowledgeRead, ByPortal: true, areas: []area{ofSessions, ofBreakdowns},
		tiles: []tile{
			{key: "questions", label: "Questions to the knowledge", unit: number, of: sum("grounded", "ungrounded"), drawn: true},
			{key: "answered", label: "Questions that were answered from the knowledge", unit: percent, of: share("grounded", "grounded", "ungrounded"), drawn: true},
			{key: "unanswered", label: "Questions that the knowledge did not answer", unit: number, of: whole("ungrounded"), drawn: true},
			{key: "gaps", label: "Gaps that were found or grew, each once a day", unit: number, of: whole("gaps")},
		},
		tables: []table{{key: topics, label: "Subjects that questions were asked in", name: "Subject", number: "Questions", prefix: "topic:"}},
	},
	{
		Key: Learning, Label: "Learning", Needs: scope.ResultsRead, ByPortal: true, ByUnit: true, areas: []area{ofLearning},
		tiles: []tile{
			{key: "completions", label: "Completions that count", unit: number, of: counted("completions"), drawn: true, ofUnits: true},
			{key: "assignments", label: "Assignments that were completed", unit: number, of: counted("assignments"), drawn: true, ofUnits: true},
			{key: "results", label: "Assessments with a released result", unit: number, of: counted("results"), drawn: true, ofUnits: true},
			{key: "passRate", label: "Released results that are passed", unit: percent, of: share("passed", "results"), drawn: true, ofUnits: true},
			{key: "mastery", label: "Objectives that were secure or strong when practiced", unit: percent, of: share("secure", "practiced"), drawn: true, ofUnits: true},
		},
	},
	{
		Key: Inbox, Label: "Inbox", Needs: scope.InboxRead, ByPortal: true, areas: []area{ofInbox},
		tiles: []tile{
			{key: "leads", label: "Leads", unit: number, of: sum("lead:hot", "lead:warm", "lead:cold"), drawn: true},
			{key: "hotLeads", label: "Hot leads", unit: number, of: whole("lead:hot"), drawn: true},
			{key: "warmLeads", label: "Warm leads", unit: number, of: whole("lead:warm"), drawn: true},
			{key: "coldLeads", label: "Cold leads", unit: number, of: whole("lead:cold"), drawn: true},
			{key: "bookings", label: "Bookings", unit: number, of: whole("bookings"), drawn: true},
			{key: "handoffs", label: "Hand-offs that were asked for", unit: number, of: whole("handoffs"), drawn: true},
			{key: "joined", label: "Hand-offs that somebody joined", unit: number, of: whole("joined")},
			{key: "waitP50", label: "Half of the visitors who were joined waited at most", unit: ms, of: nth("wait:", 50)},
			{key: "waitP95", label: "Nineteen in twenty waited at most", unit: ms, of: nth("wait:", 95)},
		},
	},
	{
		Key: Hiring, Label: "Hiring", Needs: scope.CandidatesRead, ByPortal: true, areas: []area{ofHiring},
		tiles: []tile{
			{key: "invited", label: "Candidates who were invited", unit: number, of: counted("invited"), drawn: true},
			{key: "opened", label: "Candidates who opened their invite", unit: number, of: counted("opened"), drawn: true},
			{key: "screened", label: "Interviews with an avatar that ended", unit: number, of: counted("screened"), drawn: true},
			{key: "reviewed", label: "Candidates whom a person reviewed", unit: number, of: counted("reviewed"), drawn: true},
			{key: "advanced", label: "Candidates whom a person advanced", unit: number, of: counted("advance")},
			{key: "rejected", label: "Candidates whom a person rejected", unit: number, of: counted("reject")},
			{key: "hired", label: "Candidates who were hired", unit: number, of: counted("hire")},
		},
	},
	{
		Key: Usage, Label: "Usage", Needs: scope.UsageRead, ByPortal: true, areas: []area{ofSessions, ofBreakdowns},
		tiles: []tile{
			{key: "minutes", label: "Minutes that were paid for", unit: minute, of: minutes("billed"), drawn: true},
			{key: "sessions", label: "Sessions that ended", unit: number, of: whole("sessions"), drawn: true},
			{key: "sandboxMinutes", label: "Minutes of sandbox sessions, which cost nothing", unit: minute, of: minutes("sandbox")},
		},
		tables: []table{{key: "kinds", label: "Seconds that were paid for, by kind of session", name: "Kind", number: "Seconds", prefix: "billed:"}},
	},
	{
		Key: Delivery, Label: "Delivery", Needs: scope.WebhooksManage, areas: []area{ofDeliveries},
		tiles: []tile{
			{key: "deliveries", label: "Deliveries that came to an end", unit: number, of: sum("delivered", "failed"), drawn: true},
			{key: "success", label: "Deliveries that arrived", unit: percent, of: share("delivered", "delivered", "failed"), drawn: true},
			{key: "failed", label: "Deliveries that were given up", unit: number, of: whole("failed"), drawn: true},
			{key: "responseP95", label: "Nineteen in twenty were answered within", unit: ms, of: nth("response:", 95), drawn: true},
		},
	},
}

// sum is several counts together.
func sum(keys ...string) func(counts) *float64 {
	return func(c counts) *float64 {
		var all int64
		for _, key := range keys {
			all += c[key]
		}
		return new(float64(all))
	}
}

// Definitions are all dashboards, in the order of Keys.
func Definitions() []Definition { return slices.Clone(definitions) }

// Find finds a dashboard. The error is errdefs.NotFound.
func Find(k Key) (Definition, error) {
	at := slices.IndexFunc(definitions, func(d Definition) bool { return d.Key == k })
	if at < 0 {
		return Definition{}, Noun.NotFound(k)
	}
	return definitions[at], nil
}

// Tiles are the dashboard's figures, without values.
func (d Definition) Tiles() []Tile {
	list := make([]Tile, len(d.tiles))
	for i, t := range d.tiles {
		list[i] = Tile{Key: t.key, Label: t.label, Unit: t.unit}
	}
	return list
}
