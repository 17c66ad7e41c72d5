package inbox

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/sessions/slot"
	"visavis.dev/pkg/store/tenant"
)

// Run is what a rule did with an item.
type Run struct {
	Rule     id.InboxRule
	RuleName string
	Event    Event
	Did      Did
	At       time.Time
}

// Did is what came of a rule's actions.
type Did struct {
	// Fields are the names of those that changed, and Mailed are people who are told by mail.
	Fields []string    `json:"fields,omitempty"`
	Mailed []id.Person `json:"mailed,omitempty"`
	// Skipped are the names of actions that nothing came of.
	Skipped []Skipped `json:"skipped,omitempty"`
}

// Skipped is an action that nothing came of, and why.
type Skipped struct {
	Action string `json:"action"`
	Reason string `json:"reason"`
}

// Why nothing came of an action.
const (
	// PersonGone: the person is switched off or erased, or has no place any more.
	PersonGone = "gone"
	// NobodyThere: everybody whose turn it could be is gone or away.
	NobodyThere = "nobody_there"
	// NotActive: the item is over, so that it is neither due nor put off.
	NotActive = "not_active"
	// TooManyTags: the item has as many as it can have.
	TooManyTags = "too_many_tags"
	// ToldAlready: another rule of the event told them by mail.
	ToldAlready = "told_already"
	// NobodyAssigned: nobody deals with the item, so that nobody is told.
	NobodyAssigned = "nobody_assigned"
)

// mostRuns is how much of what rules did is shown of an item.
const mostRuns = 100

func scanRun(row pgx.CollectableRow) (Run, error) { return pgx.RowToStructByPos[Run](row) }

const selectRuns = `
	SELECT rule_id, rule_name, event, did, at FROM inbox_rule_run WHERE org_id = $1 AND item_id = $2 ORDER BY at DESC, rule_id, occasion LIMIT $3`

// Runs are what rules did with an item, newest first. They ride inbox_rule_run_pkey.
func Runs(ctx context.Context, t *tenant.Tenants, org id.Org, of id.InboxItem) ([]Run, error) {
	return tenant.All(ctx, t, org, scanRun, selectRuns, org, of, mostRuns)
}

// RunsIn is Runs in a transaction.
func RunsIn(ctx context.Context, tx *tenant.Tx, of id.InboxItem) ([]Run, error) {
	return tenant.AllIn(ctx, tx, scanRun, selectRuns, tx.Org, of, mostRuns)
}

// occasion is the last part of a run's key.
type occasion string

func (o occasion) String() string { return string(o) }

// runsOf are the rules that were applied to an item on an occasion. It rides inbox_rule_run_pkey.
func runsOf(ctx context.Context, tx *tenant.Tx, i id.InboxItem, o occasion) ([]id.InboxRule, error) {
	return tenant.AllIn(ctx, tx, pgx.RowTo[id.InboxRule], `
		SELECT rule_id FROM inbox_rule_run WHERE org_id = $1 AND item_id = $2 AND occasion = $3`, tx.Org, i, o)
}

