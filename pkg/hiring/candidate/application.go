package candidate

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/connection"
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
	// StandsReopened: an appeal was granted of the decision that ended it, so that people decide once more.
	StandsReopened Standing = "reopened"
)

// Final says whether nothing follows, unless the decision is reopened that it was the end by: a system is never told
// two ends of one.
func (s Standing) Final() bool { return s == StandsComplete || s == StandsCancelled }

// Application is a candidate whom an applicant tracking system sent, as the system sees them. It
// holds no words of theirs, and no score that no person has released.
type Application struct {
	// ID is the invite's, which the system is given.
	ID id.Invite
	// Connection is the one by which they were sent, or that goes on with it, to a system of the
	// provider at an address.
	Connection id.Connection
	Provider   connection.Provider
	Address    string
	Role       id.Role
	Candidate  id.Candidate
	// Reference is the application's id there; nil once the candidate was sent anew.
	Reference *string
	// Callbacks are where the system is told that it is complete, one for each time that it sent
	// them, the latest last; none where it has one address for all.
	Callbacks  []string
	Standing   Standing
	StandingAt time.Time
	// Percent, Band and ProfileURL are what is told once it is complete. They are decided then,
	// by the connection's config; nil of what is not told.
	Percent    *float64
	Band       *string
	ProfileURL *string
	// Edition counts the standings. Acknowledged is the last one that the system took, and Dispatched
	// the last one that no job has to tell any more.
	Edition, Dispatched, Acknowledged int64
	CreatedAt                         time.Time
}

// Callback is where the system is told that it is complete; empty for nowhere.
func (a *Application) Callback() string {
	if len(a.Callbacks) == 0 {
		return ""
	}
	return a.Callbacks[len(a.Callbacks)-1]
}

// ApplicationNoun is what errors call an application.
const ApplicationNoun errdefs.Noun = "application"

// Applied is by what a system sends somebody.
type Applied struct {
	By        connection.Connection
	Reference string
	Callbacks []string
}

const applicationColumns = `id, connection_id, provider, address, role_id, candidate_id, reference, callbacks, standing, standing_at, percent, band, profile_url,
	edition, dispatched, acknowledged, created_at`

func scanApplication(row pgx.CollectableRow) (Application, error) {
	return pgx.RowToStructByPos[Application](row)
}

const selectApplication = `SELECT ` + applicationColumns + ` FROM candidate_application WHERE org_id = $1 AND id = $2`

// ReadApplication finds an application. It rides candidate_application_pkey. The error is errdefs.NotFound.
func ReadApplication(ctx context.Context, t *tenant.Tenants, org id.Org, which id.Invite) (Application, error) {
	return tenant.One(ctx, t, org, scanApplication, ApplicationNoun.NotFound(which), selectApplication, org, which)
}

// FindApplication finds an application that nobody else changes until the commit. Whoever changes the
// candidate too locks them first. The error is errdefs.NotFound.
func FindApplication(ctx context.Context, tx *tenant.Tx, which id.Invite) (Application, error) {
	return tenant.OneIn(ctx, tx, scanApplication, ApplicationNoun.NotFound(which), selectApplication+` FOR UPDATE`, tx.Org, which)
}

// sentBy says whether a connection sent it, or goes on with what a deleted one did.
func (a *Application) sentBy(ctx context.Context, tx *tenant.Tx, by connection.Connection) (bool, error) {
	if a.Connection == by.ID {
		return true, nil
	}
	before, err := connection.Find(ctx, tx, a.Connection)
	if errdefs.IsAbsent(err, connection.Noun) {
		return by.Succeeds(before, a.Address), nil
	}
	return false, err
}

// SentBy finds an application that a connection sent. The error is errdefs.NotFound, also of another's.
func SentBy(ctx context.Context, t *tenant.Tenants, org id.Org, by connection.Connection, which id.Invite) (Application, error) {
	a, err := ReadApplication(ctx, t, org, which)
	if err != nil || a.Connection == by.ID {
		return a, err
	}
	err = t.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		sent, err := a.sentBy(ctx, tx, by)
		if err == nil && !sent {
			err = ApplicationNoun.NotFound(which)
		}
		return err
	}, tenant.Idempotent(true))
	return a, err
}

