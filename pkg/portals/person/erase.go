package person

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/consent"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/idempotency"
	"visavis.dev/pkg/store/tenant"
)

// ErrOnHold says that a conversation of the person must be kept.
var ErrOnHold = errors.New("a conversation of the person is on hold")

// Erase begins to erase somebody. Their details are gone at the commit, nobody can come
// in as them any more, and no answer that tells of them is repeated (TellsOfErased); a job
// removes what is known of them elsewhere (see Eraser). The error is errdefs.NotFound, errdefs.Gone
// or ErrOnHold.
func Erase(ctx context.Context, tx *tenant.Tx, which id.Person, who Author) (job.Job, error) {
	p, err := LockAll(ctx, tx, which)
	if err != nil {
		return job.Job{}, err
	}
	if held, err := session.Held(ctx, tx, which); err != nil || held {
		return job.Job{}, errors.Join(err, onHold(held))
	}
	blank := Person{
		ID: p.ID, AgeBand: UnknownAge, State: Erased, Metadata: map[string]string{}, Edition: p.Edition + 1,
		CreatedAt: p.CreatedAt, UpdatedAt: who.At, ErasedAt: &who.At,
	}
	if err := blank.save(ctx, tx); err != nil {
		return job.Job{}, err
	}
	if err := tx.Decrement(ctx, string(plan.Members)); err != nil {
		return job.Job{}, err
	}
	if err := scrub(ctx, tx, which); err != nil {
		return job.Job{}, err
	}
	j, err := job.Insert(ctx, tx, job.Job{
		ID: id.NewJob(), Kind: job.Erase, ResourceKind: "person", ResourceID: which.String(), Scope: scope.PeopleWrite,
		CreatedBy: who.By, CreatedAt: who.At,
	}, which)
	if err != nil {
		return j, err
	}
	who.Log(tx, "person.erased", "person", which, map[string]any{"jobId": j.ID})
	return j, nil
}

func onHold(held bool) error {
	if held {
		return ErrOnHold
	}
	return nil
}

// Eraser removes what is known of people who were erased: what they said, what
// was noted, collected and remembered of them, that they are signed in, who their
// guardians are, and their places. The consents stay on record, without names.
type Eraser struct {
	Files *file.Store
	// Forget deletes what groups above this one keep of a person, such as what personas
	// remember, and answers how much there was.
	Forget Forget
}

// Forget deletes something of a person, and answers how much there was: nothing once all of it is
// deleted.
type Forget func(ctx context.Context, tx *tenant.Tx, of id.Person) (int, error)

// ForgetEach does each.
func ForgetEach(each ...Forget) Forget {
	return func(ctx context.Context, tx *tenant.Tx, of id.Person) (all int, err error) {
		for _, forget := range each {
			n, err := forget(ctx, tx, of)
			if all += n; err != nil {
				return all, err
			}
		}
		return all, nil
	}
}

const (
	// eraseSessions and erasePlaces bound a step.
	eraseSessions = 100
	erasePlaces   = 100
	// holdAgain is when a conversation that was held is looked at again.
	holdAgain = time.Hour
)

// reached is how far an erasure got.
type reached struct {
	// Session is the last whose words were deleted.
	Session id.Session `json:"session"`
	// Said says that no words are left but those that are held.
	Said bool `json:"said"`
	// Held says that some are.
	Held bool `json:"held"`
	// Silenced are conversations whose answers are searched for, and Answer is how far that,
	// or the search for the person's own, got.
	Silenced []id.Session      `json:"silenced,omitempty"`
	Answer   idempotency.Place `json:"answer"`
	// Searched says that all answers were searched for the person.
	Searched bool `json:"searched"`
	// Dropped says that exports were deleted at a look before.
	Dropped bool `json:"dropped,omitempty"`
}

// Step is the job's next step. Each is repeated without harm.
func (e *Eraser) Step(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
	which, err := id.ParsePerson(j.ResourceID)
	if err != nil {
		return 0, err
	}
	var at reached
	if err := json.Unmarshal(j.Progress, &at); err != nil {
		return 0, err
	}
	who := Author{By: j.CreatedBy, At: now}
	wait := time.Duration(0)
	switch {
	case len(at.Silenced) > 0:
		err = at.scrubSilenced(ctx, tx)
	case at.Said && !at.Searched:
		err = at.scrubPerson(ctx, tx, which)
	case at.Said:
		wait, err = e.rest(ctx, tx, j, &at, which, who)
	default:
		if err = e.silence(ctx, tx, j, &at, which, who); err == nil && len(at.Silenced) > 0 {
			err = event.EraseExternalIDs(ctx, tx, id.Person{}, at.Silenced)
		}
	}
	if err != nil {
		return 0, err
	}
	j.Progress, err = json.Marshal(at)
	return wait, err
}

// silence deletes the words of a few of the person's conversations. One that is
// live is ended, alone in its step: its end comes last in a transaction.
func (e *Eraser) silence(ctx context.Context, tx *tenant.Tx, j *job.Job, at *reached, which id.Person, who Author) error {
	sessions, err := session.OfPerson(ctx, tx, which, at.Session, eraseSessions)
	if err != nil {
		return err
	}
	for i, s := range sessions {
		switch {
		case !s.State.Over() && i > 0:
			return nil // in the next step
		case !s.State.Over():
			_, err := session.End(ctx, tx, s.ID, session.Ending{Reason: session.EndedByAPI, At: who.At})
			return err
		case s.OnHold:
			at.Held = true
		default:
			if err := session.Disown(ctx, tx, s.ID, who.At); err != nil {
				return err
			}
			at.Silenced = append(at.Silenced, s.ID)
			j.Done++
		}
		at.Session = s.ID
	}
	at.Said = len(sessions) < eraseSessions
	return nil
}

