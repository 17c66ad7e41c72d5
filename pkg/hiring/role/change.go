package role

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"time"
	"unicode/utf8"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/hiring/law"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// Create makes a role, as a draft. The id, the portal and the times are set here. The error is
// errdefs.NotFound of the subject, or an errdefs.Invalid.
func Create(ctx context.Context, tx *tenant.Tx, r Role, who activity.Actor) (Role, error) {
	s, err := subject.Find(ctx, tx, r.Subject)
	switch {
	case err != nil:
		return r, err
	case s.State == subject.Archived:
		return r, subject.Noun.NotFound(r.Subject)
	case s.Kind != subject.Screening:
		return r, errdefs.InvalidField("subjectId", "must be a subject of the kind screening")
	}
	r.ID, r.Portal, r.State, r.CreatedBy, r.CreatedAt, r.UpdatedAt, r.Edition = id.NewRole(), s.Portal, Draft, who.By, who.At, who.At, 1
	if err := r.settle(ctx, tx); err != nil {
		return r, err
	}
	if err := checkCountry(r.Location); err != nil {
		return r, err
	}
	if err := r.save(ctx, tx); err != nil {
		return r, err
	}
	tx.Touch("hiring_role_count", r.ID)
	if _, err := tx.Exec(ctx, `
		INSERT INTO hiring_role_count (org_id, role_id, invited, opened, screened, reviewed, advanced, rejected, hired)
		VALUES ($1, $2, 0, 0, 0, 0, 0, 0, 0)`, tx.Org, r.ID); err != nil {
		return r, err
	}
	who.Log(tx, "role.created", "role", r.ID, map[string]any{"portalId": r.Portal, "subjectId": r.Subject})
	return r, nil
}

// moves are the states that a role can go to from each. What is closed stays so.
var moves = map[State][]State{
	Draft:  {Open, Closed},
	Open:   {Paused, Closed},
	Paused: {Open, Closed},
}

// Opening is what a role is checked by when it opens.
type Opening struct {
	// ZeroRetention and YoungLearners are the organization's settings.
	ZeroRetention, YoungLearners bool
	// Door says that candidates can come in to the portal.
	Door bool
	// NoticeDays are the organization's own between the notice and the interview.
	NoticeDays int64
	Now        time.Time
	// anew says that the role opens for the first time, or has another deadline than before.
	anew bool
}

// Change makes a role what is wanted of it, which is locked. What an open role tells candidates
// cannot be changed under them: pause it first. The error is an errdefs.Invalid, a conflict (role_open), or
// problem go_live_refused where it opens and may not.
func Change(ctx context.Context, tx *tenant.Tx, before, r Role, o Opening, who activity.Actor) (Role, error) {
	if before.State != r.State && !slices.Contains(moves[before.State], r.State) {
		return r, before.conflict(ReasonState, fmt.Sprintf("A role that is %s cannot become %s.", before.State, r.State))
	}
	if before.State == Closed {
		return r, before.conflict(ReasonState, "The role is closed.")
	}
	if err := r.settle(ctx, tx); err != nil || reflect.DeepEqual(before, r) {
		return r, err
	}
	if err := before.checkMove(&r); err != nil {
		return r, err
	}
	if err := before.tellsAll(ctx, tx, &r); err != nil {
		return r, err
	}
	if before.State == Open && r.State == Open && !before.tellsSame(&r) {
		return r, before.conflict(ReasonOpen, "What candidates are told does not change while the role is open. Pause it first.")
	}
	if before.State != Draft && r.Demographics && !before.Demographics {
		return r, before.conflict(ReasonState, "Candidates are asked for their sex and race from when the role first opens, or never: of who was not asked it is known that they said nothing.")
	}
	if r.State == Open {
		o.anew = before.State == Draft || r.Deadline != nil && (before.Deadline == nil || !before.Deadline.Equal(*r.Deadline))
		report, err := r.check(ctx, tx, o)
		if err != nil {
			return r, err
		}
		if !report.Ready() {
			return r, report.Refusal("The role cannot be open as it is.")
		}
	}
	r.Edition, r.UpdatedAt = before.Edition+1, who.At
	if err := r.save(ctx, tx); err != nil {
		return r, err
	}
	changes := map[string]any{}
	if before.State != r.State {
		changes["state"] = r.State
	}
	if before.Blind != r.Blind {
		changes["blind"] = r.Blind
	}
	who.Log(tx, "role.updated", "role", r.ID, changes)
	return r, nil
}

