package candidate

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/hiring/demographics"
	"visavis.dev/pkg/hiring/record"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/idempotency"
	"visavis.dev/pkg/store/sweep"
	"visavis.dev/pkg/store/tenant"
)

// ErrOnHold says that a candidate must be kept as they are.
var ErrOnHold = errors.New("the candidate is on hold")

// Trigger is why somebody is erased.
type Trigger string

// The triggers.
const (
	// OnRequest: the candidate asked for it.
	OnRequest Trigger = "request"
	// ByRetention: their time is over.
	ByRetention Trigger = "retention"
	// ByDeletion: the organization deleted them.
	ByDeletion Trigger = "deletion"
)

// Erasure is the input of a job that erases a candidate.
type Erasure struct {
	Candidate id.Candidate `json:"candidateId"`
	Trigger   Trigger      `json:"trigger"`
}

// Erase begins to erase a candidate. Their details are gone at the commit, and nobody comes in as
// them any more; a job removes what they said (see Eraser). What was done about them stays on
// record, without their words. The error is errdefs.NotFound, errdefs.Gone or ErrOnHold.
func Erase(ctx context.Context, tx *tenant.Tx, which id.Candidate, why Trigger, who activity.Actor) (job.Job, error) {
	c, err := Lock(ctx, tx, which)
	if err != nil {
		return job.Job{}, err
	}
	if c.OnHold {
		return job.Job{}, ErrOnHold
	}
	if err := c.Note(ctx, tx, record.Fact{At: who.At, Actor: who.By, Action: "erasure.begun", Data: map[string]any{"trigger": why}}); err != nil {
		return job.Job{}, err
	}
	if err := c.cancelAll(ctx, tx, byErasure, who.By, false, who.At); err != nil {
		return job.Job{}, err
	}
	c.blank(who.At)
	if err := c.Save(ctx, tx, who.At); err != nil {
		return job.Job{}, err
	}
	if err := forget(ctx, tx, c.ID, who.At); err != nil {
		return job.Job{}, err
	}
	j, err := job.Insert(ctx, tx, job.Job{
		ID: id.NewJob(), Kind: job.CandidateErase, ResourceKind: "candidate", ResourceID: c.ID.String(), Scope: scope.CandidatesData,
		CreatedBy: who.By, CreatedAt: who.At,
	}, Erasure{c.ID, why})
	if err != nil {
		return j, err
	}
	who.Log(tx, "candidate.erased", "candidate", c.ID, map[string]any{"jobId": j.ID, "trigger": why})
	return j, nil
}

// blank leaves nothing personal of a candidate.
func (c *Candidate) blank(at time.Time) {
	c.Name, c.Email, c.emailKey, c.Phone, c.ResumeURL, c.ExternalID, c.Metadata, c.DecisionNote, c.Place = "", nil, nil, nil, nil, nil, map[string]string{}, nil, nil
	c.State, c.Stage, c.ErasedAt, c.WordsUntil, c.SilenceAt, c.EraseAt, c.ExplainAt = Erased, AtEnd, &at, nil, nil, nil, nil
}

// forget empties what is found of a candidate by searching, answers aside.
func forget(ctx context.Context, tx *tenant.Tx, which id.Candidate, at time.Time) error {
	if err := record.Forget(ctx, tx, which); err != nil {
		return err
	}
	if err := dropRequests(ctx, tx, which, at); err != nil {
		return err
	}
	if err := dropApplications(ctx, tx, which); err != nil {
		return err
	}
	if err := blankHuman(ctx, tx, which, at); err != nil {
		return err
	}
	invites, err := tenant.AllIn(ctx, tx, scanInvite, `
		SELECT `+inviteColumns+` FROM candidate_invite WHERE org_id = $1 AND candidate_id = $2`, tx.Org, which)
	if err != nil {
		return err
	}
	for _, v := range invites {
		v.Message, v.ExternalID, v.DueAt, v.RemindAt = nil, nil, nil, nil
		if err := v.save(ctx, tx); err != nil {
			return err
		}
		if err := v.dropLinks(ctx, tx, 0); err != nil {
			return err
		}
	}
	if err := job.DropExports(ctx, tx); err != nil {
		return err
	}
	return job.DropSealed(ctx, tx)
}

