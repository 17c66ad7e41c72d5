// Package launch is how a portal goes live: the check whether it can be shown to
// people, and publishing what passes it (spec, go_live_refused). The draft is
// package portal's, and what is taught package subject's.
package launch

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/golive"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/artwork"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/store/tenant"
)

// Candidate is a portal that is to be shown, with all that the rules look at.
type Candidate struct {
	Portal portal.Portal
	// Region is the organization's.
	Region string
	// Doors are the keys of those that are open, or are to be.
	Doors []string
	// Persona is who speaks; nil when it is gone. Startable says why it cannot start
	// a session, Languages are those that it can speak, and Failing names the
	// connections of it that do not work.
	Persona   *persona.Persona
	Startable error
	Languages []string
	Failing   []string
	// Documents counts those that can be answered from.
	Documents int64
	Subjects  []Taught
	// Proof is the record that the host of the portal waits for; nil for none.
	Proof *portal.Record
	// Pictures are the copies that there are of the portal's.
	Pictures artwork.ByURL
}

// Taught is a subject with the content that is to be shown of it.
type Taught struct {
	Subject subject.Subject
	Content subject.Content
	// Report is the subject's own check.
	Report golive.Report
}

// Question is what to check.
type Question struct {
	// Region is the organization's, and At the moment.
	Region string
	At     time.Time
	// Shown looks at what visitors see now, not at the drafts. The portal is
	// published.
	Shown bool
	// Proof proves whose hosts are; nil believes everybody.
	Proof *portal.Prover
	// Opening are doors that are to be opened, besides those that are open.
	Opening []string
}

// read gathers what the rules look at.
func read(ctx context.Context, tx *tenant.Tx, p portal.Portal, q Question) (*Candidate, error) {
	c := &Candidate{Portal: p, Region: q.Region}
	if q.Shown {
		v, err := portal.FindVersion(ctx, tx, p.ID, *p.PublishedVersion)
		if err != nil {
			return nil, err
		}
		c.Portal.Name, c.Portal.Persona, c.Portal.Definition = v.Name, v.Persona, v.Definition
	}
	err := c.readDoors(ctx, tx, q.Opening)
	if err != nil {
		return nil, err
	}
	if err := c.readPersona(ctx, tx, q.At); err != nil {
		return nil, err
	}
	if err := c.readSubjects(ctx, tx, q.Shown); err != nil {
		return nil, err
	}
	for i := range c.Subjects {
		t := &c.Subjects[i]
		t.Report = subject.Check(t.Subject, t.Content, c.Portal.Definition.Languages, q.At)
	}
	if p.Host != "" && p.HostProvenAt == nil && q.Proof != nil {
		c.Proof = new(q.Proof.Record(tx.Org, p.ID, p.Host, p.HostRound))
	}
	if c.Pictures, err = artwork.Find(ctx, tx, p.ID); err != nil {
		return nil, err
	}
	return c, c.readDocuments(ctx, tx)
}

func (c *Candidate) readDoors(ctx context.Context, tx *tenant.Tx, opening []string) error {
	rows, err := tx.Query(ctx, `
		SELECT key FROM portal_door WHERE org_id = $1 AND portal_id = $2 AND open ORDER BY key`, tx.Org, c.Portal.ID)
	if err != nil {
		return err
	}
	open, err := pgx.CollectRows(rows, pgx.RowTo[string])
	c.Doors = slices.Concat(open, opening)
	return err
}

func (c *Candidate) readPersona(ctx context.Context, tx *tenant.Tx, now time.Time) error {
	p, err := persona.Load(ctx, tx, c.Portal.Persona)
	if errdefs.IsAbsent(err, persona.Noun) {
		return nil
	}
	if err != nil {
		return err
	}
	c.Persona, c.Startable = &p, p.Startable(now)
	v, err := voice.Find(ctx, tx, p.Voice)
	if err != nil {
		return err
	}
	if c.Languages = v.Languages; p.Duo != nil {
		c.Languages = p.Duo.Languages
	}
	// Rides connection_use_by_user.
	rows, err := tx.Query(ctx, `
		SELECT name FROM connection
		WHERE org_id = $1 AND state = 'failing' AND deleted_at IS NULL AND (id = $3 OR id IN (
			SELECT connection_id FROM connection_use WHERE org_id = $1 AND user_kind = 'persona' AND user_id = $2))
		ORDER BY name`, tx.Org, p.ID, v.Connection)
	if err != nil {
		return err
	}
	c.Failing, err = pgx.CollectRows(rows, pgx.RowTo[string])
	return err
}

// readSubjects reads the subjects with what is to be shown of them: their drafts, or
// what people are taught from now. It rides subject_by_portal.
func (c *Candidate) readSubjects(ctx context.Context, tx *tenant.Tx, shown bool) error {
	subjects, err := subject.OfPortal(ctx, tx, c.Portal.ID)
	if err != nil {
		return err
	}
	rows, err := tx.Query(ctx, `
		SELECT s.id, v.content FROM subject s
		JOIN subject_version v ON v.org_id = s.org_id AND v.subject_id = s.id
			AND v.version = CASE WHEN $3 THEN s.published_version ELSE s.draft_version END
		WHERE s.org_id = $1 AND s.portal_id = $2 AND s.archived_at IS NULL`, tx.Org, c.Portal.ID, shown)
	if err != nil {
		return err
	}
	type content struct {
		Subject id.Subject
		Content subject.Content
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[content])
	if err != nil {
		return err
	}
	contents := map[id.Subject]subject.Content{}
	for _, f := range found {
		contents[f.Subject] = f.Content
	}
	for _, s := range subjects {
		if content, ok := contents[s.ID]; ok {
			c.Subjects = append(c.Subjects, Taught{Subject: s, Content: content})
		}
	}
	return nil
}

// readDocuments counts what can be answered from: the persona's packs and the
// portal's.
func (c *Candidate) readDocuments(ctx context.Context, tx *tenant.Tx) error {
	packs := slices.Clone(c.Portal.Definition.KnowledgeBaseIDs)
	if c.Persona != nil {
		packs = append(packs, c.Persona.Definition.Knowledge.BaseIDs...)
	}
	return tx.QueryRow(ctx, `
		SELECT COALESCE(sum(ready), 0)::BIGINT FROM knowledge_base WHERE org_id = $1 AND id = ANY($2) AND deleted_at IS NULL`,
		tx.Org, packs).Scan(&c.Documents)
}
