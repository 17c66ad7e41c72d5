package candidate

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/store/tenant"
)

// Standing is what an applicant tracking system is told of where a candidate stands.
type Standing string

// The standings.
const (
	StandsInvited  Standing = "invited"
	StandsOpened   Standing = "opened"
	StandsStarted  Standing = "started"
	StandsInReview Standing = "in_review"
	// StandsExpired: the invite was not used in time. A new link changes that.
	StandsExpired Standing = "expired"
	// StandsComplete: a person has read the interview, or decided without one.
	StandsComplete Standing = "complete"
	// StandsCancelled: the candidate withdrew, or the invite was cancelled.
	StandsCancelled Standing = "cancelled"
)

// Final says whether nothing follows: a system is never told two ends.
func (s Standing) Final() bool { return s == StandsComplete || s == StandsCancelled }

// Application is a candidate whom an applicant tracking system sent, as the system knows them. It
// holds no words of theirs, and no score that no person has released.
type Application struct {
	// ID is the invite's, which the system is given.
	ID         id.Invite
	Connection id.Connection
	Role       id.Role
	Candidate  id.Candidate
	// Reference is the application's id there; nil once the candidate was sent anew.
	Reference *string
	// Callback is where the system is told that there is something new; nil where it has one
	// address for all.
	Callback   *string
	Standing   Standing
	StandingAt time.Time
	// Percent and Band are of the interview, once it is complete; nil where nothing was scored.
	Percent *float64
	Band    *string
	// Edition counts the standings, and Told is the last that the system knows.
	Edition, Told int64
	CreatedAt     time.Time
}

// ApplicationNoun is what errors call an application.
const ApplicationNoun errdefs.Noun = "application"

// Applied is by what a system sends somebody.
type Applied struct {
	Connection id.Connection
	Reference  string
	Callback   *string
}

const applicationColumns = `id, connection_id, role_id, candidate_id, reference, callback, standing, standing_at, percent, band, edition, told, created_at`

func scanApplication(row pgx.CollectableRow) (Application, error) {
	return pgx.RowToStructByPos[Application](row)
}

const selectApplication = `SELECT ` + applicationColumns + ` FROM candidate_application WHERE org_id = $1 AND id = $2`

// GetApplication finds what a connection sent. It rides candidate_application_pkey. The error is
// errdefs.NotFound, also of what another connection sent.
func GetApplication(ctx context.Context, t *tenant.Tenants, org id.Org, by id.Connection, which id.Invite) (Application, error) {
	a, err := ReadApplication(ctx, t, org, which)
	if err == nil && a.Connection != by {
		return Application{}, ApplicationNoun.NotFound(which)
	}
	return a, err
}

// ReadApplication is GetApplication of any connection.
func ReadApplication(ctx context.Context, t *tenant.Tenants, org id.Org, which id.Invite) (Application, error) {
	return tenant.One(ctx, t, org, scanApplication, ApplicationNoun.NotFound(which), selectApplication, org, which)
}

// FindApplication finds an application that nobody else changes until the commit. Whoever changes the
// candidate too locks them first. The error is errdefs.NotFound.
func FindApplication(ctx context.Context, tx *tenant.Tx, which id.Invite) (Application, error) {
	return tenant.OneIn(ctx, tx, scanApplication, ApplicationNoun.NotFound(which), selectApplication+` FOR UPDATE`, tx.Org, which)
}

// Referred finds what a connection sent by the application's id there. It rides
// candidate_application_by_reference. The error is errdefs.NotFound.
func Referred(ctx context.Context, tx *tenant.Tx, a Applied, r id.Role) (Application, error) {
	return tenant.OneIn(ctx, tx, scanApplication, ApplicationNoun.NotFound(id.Invite{}), `
		SELECT `+applicationColumns+` FROM candidate_application
		WHERE org_id = $1 AND connection_id = $2 AND role_id = $3 AND reference = $4`, tx.Org, a.Connection, r, a.Reference)
}

// Release frees the application's id, so that the candidate can be sent anew; the system still
// reads what came of the first time.
func (a *Application) Release(ctx context.Context, tx *tenant.Tx) error {
	a.Reference = nil
	tx.Touch("candidate_application", a.ID)
	_, err := tx.Exec(ctx, `UPDATE candidate_application SET reference = NULL WHERE org_id = $1 AND id = $2`, tx.Org, a.ID)
	return err
}

// Recall notes where the system wants to be told from now on.
func (a *Application) Recall(ctx context.Context, tx *tenant.Tx, callback *string) error {
	if callback == nil || a.Callback != nil && *a.Callback == *callback {
		return nil
	}
	a.Callback = callback
	tx.Touch("candidate_application", a.ID)
	_, err := tx.Exec(ctx, `UPDATE candidate_application SET callback = $3 WHERE org_id = $1 AND id = $2`, tx.Org, a.ID, callback)
	return err
}

