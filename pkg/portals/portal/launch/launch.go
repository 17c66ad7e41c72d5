package launch

import (
	"context"

	"visavis.dev/pkg/base/golive"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/store/tenant"
)

// Check checks whether a portal can be shown to people.
func Check(ctx context.Context, tx *tenant.Tx, p portal.Portal, q Question) (golive.Report, error) {
	c, err := read(ctx, tx, p, q)
	if err != nil {
		return golive.Report{}, err
	}
	return golive.Check(c, rules, q.At), nil
}

// Launch is what became of publishing.
type Launch struct {
	Portal portal.Portal
	Report golive.Report
	// Changed says that visitors see something else than before, and First that they
	// see the portal for the first time. Neither is so where the report refuses it.
	Changed, First bool

	before   portal.Portal
	subjects []id.Subject
	who      portal.Author
}

// Publish shows people the draft of a portal that is held, with the drafts of its
// subjects, if that passes the check. Otherwise nothing is changed.
func Publish(ctx context.Context, tx *tenant.Tx, p portal.Portal, region string, note *string, who portal.Author) (Launch, error) {
	// What is checked is what is published.
	if _, err := tx.Exec(ctx, `
		SELECT 1 FROM subject WHERE org_id = $1 AND portal_id = $2 AND archived_at IS NULL FOR UPDATE`, tx.Org, p.ID); err != nil {
		return Launch{}, err
	}
	done := Launch{Portal: p, before: p, who: who}
	c, err := read(ctx, tx, p, Question{Region: region, At: who.At})
	if err != nil {
		return done, err
	}
	if done.Report = golive.Check(c, rules, who.At); !done.Report.Ready() {
		return done, nil
	}
	published, err := publishSubjects(ctx, tx, c, note, who)
	if err != nil {
		return done, err
	}
	for _, t := range c.Subjects {
		done.subjects = append(done.subjects, t.Subject.ID)
	}
	if p.State == portal.Published && !p.Changed() && !published {
		return done, nil
	}
	// A subject that is published can have changed its portal.
	if p, err = portal.Find(ctx, tx, p.ID); err != nil {
		return done, err
	}
	done.Changed, done.First = true, p.PublishedVersion == nil
	if done.Portal, err = portal.Publish(ctx, tx, p, note, who); err != nil {
		return done, err
	}
	done.tell(tx)
	who.Log(tx, "portal.published", "portal", p.ID, map[string]any{"version": *done.Portal.PublishedVersion})
	return done, nil
}

// publishSubjects publishes the drafts that differ from what people are taught from,
// and says whether there was one.
func publishSubjects(ctx context.Context, tx *tenant.Tx, c *Candidate, note *string, who portal.Author) (published bool, err error) {
	for i := range c.Subjects {
		s := &c.Subjects[i].Subject
		if s.State == subject.Published && !s.Changed() {
			continue
		}
		published = true
		if err := subject.Publish(ctx, tx, s, who, note); err != nil {
			return published, err
		}
	}
	return published, nil
}

// tell tells that visitors see something else than before.
func (d *Launch) tell(tx *tenant.Tx) {
	ids := make([]string, len(d.subjects))
	for i, s := range d.subjects {
		ids[i] = s.String()
	}
	p, changed := d.Portal, []string{}
	if p.State != d.before.State {
		changed = append(changed, "state")
	}
	if d.before.PublishedVersion == nil || *d.before.PublishedVersion != *p.PublishedVersion {
		changed = append(changed, "publishedVersion")
	}
	if len(changed) == 0 {
		changed = append(changed, "subjects")
	}
	event.Emit(tx, event.Draft{Type: event.WorkspacePublished, At: d.who.At, Fields: map[string]any{
		"portalId": p.ID.String(), "name": p.Name, "version": *p.PublishedVersion, "subjectIds": ids, "publishedBy": d.who.By,
		"publishedAt": d.who.At, "firstPublish": d.First,
	}})
	portal.TellUpdated(tx, p, changed, d.who)
}