// Referred finds what a connection sent by the application's id there, its own first. It rides
// candidate_application_by_reference. The error is errdefs.NotFound.
func Referred(ctx context.Context, tx *tenant.Tx, by Applied, r id.Role) (Application, error) {
	all, err := tenant.AllIn(ctx, tx, scanApplication, `
		SELECT `+applicationColumns+` FROM candidate_application
		WHERE org_id = $1 AND role_id = $2 AND reference = $3 ORDER BY connection_id = $4 DESC, created_at DESC`, tx.Org, r, by.Reference, by.By.ID)
	if err != nil {
		return Application{}, err
	}
	for i := range all {
		if sent, err := all[i].sentBy(ctx, tx, by.By); err != nil || sent {
			return all[i], err
		}
	}
	return Application{}, ApplicationNoun.NotFound(id.Invite{})
}

// Release frees the application's id, so that the candidate can be sent anew; the system still
// reads what came of the first time.
func (a *Application) Release(ctx context.Context, tx *tenant.Tx) error {
	a.Reference = nil
	tx.Touch("candidate_application", a.ID)
	_, err := tx.Exec(ctx, `UPDATE candidate_application SET reference = NULL WHERE org_id = $1 AND id = $2`, tx.Org, a.ID)
	return err
}

// mostCallbacks bounds those that are kept, the latest.
const mostCallbacks = 20

// Resent notes that a system sent somebody again: by which connection, and where it is told from then
// on. A call that is repeated late changes nothing.
func (a *Application) Resent(ctx context.Context, tx *tenant.Tx, by Applied) error {
	callbacks := a.Callbacks
	for _, c := range by.Callbacks {
		if !slices.Contains(callbacks, c) {
			callbacks = append(callbacks, c)
		}
	}
	if len(callbacks) == len(a.Callbacks) && a.Connection == by.By.ID && a.Address == by.By.Address() {
		return nil
	}
	a.Connection, a.Address, a.Callbacks = by.By.ID, by.By.Address(), callbacks[max(len(callbacks)-mostCallbacks, 0):]
	tx.Touch("candidate_application", a.ID)
	_, err := tx.Exec(ctx, `UPDATE candidate_application SET connection_id = $3, address = $4, callbacks = $5 WHERE org_id = $1 AND id = $2`,
		tx.Org, a.ID, a.Connection, a.Address, a.Callbacks)
	return err
}

// Dispatch notes that no job has to tell a standing any more: the system acknowledged it, or is told it
// no more.
func (a *Application) Dispatch(ctx context.Context, tx *tenant.Tx, edition int64, acknowledged bool) error {
	a.Dispatched = max(a.Dispatched, edition)
	if acknowledged {
		a.Acknowledged = max(a.Acknowledged, edition)
	}
	return a.count(ctx, tx)
}

// Acknowledge notes that the system asked for the standing itself. It is told it all the same, as the
// answer may not have reached it.
func (a *Application) Acknowledge(ctx context.Context, tx *tenant.Tx) error {
	a.Acknowledged = a.Edition
	return a.count(ctx, tx)
}

func (a *Application) count(ctx context.Context, tx *tenant.Tx) error {
	tx.Touch("candidate_application", a.ID)
	_, err := tx.Exec(ctx, `UPDATE candidate_application SET dispatched = $3, acknowledged = $4 WHERE org_id = $1 AND id = $2`, tx.Org, a.ID, a.Dispatched, a.Acknowledged)
	return err
}