// Eraser does the jobs that erase candidates.
type Eraser struct {
	// Silence deletes what a candidate said in their interviews, and with all their scores too. It
	// ends one that is under way: more says that others are left.
	Silence func(ctx context.Context, tx *tenant.Tx, c id.Candidate, all bool, at time.Time) (more bool, err error)
	// Forget deletes what they said of themselves for the bias audit.
	Forget func(ctx context.Context, tx *tenant.Tx, c id.Candidate) error
}

// reached is how far an erasure got.
type reached struct {
	Silent   bool              `json:"silent"`
	Searched bool              `json:"searched"`
	Answer   idempotency.Place `json:"answer"`
}

// Step is the job's next step. Each is repeated without harm.
func (e *Eraser) Step(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
	var (
		in Erasure
		at reached
	)
	if err := errors.Join(json.Unmarshal(j.Input, &in), json.Unmarshal(j.Progress, &at)); err != nil {
		return 0, err
	}
	var err error
	switch {
	case !at.Silent:
		var more bool
		more, err = e.Silence(ctx, tx, in.Candidate, true, now)
		at.Silent = !more
	case !at.Searched:
		err = at.search(ctx, tx, in.Candidate)
	default:
		if err := e.Forget(ctx, tx, in.Candidate); err != nil {
			return 0, err
		}
		return 0, finish(ctx, tx, j, in, now)
	}
	if err != nil {
		return 0, err
	}
	j.Progress, err = json.Marshal(at)
	return 0, err
}

// search searches some of the answers for the candidate. It rides candidate_invite_by_candidate.
func (at *reached) search(ctx context.Context, tx *tenant.Tx, which id.Candidate) error {
	ids := []string{which.Bare()}
	invites, err := tenant.AllIn(ctx, tx, scanInvite, `
		SELECT `+inviteColumns+` FROM candidate_invite WHERE org_id = $1 AND candidate_id = $2`, tx.Org, which)
	if err != nil {
		return err
	}
	for _, v := range invites {
		ids = append(ids, v.ID.Bare())
	}
	next, err := idempotency.Erase(ctx, tx, ids, at.Answer)
	if err != nil {
		return err
	}
	if next == nil {
		at.Searched, next = true, &idempotency.Place{}
	}
	at.Answer = *next
	return nil
}

// finish tells that a candidate is erased.
func finish(ctx context.Context, tx *tenant.Tx, j *job.Job, in Erasure, now time.Time) error {
	// Once more: what was under way at the erasure has been answered since.
	if err := forget(ctx, tx, in.Candidate, now); err != nil {
		return err
	}
	c, err := tenant.OneIn(ctx, tx, scan, Noun.NotFound(in.Candidate), selectOne+` FOR UPDATE`, tx.Org, in.Candidate)
	if err != nil {
		return err
	}
	if err := c.Note(ctx, tx, record.Fact{At: now, Actor: byPlatform, Action: "erasure.done", Data: map[string]any{"trigger": in.Trigger}}); err != nil {
		return err
	}
	if err := c.Save(ctx, tx, now); err != nil {
		return err
	}
	c.Tell(tx, event.CandidateErased, now, map[string]any{"trigger": in.Trigger, "erasedAt": now.UTC()})
	j.State = job.Succeeded
	return nil
}

