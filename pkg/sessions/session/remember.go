package session

import (
	"context"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/store/tenant"
)

// ToRemember is the input of a job that remembers what was said in a session.
type ToRemember struct {
	Session id.Session `json:"session"`
}

// MayBeRemembered says whether the persona may remember what the person said in
// the session, as far as the session knows: not where nobody may read it, and not
// where its words are kept for no time.
func (s Session) MayBeRemembered() bool {
	keeps := s.Brief.RetainDays == nil || *s.Brief.RetainDays > 0
	return !s.Person.IsZero() && !s.Sandbox && keeps && s.Withheld == nil && !s.OnHold && !s.Flagged && s.Kind != Screening
}

// Heard says whether words of the user are still kept. It rides turn_pkey.
func (s Session) Heard(ctx context.Context, tx *tenant.Tx) (heard bool, err error) {
	err = tx.QueryRow(ctx, `
		SELECT EXISTS (SELECT 1 FROM turn WHERE org_id = $1 AND session_id = $2 AND speaker = 'user' AND text <> '')`, tx.Org, s.ID).Scan(&heard)
	return heard, err
}

// rememberLater queues that what the person said is remembered, where the persona
// does that. A model may be asked for it, which can take a while. The statement
// rides persona_version_pkey.
func (s Session) rememberLater(ctx context.Context, tx *tenant.Tx) error {
	if !s.MayBeRemembered() {
		return nil
	}
	var does bool
	err := tx.QueryRow(ctx, `
		SELECT EXISTS (SELECT 1 FROM persona_version
			WHERE org_id = $1 AND persona_id = $2 AND version = $3 AND definition -> 'privacy' ->> 'memory' = 'person')`,
		tx.Org, s.Persona, s.PersonaVersion).Scan(&does)
	if err != nil || !does {
		return err
	}
	_, err = job.Insert(ctx, tx, job.Job{
		ID: id.NewJob(), Kind: job.MemoryWrite, ResourceKind: "session", ResourceID: s.ID.String(), Scope: scope.PeopleRead,
		CreatedBy: "platform", CreatedAt: *s.EndedAt,
	}, ToRemember{s.ID})
	return err
}
