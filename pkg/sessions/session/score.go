package session

import (
	"context"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/sessions/recording"
	"visavis.dev/pkg/store/tenant"
)

// ToScore is the input of a job that scores what was answered in a session.
type ToScore struct {
	Session id.Session `json:"session"`
}

// scoreLater queues that what was answered is scored, where a result or a candidate waits for it.
func (s Session) scoreLater(ctx context.Context, tx *tenant.Tx) error {
	if !s.Brief.Scored {
		return nil
	}
	kind, reads := job.ResultScore, scope.ResultsRead
	if s.Kind == Screening {
		kind, reads = job.CandidateScore, scope.CandidatesRead
	}
	_, err := job.Insert(ctx, tx, job.Job{
		ID: id.NewJob(), Kind: kind, ResourceKind: "session", ResourceID: s.ID.String(), Scope: reads, CreatedBy: "platform", CreatedAt: *s.EndedAt,
	}, ToScore{s.ID})
	return err
}

// Assigned is the input of a job that notes how far somebody got with an assignment.
type Assigned struct {
	Assignment id.Assignment `json:"assignmentId"`
	Person     id.Person     `json:"personId"`
}

// progressLater queues that it is noted how far the person got with what the session is part
// of, where it is part of anything.
func (s Session) progressLater(ctx context.Context, tx *tenant.Tx, at time.Time) error {
	if s.Assignment.IsZero() {
		return nil
	}
	_, err := job.Insert(ctx, tx, job.Job{
		ID: id.NewJob(), Kind: job.AssignmentProgress, ResourceKind: "session", ResourceID: s.ID.String(), Scope: scope.AssignmentsRead,
		CreatedBy: "platform", CreatedAt: at,
	}, Assigned{s.Assignment, s.Person})
	return err
}

// Hold keeps the words of a session from being deleted, or lets them be. A session that is
// not there any more has none. A recording whose consent was withdrawn goes with the hold.
func Hold(ctx context.Context, tx *tenant.Tx, which id.Session, on bool) error {
	tx.Touch("session", which)
	_, err := tx.Exec(ctx, `UPDATE session SET on_hold = $3 WHERE org_id = $1 AND id = $2`, tx.Org, which, on)
	if err != nil || on {
		return err
	}
	return recording.DeleteWithdrawn(ctx, tx, which)
}
