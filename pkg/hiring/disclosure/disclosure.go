// Package disclosure is all that is kept about a candidate, as they get it who asked for it
// (data_access): every class of data that concerns them, and nothing of anybody else.
package disclosure

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/hiring/law"
	"visavis.dev/pkg/hiring/question"
	"visavis.dev/pkg/hiring/record"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/hiring/screening"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// Format is the version of the form that files have.
const Format = "visavis-candidate-data-1"

// Open is for how long after the answer a candidate gets what is kept about them.
const Open = 30 * 24 * time.Hour

// Until is until when a candidate gets their data: for thirty days from when a person answered last that a request for
// them is done; false for not now.
func Until(asked []candidate.Request, now time.Time) (q candidate.Request, until time.Time, open bool) {
	for _, one := range asked {
		if one.Kind != candidate.DataAccess || one.State != candidate.RequestDone || one.DecidedAt == nil {
			continue
		}
		if end := one.DecidedAt.Add(Open); now.Before(end) && end.After(until) {
			q, until, open = one, end, true
		}
	}
	return q, until, open
}

// Data is what a candidate gets. Times are in UTC; what there is not is null, empty or left out.
type Data struct {
	Format     string      `json:"format"`
	PreparedAt time.Time   `json:"preparedAt"`
	Role       Role        `json:"role"`
	You        Person      `json:"you"`
	Invite     Invitation  `json:"invite"`
	Notice     *Notice     `json:"notice"`
	Consents   []Consent   `json:"consents"`
	Interviews []Interview `json:"interviews"`
	Meetings   []Meeting   `json:"interviewsWithPeople"`
	ReviewedAt *time.Time  `json:"reviewedAt"`
	Decision   *Decision   `json:"decision"`
	Requests   []Request   `json:"requests"`
	Retention  Retention   `json:"retention"`
	Log        []Entry     `json:"log"`
	// Without says what is not in it, and why.
	Without []string `json:"without"`
}

// Role is what somebody applied for.
type Role struct {
	Title       string `json:"title"`
	Description string `json:"description"`
}

// Person is who somebody is, as it is kept.
type Person struct {
	Name       string            `json:"name"`
	Email      *string           `json:"email"`
	Phone      *string           `json:"phone"`
	ResumeURL  *string           `json:"resumeUrl"`
	Language   string            `json:"language"`
	Location   *law.Place        `json:"location,omitempty"`
	ExternalID *string           `json:"externalId"`
	Metadata   map[string]string `json:"metadata"`
	State      candidate.State   `json:"state"`
	Stage      candidate.Stage   `json:"stage"`
	CreatedAt  time.Time         `json:"createdAt"`
}

// Invitation is how they were invited.
type Invitation struct {
	Channel       string     `json:"channel"`
	Message       *string    `json:"message"`
	ExpiresAt     time.Time  `json:"expiresAt"`
	SentAt        *time.Time `json:"sentAt"`
	OpenedAt      *time.Time `json:"openedAt"`
	RemindersSent int64      `json:"remindersSent"`
}

// Notice is what they were told, and when.
type Notice struct {
	GivenAt        time.Time        `json:"givenAt"`
	AcknowledgedAt *time.Time       `json:"acknowledgedAt"`
	Channel        string           `json:"channel"`
	Laws           []candidate.Told `json:"laws"`
	TextHash       string           `json:"textHash"`
}

// Consent is something that they agreed to, or took back.
type Consent struct {
	Kind  string    `json:"kind"`
	State string    `json:"state"`
	At    time.Time `json:"at"`
}

// Interview is one with the avatar, also one that did not count.
type Interview struct {
	StartedAt time.Time       `json:"startedAt"`
	EndedAt   *time.Time      `json:"endedAt"`
	DurationS *int64          `json:"durationS"`
	Language  string          `json:"language"`
	State     screening.State `json:"state"`
	Complete  bool            `json:"complete"`
	// Percent, Band and the scores are what a program made of the answers, and Knockouts which choices it pointed out.
	Percent    *float64             `json:"percent"`
	Band       *string              `json:"band"`
	Questions  []Question           `json:"questions"`
	Knockouts  []screening.Met      `json:"knockouts"`
	Transcript []Turn               `json:"transcript"`
	Signals    *screening.Integrity `json:"signals"`
}