// insert notes what a rule did on an occasion.
func (r *Run) insert(ctx context.Context, tx *tenant.Tx, i id.InboxItem, o occasion) error {
	tx.Touch("inbox_rule_run", i, r.Rule, o)
	_, err := tx.Exec(ctx, `
		INSERT INTO inbox_rule_run (org_id, item_id, rule_id, occasion, rule_name, event, did, at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		tx.Org, i, r.Rule, o, r.RuleName, r.Event, r.Did, r.At)
	return err
}

// applyRules applies the rules of an event to an item that nobody else changes until the commit, each once on an occasion: what
// tells it from others of the event; none to spam. It answers the last rule that changed the item; the caller saves it. Later rules see
// what earlier ones did. It comes before whatever locks the counts of items, so that two wait for each other in one order.
func (i *Item) applyRules(ctx context.Context, tx *tenant.Tx, e Event, on string, at time.Time) (by id.InboxRule, fields []string, err error) {
	if i.ForgottenAt != nil || i.State == Spam {
		return by, nil, nil
	}
	rules, err := rulesOn(ctx, tx, e)
	if err != nil || len(rules) == 0 {
		return by, nil, err
	}
	key := occasion(string(e) + " " + on)
	var applied []id.InboxRule
	if e != Created { // nothing was applied to what is new
		if applied, err = runsOf(ctx, tx, i.ID, key); err != nil {
			return by, nil, err
		}
	}
	hours, c := scheduled(tx), newCrew(rules, at)
	for _, r := range rules {
		if slices.Contains(applied, r.ID) {
			continue
		}
		ok, err := r.When.hold(ctx, i, at, hours)
		if err != nil {
			return by, nil, err
		}
		if !ok {
			continue
		}
		run, before := Run{Rule: r.ID, RuleName: r.Name, Event: e, At: at}, *i
		if err := r.apply(ctx, tx, i, &run.Did, c); err != nil {
			return by, nil, err
		}
		run.Did.Fields = i.changed(&before)
		if len(run.Did.Fields) > 0 {
			by, fields = r.ID, union(fields, run.Did.Fields)
		}
		if err := run.insert(ctx, tx, i.ID, key); err != nil {
			return by, nil, err
		}
	}
	if e != Created && slices.Contains(fields, "tags") { // whoever enters what is new enters its terms
		err = i.enterTerms(ctx, tx)
	}
	return by, fields, err
}

// settle saves an item that is locked and changed, whose state was one before, with what the rules of an event change of it, and
// tells both: first what was changed. It is saved once, so that whoever follows it is told once.
func (i *Item) settle(ctx context.Context, tx *tenant.Tx, before State, e Event, on string, at time.Time, tell func()) error {
	i.UpdatedAt = at
	i.followState(before, at)
	tell()
	between := i.State
	by, fields, err := i.applyRules(ctx, tx, e, on, at)
	if err != nil {
		return err
	}
	if len(fields) > 0 {
		i.tellChanged(tx, between, fields, by.String())
	}
	return i.save(ctx, tx, before, at)
}

// apply does with an item what a rule says.
func (r *Rule) apply(ctx context.Context, tx *tenant.Tx, i *Item, did *Did, c *crew) error {
	t, at := &r.Then, c.at
	skip := func(action, reason string) { did.Skipped = append(did.Skipped, Skipped{action, reason}) }
	if err := r.assign(ctx, tx, i, skip, c); err != nil {
		return err
	}
	if t.Department != "" {
		i.Department = &t.Department
	}
	if t.Urgency != "" {
		i.Urgency = t.Urgency
	}
	i.Tags = slices.Clone(i.Tags)
	for _, tag := range t.AddTags {
		switch {
		case slices.Contains(i.Tags, tag):
		case len(i.Tags) >= MaxTags:
			skip("addTags", TooManyTags)
		default:
			i.Tags = append(i.Tags, tag)
		}
	}
	switch {
	case t.DueMinutes == 0 && t.SnoozeMinutes == 0:
	case !i.State.Active():
		skip("state", NotActive)
	default:
		if t.DueMinutes > 0 {
			i.dueAt(new(at.Add(time.Duration(t.DueMinutes)*time.Minute)), at)
		}
		if t.SnoozeMinutes > 0 {
			i.State, i.SnoozedUntil = Snoozed, new(at.Add(time.Duration(t.SnoozeMinutes)*time.Minute))
		}
	}
	return r.mail(ctx, tx, i, did, skip, c)
}

// assign gives an item to whom the rule says.
func (r *Rule) assign(ctx context.Context, tx *tenant.Tx, i *Item, skip func(action, reason string), c *crew) error {
	t := &r.Then
	if !t.Assignee.IsZero() {
		who, err := c.of(ctx, tx, t.Assignee)
		switch {
		case err != nil:
			return err
		case who == nil:
			skip("assigneeId", PersonGone)
		default:
			i.Assignee = t.Assignee
		}
		return nil
	}
	action, turns := "roundRobin", t.RoundRobin
	there := map[id.Person]bool{}
	if t.RoundRobinIn != "" {
		action, turns = "roundRobinDepartment", nil
		people, err := c.in(ctx, tx, t.RoundRobinIn)
		if err != nil {
			return err
		}
		for _, s := range people {
			turns, there[s.Person] = append(turns, s.Person), s.there
		}
	} else if len(turns) == 0 {
		return nil
	}
	// The rule's row is held, so that two processes give two items to two people.
	locked, err := LockRule(ctx, tx, r.ID)
	if errdefs.IsNotFound(err, RuleNoun) { // somebody deleted it since: what the visitor leaves stays
		return nil
	}
	if err != nil {
		return err
	}
	if action == "roundRobin" {
		for _, p := range turns {
			who, err := c.of(ctx, tx, p)
			if err != nil {
				return err
			}
			there[p] = who != nil && who.there
		}
	}
	next := turn(turns, locked.Turn, func(p id.Person) bool { return there[p] })
	if next.IsZero() {
		skip(action, NobodyThere)
		return nil
	}
	tx.Touch("inbox_rule", r.ID)
	if _, err := tx.Exec(ctx, `UPDATE inbox_rule SET turn = $3 WHERE org_id = $1 AND id = $2`, tx.Org, r.ID, next); err != nil {
		return err
	}
	i.Assignee = next
	return nil
}

// turn is who comes after somebody and is there; zero for nobody. Where the last one is not among them any more, they are
// ordered by their ids, and the first one comes whose id is after theirs.
func turn(all []id.Person, last id.Person, there func(id.Person) bool) id.Person {
	from := slices.Index(all, last) + 1
	if from == 0 && !last.IsZero() {
		from = max(0, slices.IndexFunc(all, func(p id.Person) bool { return p.String() > last.String() }))
	}
	for n := range all {
		if p := all[(from+n)%len(all)]; there(p) {
			return p
		}
	}
	return id.Person{}
}

// Told is the input of a job that tells one of the team by mail of an item.
type Told struct {
	Item   id.InboxItem `json:"itemId"`
	Person id.Person    `json:"personId"`
	Event  Event        `json:"event"`
	// Again says that the team was called for the conversation before.
	Again bool `json:"again,omitempty"`
}

// mail has people told of an item by mail, with the commit: each once, however many rules name them. Who is gone is told nothing.
func (r *Rule) mail(ctx context.Context, tx *tenant.Tx, i *Item, did *Did, skip func(action, reason string), c *crew) error {
	to := slices.Clone(r.Then.MailTo)
	switch {
	case !r.Then.MailAssignee:
	case i.Assignee.IsZero():
		skip("mailAssignee", NobodyAssigned)
	case !slices.Contains(to, i.Assignee):
		to = append(to, i.Assignee)
	}
	for _, p := range to {
		who, err := c.of(ctx, tx, p)
		switch {
		case err != nil:
			return err
		case who == nil:
			skip("mailTo", PersonGone)
			continue
		case c.told[p]:
			skip("mailTo", ToldAlready)
			continue
		}
		if _, err := job.Insert(ctx, tx, job.Job{
			ID: id.NewJob(), Kind: job.InboxMail, ResourceKind: "inbox_item", ResourceID: i.ID.String(), Portal: i.Portal, Scope: scope.InboxRead,
			CreatedBy: r.ID.String(), CreatedAt: c.at,
		}, Told{Item: i.ID, Person: p, Event: r.Event}); err != nil {
			return err
		}
		c.told[p] = true
		did.Mailed = append(did.Mailed, p)
	}
	return nil
}

// crew are the people whom the rules of an event can name, as far as they were looked up at a moment, and who was told by mail.
type crew struct {
	at     time.Time
	named  []id.Person
	known  map[id.Person]*standing
	within map[string][]standing
	told   map[id.Person]bool
}

// newCrew is nobody yet: those whom rules name are looked up together, once one is needed.
func newCrew(rules []Rule, at time.Time) *crew {
	c := &crew{at: at, known: map[id.Person]*standing{}, within: map[string][]standing{}, told: map[id.Person]bool{}}
	for _, r := range rules {
		c.named = append(c.named, r.Then.People()...)
	}
	return c
}

// of is somebody; nil for who is gone.
func (c *crew) of(ctx context.Context, tx *tenant.Tx, p id.Person) (*standing, error) {
	if who, ok := c.known[p]; ok {
		return who, nil
	}
	wanted := slices.Concat(c.named, []id.Person{p})
	c.named = nil
	found, err := staff(ctx, tx, wanted, c.at)
	if err != nil {
		return nil, err
	}
	for _, one := range wanted {
		c.known[one] = nil
	}
	for _, s := range found {
		c.known[s.Person] = &s
	}
	return c.known[p], nil
}

// in are those of a department, by their ids.
func (c *crew) in(ctx context.Context, tx *tenant.Tx, department string) ([]standing, error) {
	key := strings.ToLower(department)
	if people, ok := c.within[key]; ok {
		return people, nil
	}
	people, err := staffIn(ctx, tx, key, c.at)
	c.within[key] = people
	return people, err
}

// standing is somebody who can be given items, and whether they are there.
type standing struct {
	Person id.Person
	there  bool
}

const selectStaff = `
	SELECT p.id, m.person_id IS NOT NULL AND m.away AND (m.away_until IS NULL OR m.away_until > $2), m.hours
	FROM person p LEFT JOIN inbox_member m ON m.org_id = p.org_id AND m.person_id = p.id
	WHERE p.org_id = $1 AND ` + notGone + ` AND `

// notGone is of people who can be given items, at $2.
const notGone = `p.state IN ('invited', 'active') AND EXISTS (
		SELECT 1 FROM membership s WHERE s.org_id = p.org_id AND s.person_id = p.id AND s.enabled AND s.removed_at IS NULL
			AND (s.starts_at IS NULL OR s.starts_at <= $2) AND (s.ends_at IS NULL OR s.ends_at > $2))`

func scanStaff(at time.Time) func(pgx.CollectableRow) (standing, error) {
	return func(row pgx.CollectableRow) (standing, error) {
		var (
			s    standing
			away bool
			week *Week
		)
		if err := row.Scan(&s.Person, &away, &week); err != nil {
			return s, err
		}
		s.there = !away
		if week != nil && s.there {
			s.there = week.open(at)
		}
		return s, nil
	}
}

// staff are those of some people who are not gone. It rides person_pkey, membership_by_person and inbox_member_pkey.
func staff(ctx context.Context, tx *tenant.Tx, which []id.Person, at time.Time) ([]standing, error) {
	if len(which) == 0 {
		return nil, nil
	}
	return tenant.AllIn(ctx, tx, scanStaff(at), selectStaff+`p.id = ANY($3) ORDER BY p.id`, tx.Org, at, which)
}

// staffIn are the members of a department, whose name is in lower case, who are not gone, by their ids. It rides inbox_member_pkey.
func staffIn(ctx context.Context, tx *tenant.Tx, department string, at time.Time) ([]standing, error) {
	return tenant.AllIn(ctx, tx, scanStaff(at), selectStaff+`p.id IN (
		SELECT d.person_id FROM inbox_member d WHERE d.org_id = $1 AND EXISTS (SELECT 1 FROM unnest(d.departments) AS one (name) WHERE lower(one.name) = $3))
		ORDER BY p.id`, tx.Org, at, department)
}

// FindSchedule looks whether a rule can name a schedule. The error is errdefs.NotFound.
func FindSchedule(ctx context.Context, tx *tenant.Tx, which id.Schedule) error {
	_, err := slot.Find(ctx, tx, which)
	return err
}