// Retain erases the candidates of a shard whose time is over. It rides candidate_by_erasure.
func Retain(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	return eachDue(ctx, t, shard, func(ctx context.Context, tx *tenant.Tx, which id.Candidate) error {
		c, err := Lock(ctx, tx, which)
		if errdefs.IsAbsent(err, Noun) || err == nil && (c.EraseAt == nil || c.EraseAt.After(now)) {
			return nil // another worker was faster, or they are kept for longer
		}
		if err != nil {
			return err
		}
		if postponed, err := c.postpone(ctx, tx, now); err != nil || postponed {
			return err
		}
		_, err = Erase(ctx, tx, which, ByRetention, activity.Actor{By: byPlatform, At: now})
		return err
	}, `
		SELECT c.org_id, c.id FROM candidate c JOIN org_fence f ON f.org_id = c.org_id AND f.state IN ('open', 'capture')
		WHERE c.erase_at <= $1 ORDER BY c.erase_at LIMIT $2`, now)
}

// Quiet deletes what the candidates of a shard said whose words are not kept any longer. It rides
// candidate_by_silence.
func (e *Eraser) Quiet(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	return eachDue(ctx, t, shard, func(ctx context.Context, tx *tenant.Tx, which id.Candidate) error {
		c, err := Lock(ctx, tx, which)
		if errdefs.IsAbsent(err, Noun) || err == nil && (c.SilenceAt == nil || c.SilenceAt.After(now)) {
			return nil // likewise
		}
		if err != nil {
			return err
		}
		if postponed, err := c.postpone(ctx, tx, now); err != nil || postponed {
			return err
		}
		more, err := e.Silence(ctx, tx, which, false, now)
		if err != nil || more {
			return err
		}
		c.SilenceAt, c.WordsUntil = nil, nil
		if err := c.Note(ctx, tx, record.Fact{At: now, Actor: byPlatform, Action: "words.deleted", Data: map[string]any{"basis": ByRetention}}); err != nil {
			return err
		}
		return c.Save(ctx, tx, now)
	}, `
		SELECT c.org_id, c.id FROM candidate c JOIN org_fence f ON f.org_id = c.org_id AND f.state IN ('open', 'capture')
		WHERE c.silence_at <= $1 ORDER BY c.silence_at LIMIT $2`, now)
}

// Background is what workers do for candidates.
func (e *Eraser) Background(d sweep.Deps) job.Background {
	return job.Background{
		Steps: map[job.Kind]job.Step{job.CandidateErase: e.Step},
		Tasks: []sweep.Task{
			{Name: "expire invites", Every: 10 * time.Second, Batch: SweepBatch, Run: d.Dated(Expire)},
			{Name: "tell of candidates' requests that are due", Every: time.Minute, Batch: SweepBatch, Run: d.Dated(WatchRequests)},
			{Name: "tell of rejections to be explained", Every: time.Minute, Batch: SweepBatch, Run: d.Dated(WatchExplanations)},
			{Name: "delete what candidates said", Every: time.Minute, Batch: SweepBatch, Run: d.Dated(e.Quiet)},
			{Name: "erase candidates", Every: time.Minute, Batch: SweepBatch, Run: d.Dated(Retain)},
		},
	}
}

// Hold has a candidate kept as they are, or lets them be. The error is errdefs.NotFound or
// errdefs.Gone.
func Hold(ctx context.Context, tx *tenant.Tx, which id.Candidate, on bool, who activity.Actor) (Candidate, error) {
	c, err := Lock(ctx, tx, which)
	if err != nil || c.OnHold == on {
		return c, err
	}
	c.OnHold = on
	c.schedule()
	action := "candidate.unheld"
	if on {
		action = "candidate.held"
	}
	if err := c.Note(ctx, tx, record.Fact{At: who.At, Actor: who.By, Action: action}); err != nil {
		return c, err
	}
	who.Log(tx, action, "candidate", c.ID, nil)
	if !on && c.SettledAt != nil {
		r, err := c.FindRole(ctx, tx)
		if err != nil {
			return c, err
		}
		if err := demographics.Settle(ctx, tx, &r, who.At); err != nil { // they are counted now
			return c, err
		}
	}
	return c, c.Save(ctx, tx, who.At)
}