// Question is a question with its answer.
type Question struct {
	Key    string  `json:"key"`
	Text   string  `json:"text"`
	Answer string  `json:"answer"`
	Scores []Score `json:"scores"`
}

// Score is what a program made of an answer.
type Score struct {
	Label      string   `json:"label"`
	Score      *float64 `json:"score"`
	MaxScore   float64  `json:"maxScore"`
	Evaluation string   `json:"evaluation"`
	Evidence   []string `json:"evidence"`
}

// Turn is something that was said.
type Turn struct {
	Speaker   session.Speaker `json:"speaker"`
	Text      string          `json:"text"`
	StartedAt time.Time       `json:"startedAt"`
}

// Meeting is an interview with people, who are not named.
type Meeting struct {
	State    candidate.HumanState `json:"state"`
	Mode     string               `json:"mode"`
	StartsAt *time.Time           `json:"startsAt"`
	EndsAt   *time.Time           `json:"endsAt"`
	Timezone string               `json:"timezone"`
	Location *string              `json:"location"`
	JoinURL  *string              `json:"joinUrl"`
}

// Decision is what people decided last.
type Decision struct {
	Value         candidate.Value `json:"value"`
	DecidedAt     time.Time       `json:"decidedAt"`
	HumanReviewed bool            `json:"humanReviewed"`
	ReopenedAt    *time.Time      `json:"reopenedAt"`
	ExplainedAt   *time.Time      `json:"explainedAt"`
	Explanation   string          `json:"explanation"`
}

// Request is something that they asked for.
type Request struct {
	Kind      candidate.RequestKind  `json:"kind"`
	State     candidate.RequestState `json:"state"`
	Message   *string                `json:"message"`
	Answer    *string                `json:"answer"`
	CreatedAt time.Time              `json:"createdAt"`
	DueAt     time.Time              `json:"dueAt"`
	DecidedAt *time.Time             `json:"decidedAt"`
}

// Retention is until when what is kept.
type Retention struct {
	WordsUntil *time.Time `json:"wordsUntil"`
	Until      time.Time  `json:"until"`
	OnHold     bool       `json:"onHold"`
}

// Entry is something that was done, as the record has it.
type Entry struct {
	At     time.Time `json:"at"`
	Action string    `json:"action"`
	// ByYou says that they did it themselves.
	ByYou bool `json:"byYou"`
}

// without is what is not in it.
var without = []string{
	"Notes that people of the organization made for themselves, and who of them did what.",
	"What you said of your sex and race, if you did: it lies apart from all else, without your name, and no program reads one person's answer. You can change it or take it back on your page until it is counted.",
	"The digests by which the record of what was done is kept from being changed.",
}

// mostTurns bounds the turns of an interview that are shown.
const mostTurns = 2000

// Read is all that is kept about a candidate. The error is errdefs.NotFound or errdefs.Gone.
func Read(ctx context.Context, t *tenant.Tenants, org id.Org, which id.Candidate, now time.Time) (Data, error) {
	c, err := candidate.Get(ctx, t, org, which)
	if err != nil {
		return Data{}, err
	}
	r, err := role.Get(ctx, t, org, c.Role)
	if err != nil {
		return Data{}, err
	}
	v, err := candidate.GetInvite(ctx, t, org, c.Invite)
	if err != nil {
		return Data{}, err
	}
	d := Data{
		Format: Format, PreparedAt: now.UTC().Truncate(time.Second), Role: Role{r.Title, r.Description},
		You: Person{
			Name: c.Name, Email: c.Email, Phone: c.Phone, ResumeURL: c.ResumeURL, Language: c.Language, Location: c.Place, ExternalID: c.ExternalID, Metadata: c.Metadata,
			State: c.State, Stage: c.Stage, CreatedAt: c.CreatedAt.UTC(),
		},
		Invite:     Invitation{v.Channel, v.Message, v.ExpiresAt.UTC(), utc(v.SentAt), utc(v.OpenedAt), v.RemindersSent},
		Consents:   []Consent{},
		Interviews: []Interview{}, Meetings: []Meeting{}, Requests: []Request{}, Log: []Entry{}, ReviewedAt: utc(c.ReviewedAt),
		Retention: Retention{utc(c.WordsUntil), c.RetainUntil.UTC(), c.OnHold}, Without: without,
	}
	d.agreed(&c)
	if err := d.interviewed(ctx, t, org, &c); err != nil {
		return d, err
	}
	return d, d.done(ctx, t, org, &c)
}

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	return new(t.UTC())
}