// apply enters by what a system sent a candidate who was just invited. The answer to it tells that.
func (c *Candidate) apply(ctx context.Context, tx *tenant.Tx, a Applied) error {
	callbacks := append([]string{}, a.Callbacks[max(len(a.Callbacks)-mostCallbacks, 0):]...)
	tx.Touch("candidate_application", c.Invite)
	_, err := tx.Exec(ctx, `
		INSERT INTO candidate_application (org_id, id, connection_id, provider, address, role_id, candidate_id, reference, callbacks, standing, standing_at,
			edition, dispatched, acknowledged, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 1, 1, 1, $11)`,
		tx.Org, c.Invite, a.By.ID, a.By.Provider, a.By.Address(), c.Role, c.ID, a.Reference, callbacks, StandsInvited, c.CreatedAt)
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
	if err != nil || a.Standing.Final() && !a.reopens(c) {
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
	queued := a.Dispatched < a.Edition
	// By the moment the system knows which is the last.
	if soonest := a.StandingAt.Add(time.Millisecond); at.Before(soonest) {
		at = soonest
	}
	a.Standing, a.StandingAt, a.Edition = stands, at, a.Edition+1
	a.Percent, a.Band, a.ProfileURL = nil, nil, nil
	if stands == StandsComplete {
		if err := a.release(ctx, tx, c); err != nil {
			return err
		}
	}
	tells := a.tells()
	if !tells {
		a.Dispatched = a.Edition
	}
	tx.Touch("candidate_application", a.ID)
	if _, err := tx.Exec(ctx, `
		UPDATE candidate_application SET standing = $3, standing_at = $4, percent = $5, band = $6, profile_url = $7, edition = $8, dispatched = $9
		WHERE org_id = $1 AND id = $2`,
		tx.Org, a.ID, a.Standing, a.StandingAt, a.Percent, a.Band, a.ProfileURL, a.Edition, a.Dispatched); err != nil || queued || !tells {
		return err
	}
	_, err = job.Insert(ctx, tx, job.Job{
		ID: id.NewJob(), Kind: job.ATSTell, ResourceKind: "candidate", ResourceID: c.ID.String(), Connection: a.Connection, Scope: scope.CandidatesRead,
		CreatedBy: byPlatform, CreatedAt: at,
	}, Telling{a.ID})
	return err
}

// reopens says whether the end that a system was told was the decision that is reopened. One that was told of an interview,
// or of a candidate who withdrew, stays.
func (a *Application) reopens(c *Candidate) bool {
	d := c.Decision
	if d == nil || d.ReopenedAt == nil {
		return false
	}
	return a.Standing == StandsComplete && c.ScreenedAt == nil || a.Standing == StandsCancelled && d.Value == Drop
}

// tells says whether the system is told of the standing: Greenhouse asks, and is only told where to ask
// once it is complete, and once it is so no more.
func (a *Application) tells() bool {
	return a.Provider != connection.Greenhouse || (a.Standing == StandsComplete || a.Standing == StandsReopened) && a.Callback() != ""
}

// release decides what is told of a candidate who is complete, once and for all: by the config of the
// connection, or of the one in its place. Nothing is told of the score where there is none.
func (a *Application) release(ctx context.Context, tx *tenant.Tx, c *Candidate) error {
	by, err := connection.Find(ctx, tx, a.Connection)
	if errdefs.IsAbsent(err, connection.Noun) {
		by, err = connection.Heir(ctx, tx, a.Connection, a.Address)
	}
	if errdefs.IsAbsent(err, connection.Noun) {
		return nil
	}
	if err != nil {
		return err
	}
	a.ProfileURL = new(by.Config.ProfileURL(c.ID))
	if c.ScreenedAt == nil || by.Config.On("withoutScores") {
		return nil
	}
	err = tx.QueryRow(ctx, `SELECT percent, band FROM screening WHERE org_id = $1 AND id = $2`, tx.Org, c.Screening).Scan(&a.Percent, &a.Band)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return err
}

// stands is what a system is told: how far somebody is, and nothing of what they said before a
// person has read it.
func (c *Candidate) stands(v *Invite, now time.Time) Standing {
	decided := c.decided()
	switch {
	case c.State == Withdrawn || v.CancelledAt != nil || decided && c.Decision.Value == Drop:
		return StandsCancelled
	case c.ScreenedAt != nil && c.ReviewedAt != nil, decided && c.ScreenedAt == nil:
		return StandsComplete
	case c.State == InProgress:
		return StandsStarted
	case c.Decision != nil && c.Decision.ReopenedAt != nil && (c.ScreenedAt == nil || c.ScreenedAt.Before(c.Decision.At)):
		return StandsReopened
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
