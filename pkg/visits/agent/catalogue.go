package agent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/portals/portal/published"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/text/terms"
)

// Catalogue lists the agents of all organizations. What it has of them is a copy in the
// directory, which Refresh makes from the shards: whether an agent can be asked its portal
// says each time (Agents.Find).
type Catalogue struct {
	Options
	Directory *directory.Directory
	Plans     *plan.Catalogue
}

// details are what is kept of an agent to be shown.
type details struct {
	Name        string    `json:"name"`
	Description string    `json:"description"`
	Languages   []string  `json:"languages"`
	Topics      []string  `json:"topics"`
	Disclosure  string    `json:"disclosure"`
	HumanURL    string    `json:"humanUrl"`
	UpdatedAt   time.Time `json:"updatedAt"`
}

// Position is where a page of the list ended.
type Position struct {
	Slug   string    `json:"s"`
	Portal id.Portal `json:"p"`
}

// Filter narrows the list; zero fields do not.
type Filter struct {
	// Query is the beginnings of words of what an agent and its organization are called, and
	// of what it is about. Language is a code.
	Query, Language string
}

// terms are what an agent must have; finds is false where nothing can have it.
func (f Filter) terms() (all []string, finds bool) {
	if f.Query != "" {
		if all = terms.Query(f.Query); len(all) == 0 {
			return nil, false
		}
	}
	if f.Language != "" {
		all = append(all, spoken(f.Language))
	}
	return all, true
}

// spoken is the term of a language. No word has a colon.
func spoken(code string) string { return "language:" + code }

// Listed is an agent of the list.
type Listed struct {
	Agent
	// Position is where it stands.
	Position Position
	// Hidden says that its organization's plan has no portals by now: it is not to be shown.
	Hidden bool
}

const listedColumns = `a.slug, a.portal_id, a.details, ` + directory.OrganizationColumns

// List is a page of the agents after a position, the zero one for the first page, by their
// slugs. It rides agent_by_slug, or with a filter agent_term_pkey.
func (c *Catalogue) List(ctx context.Context, f Filter, after Position, limit int) ([]Listed, error) {
	wanted, finds := f.terms()
	if !finds {
		return nil, nil
	}
	sql, args := `
		SELECT `+listedColumns+` FROM agent a JOIN organization o ON o.id = a.org_id
		WHERE a.listed AND (a.slug, a.portal_id) > ($1, $2) AND o.state = 'active' AND o.paused_at IS NULL
		ORDER BY a.slug, a.portal_id LIMIT $3`, []any{after.Slug, uuid.UUID(after.Portal), limit} // the zero id would be null
	if len(wanted) > 0 {
		sql = `
			SELECT ` + listedColumns + ` FROM agent_term t
			JOIN agent a ON a.org_id = t.org_id AND a.portal_id = t.portal_id JOIN organization o ON o.id = t.org_id
			WHERE t.term = $4 AND (t.slug, t.portal_id) > ($1, $2) AND a.listed AND a.slug = t.slug AND o.state = 'active' AND o.paused_at IS NULL
				AND (SELECT count(*) FROM agent_term u WHERE u.term = ANY($5) AND u.slug = t.slug AND u.portal_id = t.portal_id) = $6
			ORDER BY t.slug, t.portal_id LIMIT $3`
		args = append(args, wanted[0], wanted[1:], len(wanted)-1)
	}
	rows, err := c.Directory.DB.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, c.scan)
}

func (c *Catalogue) scan(row pgx.CollectableRow) (Listed, error) {
	var (
		l Listed
		d details
		o directory.Organization
	)
	err := row.Scan(append([]any{&l.Position.Slug, &l.Position.Portal, &d}, o.Fields()...)...)
	l.Agent = Agent{
		Slug: l.Position.Slug, Name: d.Name, OrganizationName: o.Name, Description: d.Description, Languages: d.Languages, Topics: d.Topics,
		UpdatedAt: d.UpdatedAt, Disclosure: d.Disclosure, HumanURL: d.HumanURL, Org: o.ID,
	}
	l.Hidden = !c.Plans.Terms(o.Plan, o.Overrides).Has("portals")
	return l, err
}