// agreed adds what they were told and agreed to.
func (d *Data) agreed(c *candidate.Candidate) {
	if n := c.Notice; n != nil {
		d.Notice = &Notice{n.At.UTC(), utc(n.AcknowledgedAt), n.Channel, n.Laws, n.TextHash}
	}
	if at := c.Consent.InterviewAt; at != nil {
		d.Consents = append(d.Consents, Consent{"ai_interview", "given", at.UTC()})
	}
	if at := c.Consent.WithdrawnAt; at != nil {
		d.Consents = append(d.Consents, Consent{"ai_interview", "withdrawn", at.UTC()})
	}
}

// interviewed adds what was asked and said, and what a program made of it.
func (d *Data) interviewed(ctx context.Context, t *tenant.Tenants, org id.Org, c *candidate.Candidate) error {
	held, err := screening.OfCandidate(ctx, t, org, c.ID)
	if err != nil {
		return err
	}
	var (
		set   question.Set
		asked question.Document
	)
	if c.QuestionSet > 0 {
		if set, err = question.Get(ctx, t, org, c.Role, c.QuestionSet); err != nil {
			return err
		}
		if asked, err = set.Read(); err != nil {
			return err
		}
	}
	for i := range held {
		by := &asked
		if held[i].Version != set.SubjectVersion {
			by = &question.Document{} // it was held before questions were frozen
		}
		one, err := interview(ctx, t, org, &held[i], by)
		if err != nil {
			return err
		}
		d.Interviews = append(d.Interviews, one)
	}
	return nil
}

func interview(ctx context.Context, t *tenant.Tenants, org id.Org, i *screening.Screening, asked *question.Document) (Interview, error) {
	one := Interview{
		StartedAt: i.StartedAt.UTC(), EndedAt: utc(i.EndedAt), DurationS: i.DurationS, Language: i.Language, State: i.State, Complete: i.Complete, Percent: i.Percent,
		Band: i.Band, Questions: []Question{}, Knockouts: append([]screening.Met{}, i.Knockouts...), Transcript: []Turn{}, Signals: i.Integrity,
	}
	s, err := session.Get(ctx, t, org, i.Session)
	if errdefs.IsNotFound(err, session.Noun) {
		return one, nil // deleted with what was said
	}
	if err != nil {
		return one, err
	}
	said, err := screening.Said(ctx, t, org, i, s)
	if err != nil {
		return one, err
	}
	for _, q := range said.Questions {
		text := asked.Words(q.Key, i.Language)
		if text == "" {
			text = q.Text[i.Language]
		}
		line := Question{Key: q.Key, Text: text, Answer: said.Answers[q.Key].Text, Scores: []Score{}}
		for _, k := range i.Criteria {
			if screening.OfQuestion(k.Key, q.Key) {
				line.Scores = append(line.Scores, Score{k.Label, k.Score, k.MaxScore, k.Evaluation, append([]string{}, k.Evidence...)})
			}
		}
		one.Questions = append(one.Questions, line)
	}
	turns, err := session.Turns(ctx, t, org, s.ID, 0, mostTurns)
	for _, turn := range turns {
		one.Transcript = append(one.Transcript, Turn{turn.Speaker, turn.Heard(), turn.StartedAt.UTC()})
	}
	return one, err
}

