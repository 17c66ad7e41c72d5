package course

import (
	"context"
	"errors"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/store/sweep"
	"visavis.dev/pkg/store/tenant"
)

// Background is what workers do for courses.
func (r *Reader) Background(d sweep.Deps) job.Background {
	return job.Background{
		Works: map[job.Kind]job.Work{job.CourseRead: {Prepare: r.read, Failures: job.Endless}},
		Tasks: []sweep.Task{{Name: "forget courses of deleted connections", Every: time.Hour, Batch: mostForgotten, Run: d.Undated(Sweep)}},
	}
}

// mostForgotten is how many rows go at once.
const mostForgotten = 1000

// Sweep forgets courses of a shard whose connections are deleted, who was in them, and whom no list of them brings back.
// Their classes stay. It rides course_by_connection, course_member_pkey and course_erased_pkey.
func Sweep(ctx context.Context, t *tenant.Tenants, shard string) (int, error) {
	members, err := t.SweepRows(ctx, shard, `
		DELETE FROM course_member WHERE (org_id, course_id, person_id) IN (
			SELECT m.org_id, m.course_id, m.person_id
			FROM connection c JOIN org_fence f ON f.org_id = c.org_id AND f.state = 'open'
			JOIN course l ON l.org_id = c.org_id AND l.connection_id = c.id
			JOIN course_member m ON m.org_id = l.org_id AND m.course_id = l.id
			WHERE c.deleted_at IS NOT NULL LIMIT $1)`, mostForgotten)
	if err != nil {
		return members, err
	}
	courses, err := t.SweepRows(ctx, shard, `
		DELETE FROM course WHERE (org_id, id) IN (
			SELECT l.org_id, l.id
			FROM connection c JOIN org_fence f ON f.org_id = c.org_id AND f.state = 'open'
			JOIN course l ON l.org_id = c.org_id AND l.connection_id = c.id
			WHERE c.deleted_at IS NOT NULL
				AND NOT EXISTS (SELECT 1 FROM course_member m WHERE m.org_id = l.org_id AND m.course_id = l.id) LIMIT $1)`, mostForgotten)
	if err != nil {
		return members + courses, err
	}
	erased, err := t.SweepRows(ctx, shard, `
		DELETE FROM course_erased WHERE (org_id, connection_id, digest) IN (
			SELECT e.org_id, e.connection_id, e.digest
			FROM connection c JOIN org_fence f ON f.org_id = c.org_id AND f.state = 'open'
			JOIN course_erased e ON e.org_id = c.org_id AND e.connection_id = c.id
			WHERE c.deleted_at IS NOT NULL LIMIT $1)`, mostForgotten)
	return members + courses + erased, err
}

func overtakes(err error) bool { return errors.Is(err, errOvertaken) }

// closed says whether nobody comes to the portal from courses.
func closed(err error) bool {
	return errors.Is(err, errClosed) || errdefs.IsArchived(err, portal.Noun) || errdefs.IsNotFound(err, portal.Noun)
}
