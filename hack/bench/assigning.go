package main

import (
	"context"
	"fmt"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/assignment"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

const assignees = 100_000

// assigning measures how fast the 100,000 learners of a portal are entered in an assignment, and
// looked through again, and how long a page of its people takes.
func assigning(ctx context.Context, f *fixture) error {
	org, _, err := f.newOrg(ctx, "Assignments")
	if err != nil {
		return err
	}
	of, err := f.teach(ctx, org)
	if err != nil {
		return err
	}
	now := time.Now().UTC().Truncate(time.Microsecond)
	work := &assignment.Worker{Tenants: f.backend.Tenants}
	var a assignment.Assignment
	began := time.Now()
	if err := f.backend.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) (err error) {
		a, err = assignment.Create(ctx, tx, assignment.Assignment{
			Title: "Knots", Subject: of, Kind: assignment.Assess, Everyone: true, Timezone: "UTC",
		}, activity.Actor{By: "bench", At: now})
		return err
	}); err != nil {
		return err
	}
	if err := walkAll(ctx, work, now); err != nil {
		return err
	}
	report("Assigning/entered", assignees, figure{assignees / time.Since(began).Seconds(), "people/s"})
	began = time.Now()
	if err := walkAll(ctx, work, now.AddDate(0, 0, 2)); err != nil {
		return err
	}
	report("Assigning/again", assignees, figure{assignees / time.Since(began).Seconds(), "people/s"})
	return f.readPeople(ctx, org, a.ID)
}

// walkAll looks through people until nobody is left.
func walkAll(ctx context.Context, work *assignment.Worker, now time.Time) error {
	for {
		n, err := work.Walk(ctx, nil, "shard-1", now)
		if err != nil || n == 0 {
			return err
		}
	}
}

// pageOfPeople is how many people a page has.
const pageOfPeople = 200

// readPeople measures pages of an assignment's people.
func (f *fixture) readPeople(ctx context.Context, org id.Org, of id.Assignment) error {
	var after id.Person
	began, pages := time.Now(), 0
	for {
		page, err := assignment.ListProgress(ctx, f.backend.Tenants, org, of, assignment.ProgressFilter{}, after, pageOfPeople)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			break
		}
		after = page[len(page)-1].Person
		pages++
	}
	if pages < assignees/pageOfPeople {
		return fmt.Errorf("%d pages", pages)
	}
	report("Assigning/page", pages, figure{time.Since(began).Seconds() * 1000 / float64(pages), "ms"})
	return nil
}

// teach enters a subject, and the learners of its portal.
func (f *fixture) teach(ctx context.Context, org id.Org) (id.Subject, error) {
	of, on := id.NewSubject(), id.NewPortal()
	db, err := f.backend.Tenants.Shard(ctx, "shard-1")
	if err != nil {
		return of, err
	}
	if _, err := db.Exec(ctx, `
		INSERT INTO subject (org_id, id, portal_id, title, kind, state, place, definition, edition, draft_version, created_at, updated_at)
		VALUES ($1, $2, $3, 'Knots', $4, $5, 0, $6, 1, 1, now(), now())`,
		org, of, on, subject.Assessment, subject.Draft, subject.Definition{}); err != nil {
		return of, err
	}
	_, err = db.Exec(ctx, `
		WITH made AS (
			INSERT INTO person (org_id, id, name, age_band, state, metadata, edition, created_at, updated_at)
			SELECT $1, gen_random_uuid(), 'Kim', 'adult', 'active', '{}', 1, now(), now() FROM generate_series(1, $2::INT) RETURNING id)
		INSERT INTO membership (org_id, id, person_id, portal_id, role, enabled, metadata, edition, told_on, created_at, updated_at)
		SELECT $1, gen_random_uuid(), id, $3, 'learner', true, '{}', 1, true, now(), now() FROM made`, org, assignees, on)
	return of, err
}
