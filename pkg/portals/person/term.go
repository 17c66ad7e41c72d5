package person

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/text/terms"
)

// maxWords bounds the words of a person's names, address and external id that they are
// found by, and so their rows.
const maxWords = 32

// terms are the beginnings that a person is found by, in order; none of somebody
// who was erased.
func (p *Person) terms() []string {
	if p.State == Erased {
		return []string{}
	}
	text := []string{p.Name}
	for _, more := range []*string{p.GivenName, p.FamilyName, p.Email, p.ExternalID} {
		if more != nil {
			text = append(text, *more)
		}
	}
	return terms.Of(strings.Join(text, " "), maxWords)
}

// enterTerms makes the terms that a person is found by those of their details.
// It rides person_term_by_person and person_term_pkey.
func (p *Person) enterTerms(ctx context.Context, tx *tenant.Tx) error {
	terms := p.terms()
	rows, err := tx.Query(ctx, `
		DELETE FROM person_term WHERE org_id = $1 AND person_id = $2 AND term <> ALL($3) RETURNING term`, tx.Org, p.ID, terms)
	if err != nil {
		return err
	}
	gone, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, term := range append(gone, terms...) {
		tx.Touch("person_term", name(term), p.ID)
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO person_term (org_id, term, person_id) SELECT $1, term, $2 FROM unnest($3::TEXT[]) AS t (term)
		ON CONFLICT (org_id, term, person_id) DO NOTHING`, tx.Org, p.ID, terms)
	return err
}

// TermsBatch bounds the people whose terms one sweep enters.
const TermsBatch = 200

// SweepTerms enters the terms of people of a shard whose row was last written by
// a process that knew of none. It rides person_without_terms.
func SweepTerms(ctx context.Context, t *tenant.Tenants, shard string) (int, error) {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return 0, err
	}
	rows, err := db.Query(ctx, `
		SELECT p.org_id, p.id FROM person p JOIN org_fence f ON f.org_id = p.org_id AND f.state = 'open'
		WHERE p.terms_edition < p.edition ORDER BY p.org_id, p.id LIMIT $1`, TermsBatch)
	if err != nil {
		return 0, err
	}
	type due struct {
		Org    id.Org
		Person id.Person
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[due])
	if err != nil {
		return 0, err
	}
	for i, d := range all {
		if err := t.InTx(ctx, d.Org, func(ctx context.Context, tx *tenant.Tx) error { return refreshTerms(ctx, tx, d.Person) },
			tenant.Idempotent(true)); err != nil {
			return i, err
		}
	}
	return len(all), nil
}

// refreshTerms enters the terms of somebody as they are now.
func refreshTerms(ctx context.Context, tx *tenant.Tx, which id.Person) error {
	p, err := Lock(ctx, tx, which)
	if err != nil && p.State != Erased {
		return err
	}
	if err := p.enterTerms(ctx, tx); err != nil {
		return err
	}
	tx.Touch("person", which)
	_, err = tx.Exec(ctx, `UPDATE person SET terms_edition = edition WHERE org_id = $1 AND id = $2`, tx.Org, which)
	return err
}