// Heard notes which standing the system knows.
func (a *Application) Heard(ctx context.Context, tx *tenant.Tx, edition int64) error {
	if edition <= a.Told {
		return nil
	}
	a.Told = edition
	tx.Touch("candidate_application", a.ID)
	_, err := tx.Exec(ctx, `UPDATE candidate_application SET told = $3 WHERE org_id = $1 AND id = $2`, tx.Org, a.ID, a.Told)
	return err
}

// apply enters by what a system sent a candidate who was just invited. The answer to it tells that.
func (c *Candidate) apply(ctx context.Context, tx *tenant.Tx, a Applied) error {
	tx.Touch("candidate_application", c.Invite)
	_, err := tx.Exec(ctx, `
		INSERT INTO candidate_application (org_id, id, connection_id, role_id, candidate_id, reference, callback, standing, standing_at, edition, told, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 1, 1, $9)`,
		tx.Org, c.Invite, a.Connection, c.Role, c.ID, a.Reference, a.Callback, StandsInvited, c.CreatedAt)
	return err
}

// Telling is the input of a job that tells a system where a candidate stands.
type Telling struct {
	Application id.Invite `json:"applicationId"`
}

// follow has the system that sent a candidate told where they stand, if that changed, with the
// commit. One job tells all standings of an application, one after the other: it ends once the
// last is told.
func (c *Candidate) follow(ctx context.Context, tx *tenant.Tx, at time.Time) error {
	if !c.Tracked || c.State == Erased {
		return nil
	}
	a, err := FindApplication(ctx, tx, c.Invite)
	if errdefs.IsNotFound(err, ApplicationNoun) {
		return nil
	}
	if err != nil || a.Standing.Final() {
		return err
	}
	v, err := FindInvite(ctx, tx, c.Invite)
	if err != nil {
		return err
	}
	stands := c.stands(&v, at)
	if stands == a.Standing {
		return nil
	}
	waits := a.Told < a.Edition // for a job that is queued
	// By the moment the system knows which is the last.
	if soonest := a.StandingAt.Add(time.Millisecond); at.Before(soonest) {
		at = soonest
	}
	a.Standing, a.StandingAt, a.Edition = stands, at, a.Edition+1
	if stands == StandsComplete && c.ScreenedAt != nil {
		err := tx.QueryRow(ctx, `SELECT percent, band FROM screening WHERE org_id = $1 AND id = $2`, tx.Org, c.Screening).Scan(&a.Percent, &a.Band)
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
	}
	tx.Touch("candidate_application", a.ID)
	if _, err := tx.Exec(ctx, `
		UPDATE candidate_application SET standing = $3, standing_at = $4, percent = $5, band = $6, edition = $7 WHERE org_id = $1 AND id = $2`,
		tx.Org, a.ID, a.Standing, a.StandingAt, a.Percent, a.Band, a.Edition); err != nil || waits {
		return err
	}
	_, err = job.Insert(ctx, tx, job.Job{
		ID: id.NewJob(), Kind: job.ATSTell, ResourceKind: "candidate", ResourceID: c.ID.String(), Scope: scope.CandidatesRead, CreatedBy: byPlatform, CreatedAt: at,
	}, Telling{a.ID})
	return err
}

// stands is what a system is told: how far somebody is, and nothing of what they said before a
// person has read it.
func (c *Candidate) stands(v *Invite, now time.Time) Standing {
	decided := c.Decision != nil && c.Decision.Value.Final()
	switch {
	case c.State == Withdrawn || v.CancelledAt != nil || decided && c.Decision.Value == Drop:
		return StandsCancelled
	case c.ScreenedAt != nil && c.ReviewedAt != nil, decided && c.ScreenedAt == nil:
		return StandsComplete
	case c.State == InProgress:
		return StandsStarted
	case c.ScreenedAt != nil:
		return StandsInReview
	case v.State(now) == InviteExpired:
		return StandsExpired
	case v.OpenedAt != nil:
		return StandsOpened
	}
	return StandsInvited
}

// dropApplications forgets what a system knows a candidate by. It rides
// candidate_application_by_candidate.
func dropApplications(ctx context.Context, tx *tenant.Tx, c id.Candidate) error {
	gone, err := tenant.AllIn(ctx, tx, pgx.RowTo[id.Invite], `
		DELETE FROM candidate_application WHERE org_id = $1 AND candidate_id = $2 RETURNING id`, tx.Org, c)
	for _, which := range gone {
		tx.Touch("candidate_application", which)
	}
	return err
}