// done adds what people did, and what they were asked to.
func (d *Data) done(ctx context.Context, t *tenant.Tenants, org id.Org, c *candidate.Candidate) error {
	meetings, err := candidate.HumanOf(ctx, t, org, c.ID)
	if err != nil {
		return err
	}
	for _, h := range meetings {
		d.Meetings = append(d.Meetings, Meeting{h.State, h.Mode, utc(h.StartsAt), utc(h.EndsAt), h.Timezone, h.Location, h.JoinURL})
	}
	asked, err := candidate.RequestsOf(ctx, t, org, c.ID)
	if err != nil {
		return err
	}
	for _, q := range asked {
		d.Requests = append(d.Requests, Request{q.Kind, q.State, q.Message, q.Answer, q.CreatedAt.UTC(), q.DueAt.UTC(), utc(q.DecidedAt)})
	}
	entries, err := record.Of(ctx, t, org, c.ID)
	if err != nil {
		return err
	}
	for i := range entries {
		d.Log = append(d.Log, Entry{entries[i].At.UTC(), entries[i].Action, entries[i].Actor == "candidate"})
	}
	if last := c.Decision; last != nil {
		d.Decision = &Decision{last.Value, last.At.UTC(), last.Reviewed, utc(last.ReopenedAt), utc(last.ExplainedAt), explanation(c, entries)}
	}
	return nil
}

// explanation is what they were sent of why it was decided so last; empty for nothing. What people noted for
// themselves stands before it in the record.
func explanation(c *candidate.Candidate, entries []record.Entry) string {
	for _, e := range slices.Backward(entries) {
		switch {
		case e.Action == "decision.explained" && e.Words != nil:
			return e.Words.Text
		case e.Action != "candidate.decided":
			continue
		case e.Words == nil:
			return ""
		}
		var facts struct {
			Notify bool `json:"notify"`
		}
		if json.Unmarshal([]byte(e.Data), &facts) != nil || !facts.Notify {
			return ""
		}
		if c.DecisionNote == nil {
			return e.Words.Text
		}
		told, _ := strings.CutPrefix(e.Words.Text, *c.DecisionNote+"\n")
		if told == e.Words.Text {
			return ""
		}
		return told
	}
	return ""
}

// Given is the action of the entry that says that a candidate got what is kept about them.
const Given = "data.given"

// Give reads what a candidate gets who asked for their data, in a form (page or file), and notes in their record that
// they got it: for each form once a day. Who has no request that is done gets nothing: false.
func Give(ctx context.Context, t *tenant.Tenants, org id.Org, which id.Candidate, form string, now time.Time) (d Data, given bool, err error) {
	asked, err := candidate.RequestsOf(ctx, t, org, which)
	if err != nil {
		return d, false, err
	}
	q, _, open := Until(asked, now)
	if !open {
		return d, false, nil
	}
	if d, err = Read(ctx, t, org, which, now); err != nil {
		return d, false, err
	}
	entries, err := record.Of(ctx, t, org, which)
	if err != nil {
		return d, false, err
	}
	if given := func(e record.Entry) bool {
		var facts struct {
			Request id.CandidateRequest `json:"requestId"`
			Form    string              `json:"form"`
		}
		return e.Action == Given && json.Unmarshal([]byte(e.Data), &facts) == nil && facts.Request == q.ID && facts.Form == form &&
			e.At.Truncate(24*time.Hour).Equal(now.UTC().Truncate(24*time.Hour))
	}; slices.ContainsFunc(entries, given) {
		return d, true, nil
	}
	err = t.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		c, err := candidate.Lock(ctx, tx, which)
		if err != nil {
			return err
		}
		if err := c.Note(ctx, tx, record.Fact{At: now, Actor: "candidate", Action: Given, Data: map[string]any{"requestId": q.ID, "form": form}}); err != nil {
			return err
		}
		return c.Save(ctx, tx, now)
	})
	return d, err == nil, err
}