// scrubSilenced searches some of the answers for the conversations that were silenced last.
func (at *reached) scrubSilenced(ctx context.Context, tx *tenant.Tx) error {
	ids := make([]string, len(at.Silenced))
	for i, s := range at.Silenced {
		ids[i] = s.Bare()
	}
	whole, err := at.scrubAnswers(ctx, tx, ids)
	if whole {
		at.Silenced = nil
	}
	return err
}

// scrubPerson searches some of the answers for the person and their places. It rides
// membership_by_person.
func (at *reached) scrubPerson(ctx context.Context, tx *tenant.Tx, which id.Person) error {
	rows, err := tx.Query(ctx, `SELECT id FROM membership WHERE org_id = $1 AND person_id = $2`, tx.Org, which)
	if err != nil {
		return err
	}
	ids := []string{which.Bare()}
	var place id.Membership
	if _, err := pgx.ForEachRow(rows, []any{&place}, func() error {
		ids = append(ids, place.Bare())
		return nil
	}); err != nil {
		return err
	}
	at.Searched, err = at.scrubAnswers(ctx, tx, ids)
	return err
}

// scrubAnswers searches some of the answers, and says whether those were the last.
func (at *reached) scrubAnswers(ctx context.Context, tx *tenant.Tx, of []string) (whole bool, err error) {
	next, err := idempotency.Erase(ctx, tx, of, at.Answer)
	if err != nil {
		return false, err
	}
	if next == nil {
		next, whole = &idempotency.Place{}, true
	}
	at.Answer = *next
	return whole, nil
}

// rest removes the rest. It ends once no conversation is held any more.
func (e *Eraser) rest(ctx context.Context, tx *tenant.Tx, j *job.Job, at *reached, which id.Person, who Author) (time.Duration, error) {
	// Some forget a few things in a transaction: it goes on until nothing is left.
	if n, err := e.Forget(ctx, tx, which); err != nil || n > 0 {
		return 0, err
	}
	if err := e.forget(ctx, tx, which, at); err != nil {
		return 0, err
	}
	more, err := removePlaces(ctx, tx, j, which, who)
	switch {
	case err != nil || more:
		return 0, err
	case at.Held:
		*at = reached{Dropped: at.Dropped}
		return holdAgain, nil
	}
	j.State, j.Total = job.Succeeded, j.Done
	return 0, nil
}

// scrub empties what is found of a person by searching, answers aside.
func scrub(ctx context.Context, tx *tenant.Tx, which id.Person) error {
	if err := event.EraseExternalIDs(ctx, tx, which, nil); err != nil {
		return err
	}
	return job.DropSealed(ctx, tx)
}

// forget deletes who the guardians of a person are, by what they come in, and that they are
// signed in.
func (e *Eraser) forget(ctx context.Context, tx *tenant.Tx, which id.Person, at *reached) error {
	evidence, err := consent.ForgetGuardians(ctx, tx, which)
	if err != nil {
		return err
	}
	if err := e.Files.Discard(ctx, tx, evidence...); err != nil {
		return err
	}
	rejects, err := job.TakeRejects(ctx, tx)
	if err != nil {
		return err
	}
	if err := e.Files.Discard(ctx, tx, rejects...); err != nil {
		return err
	}
	// While something is held it is looked at again and again: the exports go at the first look, and
	// once nothing is held any more.
	if !at.Held || !at.Dropped {
		if err := job.DropExports(ctx, tx); err != nil {
			return err
		}
		at.Dropped = true
	}
	if _, err := inbox.RemoveMember(ctx, tx, which); err != nil {
		return err
	}
	// Once more: what was under way at the erasure has been answered since.
	if err := scrub(ctx, tx, which); err != nil {
		return err
	}
	if err := forgetIdentity(ctx, tx, which); err != nil {
		return err
	}
	return signOut(ctx, tx, which)
}

// removePlaces removes a few of the person's places, and says whether others are
// left.
func removePlaces(ctx context.Context, tx *tenant.Tx, j *job.Job, which id.Person, who Author) (more bool, err error) {
	rows, err := tx.Query(ctx, `
		SELECT `+membershipColumns+` FROM membership m WHERE m.org_id = $1 AND m.person_id = $2 ORDER BY m.id LIMIT $3`, tx.Org, which, erasePlaces)
	if err != nil {
		return false, err
	}
	places, err := pgx.CollectRows(rows, scanMembership)
	if err != nil {
		return false, err
	}
	ids := make([]id.Membership, len(places))
	for i, m := range places {
		ids[i] = m.ID
		tx.Touch("membership", m.ID)
		if m.RemovedAt == nil {
			event.Emit(tx, m.draft(event.MemberRemoved, who, map[string]any{"removedAt": who.At}))
			j.Done++
		}
	}
	_, err = tx.Exec(ctx, `DELETE FROM membership WHERE org_id = $1 AND id = ANY($2)`, tx.Org, ids)
	return len(places) == erasePlaces, err
}