// tellsAll refuses another role that lacks the text of a law which a remote role had, as long as somebody was invited who
// works elsewhere, and was not told yet. It rides candidate_by_role. The error is an errdefs.Invalid.
func (r *Role) tellsAll(ctx context.Context, tx *tenant.Tx, other *Role) error {
	for _, had := range r.Notice.Laws {
		has, _ := other.Notice.Of(had.Law)
		for _, code := range r.Languages {
			if had.Text[code] == "" || has.Text[code] != "" {
				continue
			}
			var waits bool
			if err := tx.QueryRow(ctx, `
				SELECT EXISTS (SELECT 1 FROM candidate WHERE org_id = $1 AND role_id = $2 AND place IS NOT NULL AND notice IS NULL AND state = 'invited')`,
				tx.Org, r.ID).Scan(&waits); err != nil || !waits {
				return err
			}
			return errdefs.InvalidField("notice.laws", "has no text of %s in %s any more, and candidates were invited who may work where it holds and were not told yet", had.Law, code)
		}
	}
	return nil
}

// tellsSame says whether candidates are told the same of a role as of another.
func (r *Role) tellsSame(other *Role) bool {
	told := func(r *Role) []byte {
		text, _ := json.Marshal([]any{r.Notice, r.Process}) //nolint:errchkjson // of texts and numbers
		return text
	}
	return bytes.Equal(told(r), told(other))
}

// checkMove checks the country of a role that gets another one, or opens: one that was kept before countries were looked at
// can still be paused and closed.
func (r *Role) checkMove(to *Role) error {
	if r.Location.Country == to.Location.Country && (to.State != Open || r.State == Open) {
		return nil
	}
	return checkCountry(to.Location)
}

func checkCountry(p law.Place) error {
	if p.Country != "" && !law.IsCountry(p.Country) {
		return errdefs.InvalidField("location.country", "is no country by its two letters, such as US, GB or DE")
	}
	return nil
}

// settle completes what a role says and checks what holds in every state. The error is an
// errdefs.Invalid.
func (r *Role) settle(ctx context.Context, tx *tenant.Tx) error {
	if r.Metadata == nil {
		r.Metadata = map[string]string{}
	}
	if r.Notice.Signals == nil {
		r.Notice.Signals = language.Words{}
	}
	r.Notice.Required = law.Together(r.Location, r.Notice.Required)
	for i, name := range r.MustHaves {
		if name == "" || len(name) > MaxMustHave {
			return errdefs.InvalidField(fmt.Sprintf("mustHaves[%d]", i), "must have 1 to %d characters", MaxMustHave)
		}
	}
	if _, err := time.LoadLocation(r.Location.Timezone); err != nil {
		return errdefs.InvalidField("location.timezone", "is no time zone of the IANA")
	}
	seen := map[law.Key]bool{}
	for i, text := range r.Notice.Laws {
		if seen[text.Law] {
			return errdefs.InvalidField(fmt.Sprintf("notice.laws[%d].law", i), "is there twice")
		}
		seen[text.Law] = true
	}
	if err := r.Audit.check(); err != nil {
		return err
	}
	if lead := law.LeadDays(r.Notice.Required); r.Notice.LeadDays < lead {
		r.Notice.LeadDays = lead
	}
	if err := r.findManagers(ctx, tx); err != nil {
		return err
	}
	c, _, err := r.Content(ctx, tx)
	r.Questions = int64(len(c.Questions))
	return err
}

// maxAuditor is how many characters the name of an auditor has at most.
const maxAuditor = 200

// check refuses an audit that nobody can look up. The error is an errdefs.Invalid.
func (a *Audit) check() error {
	if a == nil {
		return nil
	}
	if _, err := time.Parse(time.DateOnly, a.Date); err != nil {
		return errdefs.InvalidField("biasAudit.date", "is no day such as 2026-11-23")
	}
	if n := utf8.RuneCountInString(a.Auditor); n == 0 || n > maxAuditor {
		return errdefs.InvalidField("biasAudit.auditor", "says who made the audit, in at most 200 characters")
	}
	if u, err := url.Parse(a.URL); err != nil || u.Scheme != "https" || u.Host == "" {
		return errdefs.InvalidField("biasAudit.url", "is no https address")
	}
	return nil
}

// MaxMustHave is the length of a line of mustHaves, in bytes.
const MaxMustHave = 400

// findManagers refuses managers who are not there.
func (r *Role) findManagers(ctx context.Context, tx *tenant.Tx) error {
	for i, who := range r.Managers {
		p, err := person.Find(ctx, tx, who)
		if errdefs.IsAbsent(err, person.Noun) || err == nil && p.State == person.Erased {
			return errdefs.AbsentField(person.Noun, "hiringManagerIds[%d]", i)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Content is what the role's subject asks as it is published, and which version of it that is; empty
// where it is not.
func (r *Role) Content(ctx context.Context, tx *tenant.Tx) (subject.Content, int64, error) {
	s, err := subject.Find(ctx, tx, r.Subject)
	if err != nil || s.PublishedVersion == nil {
		return subject.Content{}, 0, err
	}
	v, err := subject.FindVersion(ctx, tx, s.ID, *s.PublishedVersion)
	return v.Content, v.Version, err
}
