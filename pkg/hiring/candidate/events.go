package candidate

import (
	"context"
	"encoding/json"
	"maps"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/store/idempotency"
	"visavis.dev/pkg/store/tenant"
)

// draft is an event about the candidate, with more fields. The organization's own id of them,
// which may be a name, is read where it is (Sources).
func (c *Candidate) draft(t event.Type, at time.Time, more map[string]any) event.Draft {
	fields := map[string]any{"candidateId": c.ID, "roleId": c.Role, "inviteId": c.Invite}
	maps.Copy(fields, more)
	return event.Draft{Type: t, At: at, Fields: fields}
}

// Tell emits an event about the candidate, with more fields than who it is about.
func (c *Candidate) Tell(tx *tenant.Tx, t event.Type, at time.Time, more map[string]any) {
	event.Emit(tx, c.draft(t, at, more))
}

// Types are all events about candidates but that of their erasure.
var Types = []event.Type{
	event.CandidateScreened, event.CandidateDecided, event.CandidateInvited, event.CandidateInviteCancelled, event.CandidateReviewed,
	event.CandidateInterviewOffered, event.CandidateInterviewBooked, event.CandidateInterviewCancelled, event.CandidateInviteOpened,
	event.CandidateInviteExpired,
}

// Sources say that nothing is told any more of who was erased, and add to a screening what came
// of it. results reads that of a screening; it answers nothing before the candidate was reviewed.
func Sources(t *tenant.Tenants, results func(ctx context.Context, org id.Org, s id.Screening) (map[string]any, error)) map[event.Type]event.Source {
	all := map[event.Type]event.Source{}
	for _, kind := range Types {
		all[kind] = func(ctx context.Context, e event.Event, _ bool) (event.Detail, error) {
			var names struct {
				Candidate id.Candidate  `json:"candidateId"`
				Screening *id.Screening `json:"screeningId"`
			}
			if err := json.Unmarshal(e.Structure, &names); err != nil {
				return event.Detail{}, err
			}
			c, err := Get(ctx, t, e.Org, names.Candidate)
			if errdefs.IsAbsent(err, Noun) {
				return event.Detail{Standing: event.Gone}, nil
			}
			if err != nil {
				return event.Detail{}, err
			}
			fields := map[string]any{}
			if kind == event.CandidateScreened && names.Screening != nil && c.ReviewedAt != nil {
				if fields, err = results(ctx, e.Org, *names.Screening); err != nil {
					return event.Detail{}, err
				}
			}
			if fields["externalId"], err = c.ownID(ctx, t, e.Org); err != nil {
				return event.Detail{}, err
			}
			return event.Detail{Fields: fields}, nil
		}
	}
	return all
}

// ownID is the organization's own id of a candidate, as it may be shown now.
func (c *Candidate) ownID(ctx context.Context, t *tenant.Tenants, org id.Org) (*string, error) {
	if c.ExternalID == nil || c.judged() {
		return c.ExternalID, nil
	}
	r, err := role.Get(ctx, t, org, c.Role)
	if err != nil || c.Hidden(&r) {
		return nil, err
	}
	return c.ExternalID, nil
}

// TellsOfErased says whether an answer names a candidate who was erased, or their invitation. It
// rides candidate_pkey and candidate_invite_pkey.
func TellsOfErased(ctx context.Context, tx *tenant.Tx, answer []byte) (bool, error) {
	return idempotency.Names(ctx, tx, answer, `
		SELECT 1 FROM candidate c WHERE c.org_id = $1 AND c.id = ANY($2) AND c.state = 'erased'
		UNION ALL
		SELECT 1 FROM candidate_invite v JOIN candidate c ON c.org_id = v.org_id AND c.id = v.candidate_id
		WHERE v.org_id = $1 AND v.id = ANY($2) AND c.state = 'erased'
		LIMIT 1`)
}
