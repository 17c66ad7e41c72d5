package role

import (
	"context"
	"fmt"
	"slices"
	"time"

	"visavis.dev/pkg/base/golive"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/hiring/law"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/store/tenant"
)

// candidate is a role that is to open, with all that the rules look at.
type opening struct {
	*Role
	Opening
	content   subject.Content
	published bool
	// shown says that the portal is published.
	shown bool
}

var rules = []golive.Rule[*opening]{checkPlace, checkPeople, checkNotice, checkAudit, checkKnockouts, checkSettings}

// check says what keeps a role from opening.
func (r *Role) check(ctx context.Context, tx *tenant.Tx, o Opening) (golive.Report, error) {
	at := &opening{Role: r, Opening: o}
	p, err := portal.Find(ctx, tx, r.Portal)
	if err != nil {
		return golive.Report{}, err
	}
	s, err := subject.Find(ctx, tx, r.Subject)
	if err != nil {
		return golive.Report{}, err
	}
	at.shown = p.State == portal.Published && p.PublishedVersion != nil
	at.published = s.State == subject.Published && s.PublishedVersion != nil
	if at.content, _, err = r.Content(ctx, tx); err != nil {
		return golive.Report{}, err
	}
	return golive.Check(at, rules, o.Now), nil
}

// unclear is what to do where it is not known which laws hold.
var unclear = map[string]string{
	"country": "Say in which country the work is: the laws follow from it.",
	"region":  "Say in which state the work is: the laws follow from it.",
	"city":    "Say in which place the work is, or with outsideNewYorkCity that it is not in New York City.",
}

func checkPlace(o *opening, r *golive.Report) {
	if !o.published {
		r.Forbid("subjectId", "Publish the subject first: it is what candidates are asked.")
	} else if len(o.content.Questions) == 0 {
		r.Forbid("subjectId", "The subject asks nothing. Give it questions and publish it.")
	}
	if !o.shown {
		r.Forbid("portalId", "Publish the portal first: candidates come there.")
	}
	if !o.Door {
		r.Forbid("portalId", "Open the portal's door for candidates: PUT /portals/{id}/doors/candidates.")
	}
	for _, field := range law.Unclear(o.Location) {
		if field == "city" && slices.Contains(o.Notice.Required, law.NYC144) {
			continue // it is told as if it were the city
		}
		r.Forbid("location."+field, unclear[field])
	}
	if o.Deadline != nil && !o.Now.Before(*o.Deadline) {
		r.Forbid("deadline", "The deadline has passed.")
	} else if o.anew && o.Reaches(law.After(o.Location, o.Now, o.Lead(o.NoticeDays))) != nil {
		r.Forbid("deadline", fmt.Sprintf("Nobody could be interviewed before the deadline: %d business days lie between the notice and the interview.", o.Lead(o.NoticeDays)))
	}
}

func checkPeople(o *opening, r *golive.Report) {
	if len(o.Managers) == 0 {
		r.Forbid("hiringManagerIds", "Name at least one person who reviews and decides.")
	}
	if o.Process == "" {
		r.Forbid("alternativeProcess", "Say what happens instead for who does not want to talk with an AI.")
	}
}

func checkNotice(o *opening, r *golive.Report) {
	for _, code := range o.Languages {
		if o.Notice.Text[code] == "" {
			r.Forbid("notice.text."+code, "Say what candidates are told of the interview in this language.")
		}
	}
	for _, code := range o.Languages {
		if len(o.Notice.Signals) > 0 && o.Notice.Signals[code] == "" {
			r.Forbid("notice.signals."+code, "Say what candidates are told of what their page notes, in this language too, or in none.")
		}
	}
	for _, k := range o.Notice.Required {
		text, told := o.Notice.Of(k)
		at := slices.IndexFunc(o.Notice.Laws, func(t LawText) bool { return t.Law == k })
		for _, code := range o.Languages {
			switch {
			case !told:
				r.Forbid("notice.laws", fmt.Sprintf("Say what %s wants told, in %s.", k, code))
			case text.Text[code] == "":
				r.Forbid(fmt.Sprintf("notice.laws[%d].text.%s", at, code), fmt.Sprintf("Say what %s wants told, in this language.", k))
			}
		}
	}
}

// auditFor is how long a bias audit counts, in months.
const auditFor = 12

func checkAudit(o *opening, r *golive.Report) {
	if o.Scoring == Off || !law.Audit(o.Notice.Required) {
		return
	}
	if o.Audit == nil {
		r.Forbid("biasAudit", "Name the bias audit of the last twelve months, or score nothing.")
		return
	}
	if !o.Audit.holds(o.Now) {
		r.Forbid("biasAudit.date", "The bias audit must be of the last twelve months.")
	}
}

// holds says whether an audit is of the last twelve months.
func (a *Audit) holds(now time.Time) bool {
	if a == nil {
		return false
	}
	made, err := time.Parse(time.DateOnly, a.Date)
	return err == nil && !made.AddDate(0, auditFor, 0).Before(now) && !made.After(now)
}

func checkKnockouts(o *opening, r *golive.Report) {
	for i, k := range o.Knockouts {
		at := slices.IndexFunc(o.content.Questions, func(q subject.Question) bool { return q.Key == k.Question })
		if at < 0 || o.content.Questions[at].Kind != "choice" {
			r.Forbid(fmt.Sprintf("knockouts[%d].question", i), "The subject has no such question with options.")
			continue
		}
		for j, key := range k.Rule.AnyOf {
			if !slices.ContainsFunc(o.content.Questions[at].Options, func(p subject.Option) bool { return p.Key == key }) {
				r.Forbid(fmt.Sprintf("knockouts[%d].rule.anyOf[%d]", i, j), "The question has no such option.")
			}
		}
	}
}

func checkSettings(o *opening, r *golive.Report) {
	if o.ZeroRetention {
		r.Forbid("settings.privacy.zero_data_retention", "An interview of which no word is kept can be reviewed by nobody. Switch the setting off.")
	}
	if o.YoungLearners {
		r.Forbid("settings.learning.young_learners", "Everybody on this portal is taken for a minor. Switch the setting off for it, or take another portal.")
	}
}

// Say is a text in a language that the role is held in, or else in its first.
func (r *Role) Say(w language.Words, code string) string {
	if len(r.Languages) == 0 {
		return w[code]
	}
	return w.In(code, r.Languages[0])
}