// write keeps what a portal is to assistants; listed is nil where it is no agent. Nothing
// is kept of an organization that lives on another shard by now, or is being removed.
func (c *Catalogue) write(ctx context.Context, shard string, of candidate, listed *Agent) error {
	d, words := details{Languages: []string{}, Topics: []string{}}, []string{}
	if listed != nil {
		d = details{
			Name: listed.Name, Description: listed.Description, Languages: listed.Languages, Topics: listed.Topics, Disclosure: listed.Disclosure,
			HumanURL: listed.HumanURL, UpdatedAt: listed.UpdatedAt,
		}
		words = found(listed)
	}
	return c.Directory.DB.InTx(ctx, database.TxOptions{Idempotent: true}, func(ctx context.Context, tx database.Tx) error {
		tag, err := tx.Exec(ctx, `
			INSERT INTO agent (org_id, portal_id, slug, listed, details, page_stamp, persona_version, read_at)
			SELECT o.id, $2, $3, $4, $5, $6, $7, $8 FROM organization o WHERE o.id = $1 AND o.shard = $9 AND o.state = 'active'
			ON CONFLICT (org_id, portal_id) DO UPDATE SET slug = excluded.slug, listed = excluded.listed, details = excluded.details,
				page_stamp = excluded.page_stamp, persona_version = excluded.persona_version, read_at = excluded.read_at`,
			of.org, of.portal, of.slug, listed != nil, d, of.page, of.persona, c.Clock.Now().UTC(), shard)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		if _, err := tx.Exec(ctx, `
			DELETE FROM agent_term WHERE org_id = $1 AND portal_id = $2 AND (slug <> $3 OR term <> ALL($4))`, of.org, of.portal, of.slug, words); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `
			INSERT INTO agent_term (term, slug, portal_id, org_id) SELECT term, $3, $2, $1 FROM unnest($4::TEXT[]) AS t (term)
			ON CONFLICT (term, slug, portal_id) DO NOTHING`, of.org, of.portal, of.slug, words)
		return err
	})
}

// maxWords bounds the words that an agent is found by, and so its rows.
const maxWords = 100

// found are the terms that an agent is found by.
func found(a *Agent) []string {
	all := terms.Of(strings.Join(append([]string{a.Name, a.OrganizationName, a.Description}, a.Topics...), " "), maxWords)
	for _, code := range a.Languages {
		all = append(all, spoken(code))
	}
	return all
}

// forget takes a portal out of the list.
func (c *Catalogue) forget(ctx context.Context, of key) error {
	return c.Directory.DB.InTx(ctx, database.TxOptions{Idempotent: true}, func(ctx context.Context, tx database.Tx) error {
		if _, err := tx.Exec(ctx, `DELETE FROM agent_term WHERE org_id = $1 AND portal_id = $2`, of.org, of.portal); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `DELETE FROM agent WHERE org_id = $1 AND portal_id = $2`, of.org, of.portal)
		return err
	})
}

// read reads what a portal is to assistants now; nil where it is no agent.
func (c *Catalogue) read(ctx context.Context, of key) (*Agent, error) {
	site, err := published.Now(ctx, c.Tenants, of.org, of.portal)
	if errors.Is(err, published.ErrNone) || errors.Is(err, published.ErrGone) || errors.Is(err, directory.ErrUnknown) || err == nil && !Asked(site) {
		return nil, nil //nolint:nilnil // a portal that is no agent is no failure
	}
	if err != nil {
		return nil, err
	}
	org, _, err := c.Organization(ctx, of.org)
	if errors.Is(err, directory.ErrUnknown) {
		return nil, nil //nolint:nilnil // nor is that of an organization that was removed meanwhile
	}
	if err != nil {
		return nil, err
	}
	shown, err := c.show(ctx, org, site, c.readHeadings)
	return &shown, err
}

// key names a portal. Shards and directory list portals in its order.
type key struct {
	org    id.Org
	portal id.Portal
}

func (k key) compare(other key) int {
	if byOrg := slices.Compare(k.org[:], other.org[:]); byOrg != 0 {
		return byOrg
	}
	return slices.Compare(k.portal[:], other.portal[:])
}
