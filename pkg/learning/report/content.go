package report

import (
	"context"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/mastery"
	"visavis.dev/pkg/learning/result"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/sessions/printed"
	"visavis.dev/pkg/store/tenant"
)

// Content is what a report of a result says. It is the report itself where that is JSON.
type Content struct {
	ReportID    id.Report `json:"reportId"`
	Kind        string    `json:"kind"`
	Version     int64     `json:"version"`
	Language    string    `json:"language"`
	ProducedAt  time.Time `json:"producedAt"`
	AIGenerated bool      `json:"aiGenerated"`

	ResultID   id.Result  `json:"resultId"`
	State      string     `json:"state"`
	ResultKind string     `json:"resultKind"`
	PersonID   id.Person  `json:"personId"`
	PersonName string     `json:"personName"`
	SubjectID  id.Subject `json:"subjectId"`
	Subject    string     `json:"subjectTitle"`
	PortalID   id.Portal  `json:"portalId"`
	Portal     string     `json:"portalName"`

	Attempt         int64      `json:"attempt"`
	AttemptsAllowed *int64     `json:"attemptsAllowed"`
	CompletedAt     *time.Time `json:"completedAt"`
	ReleasedAt      *time.Time `json:"releasedAt"`
	Percent         *float64   `json:"percent"`
	Score           *float64   `json:"score"`
	MaxScore        float64    `json:"maxScore"`
	Band            *string    `json:"band"`
	Passed          *bool      `json:"passed"`
	PassPercent     *int64     `json:"passPercent"`
	Confidence      *float64   `json:"confidence"`
	ScoredBy        *string    `json:"scoredBy"`
	// Summary is the conversation in short; nil where nobody may read that, or it is not kept.
	Summary *string `json:"summary"`
	// Review is how the latest review stands; nil for none.
	Review     *Review     `json:"review"`
	Criteria   []Criterion `json:"criteria"`
	Objectives []Objective `json:"objectives"`
}

// Review is a person's look at a result.
type Review struct {
	State   string  `json:"state"`
	Outcome *string `json:"outcome"`
}

// Criterion is the score of one criterion.
type Criterion struct {
	Key        string   `json:"key"`
	Label      string   `json:"label"`
	Score      *float64 `json:"score"`
	MaxScore   float64  `json:"maxScore"`
	Weight     float64  `json:"weight"`
	Level      *int64   `json:"level"`
	Confidence float64  `json:"confidence"`
	// DecidedBy is avatar or person.
	DecidedBy string `json:"decidedBy"`
	// Rationale, Reason and Quotes are null where nobody may read the conversation.
	Rationale *string  `json:"rationale"`
	Reason    *string  `json:"reason"`
	Quotes    []string `json:"quotes"`
}

// Objective is how well an objective of the subject was mastered after the result.
type Objective struct {
	Key     string        `json:"key"`
	Text    string        `json:"text"`
	Level   mastery.Level `json:"level"`
	Mastery float64       `json:"mastery"`
	// Previous is what it was before the result; nil where that was not kept.
	Previous *float64 `json:"previous"`
}

// told is what a report says, and the result that it was read of.
type told struct {
	content Content
	of      result.Result
	// words says that there are any of the conversation.
	words bool
}

// gather reads what a report says. The error is errdefs.NotFound of what is not there any more.
func gather(ctx context.Context, t *tenant.Tenants, org id.Org, r printed.Report, now time.Time) (all told, err error) {
	if all.of, err = result.Get(ctx, t, org, r.Result); err != nil {
		return all, err
	}
	of := all.of
	looks, err := result.LooksAt(ctx, t, org, []result.Result{of})
	if err != nil {
		return all, err
	}
	look := looks[of.ID]
	who, _, err := person.Get(ctx, t, org, of.Person, now)
	if errdefs.IsAbsent(err, person.Noun) {
		return all, printed.Noun.NotFound(r.ID) // who is erased meanwhile has none
	}
	if err != nil {
		return all, err
	}
	on, err := portal.Get(ctx, t, org, of.Portal)
	if err != nil {
		return all, err
	}
	about, v, err := subject.GetContent(ctx, t, org, of.Subject, of.RubricVersion)
	if err != nil {
		return all, err
	}
	c := head(r, of, now)
	c.PersonName, c.Portal, c.Subject = who.Name, on.Name, about.TitleIn(v.Content, r.Language)
	if look.Review != nil {
		c.Review = &Review{look.Review.State, look.Review.Outcome}
	}
	all.words = r.Words && look.Readable
	if all.words {
		c.Summary = look.Summary
	}
	for _, k := range of.Criteria {
		c.Criteria = append(c.Criteria, criterion(k, look, all.words))
	}
	c.Objectives, err = objectives(ctx, t, org, of, about, r.Language, now)
	all.content = c
	return all, err
}

// head is what the rows of a report and its result say of the whole.
func head(r printed.Report, of result.Result, now time.Time) Content {
	return Content{
		ReportID: r.ID, Kind: r.Kind, Version: r.Version, Language: r.Language, ProducedAt: now.UTC(), AIGenerated: true,
		ResultID: of.ID, State: string(of.State), ResultKind: of.Kind, PersonID: of.Person,
		SubjectID: of.Subject, PortalID: of.Portal,
		Attempt: of.Attempt, AttemptsAllowed: of.AttemptsAllowed, CompletedAt: utc(of.CompletedAt), ReleasedAt: utc(of.ReleasedAt),
		Percent: of.Percent, Score: of.Score, MaxScore: of.MaxScore, Band: of.Band, Passed: of.Passed, PassPercent: of.PassPercent,
		Confidence: of.Confidence, ScoredBy: of.ScoredBy, Criteria: []Criterion{},
	}
}

func criterion(k result.Criterion, look *result.Look, words bool) Criterion {
	c := Criterion{
		Key: k.Key, Label: k.Label, Score: k.Score, MaxScore: k.MaxScore, Weight: k.Weight, Level: k.Level, Confidence: k.Confidence,
		DecidedBy: result.ByPerson,
	}
	if k.DecidedBy == result.ByAvatar {
		c.DecidedBy = result.ByAvatar
	}
	if words {
		c.Rationale, c.Reason, c.Quotes = &k.Rationale, k.Reason, look.Words(k)
	}
	return c
}

// objectives are those of the result, in words where the subject has them still.
// Of one that was scored before these were kept, they are what the person has shown until now.
func objectives(
	ctx context.Context, t *tenant.Tenants, org id.Org, of result.Result, about subject.Subject, code string, now time.Time,
) ([]Objective, error) {
	found := []Objective{}
	for _, m := range of.Objectives {
		found = append(found, Objective{m.Key, m.Key, mastery.LevelOf(m.Mastery), m.Mastery, &m.Previous})
	}
	if of.Objectives == nil {
		shown, err := mastery.OfPerson(ctx, t, org, of.Person, of.Subject, id.Subject{}, 1)
		if err != nil {
			return nil, err
		}
		for _, m := range shown {
			found = append(found, Objective{m.Key, m.Key, m.LevelAt(now), m.At(now), nil})
		}
	}
	for i := range found {
		for _, k := range about.Definition.Objectives {
			if text := k.Text.In(code, of.Language); k.Key == found[i].Key && text != "" {
				found[i].Text = text
			}
		}
	}
	return found, nil
}

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	return new(t.UTC())
}
