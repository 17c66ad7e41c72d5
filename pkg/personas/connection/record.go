package connection

import (
	"context"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/store/tenant"
)

// Record notes calls of a connection, in the order they were made, and what
// they say of its health, in one transaction: however many processes report the
// same outage, one of them finds the connection active or unverified, and tells. It comes last
// in the transaction. The error can be errdefs.NotFound or errdefs.Gone.
func Record(ctx context.Context, tx *tenant.Tx, which id.Connection, outcomes []Outcome, now time.Time) error {
	before, err := hold(ctx, tx, which)
	if err != nil {
		return err
	}
	after, was := before, before
	// More are not kept, and the newest decide.
	for _, o := range outcomes[max(len(outcomes)-KeptCalls, 0):] {
		if after = after.After(o); after.State == Active {
			before.State = Active // it worked before it failed
		}
	}
	if err := after.recover(ctx, tx, was, now); err != nil {
		return err
	}
	return recordOutcomes(ctx, tx, after, outcomes, before.works() && after.State == Failing, now)
}

// recover has what waits told at once where a connection works that did not. One that works and fails by turns has it
// told once a minute: each telling makes calls, by which it can seem to work again.
func (c Connection) recover(ctx context.Context, tx *tenant.Tx, was Connection, now time.Time) error {
	if c.State != Active || was.State == Active || was.Health.Failures == 0 {
		return nil
	}
	if again, err := job.StartAgain(ctx, tx, c.ID, job.ConnectionResume); err != nil || again {
		return err
	}
	return c.resume(ctx, tx, now)
}

// RecordTrial notes what a trial showed of a connection as it was when it was
// tried; of one that was changed meanwhile it notes the calls alone. It comes
// last in the transaction.
func RecordTrial(ctx context.Context, tx *tenant.Tx, tried Opened, trial Trial, now time.Time) (Connection, error) {
	before, err := Lock(ctx, tx, tried.ID)
	if err != nil {
		return Connection{}, err
	}
	after := before
	if before.SettledAt.Equal(tried.SettledAt) {
		after = before.Tried(trial)
		if after, err = after.discover(ctx, tx, trial); err != nil {
			return Connection{}, err
		}
	}
	if err := after.recover(ctx, tx, before, now); err != nil {
		return Connection{}, err
	}
	// Who tried one that was not tried before reads the answer.
	err = recordOutcomes(ctx, tx, after, trial.Outcomes, before.State == Active && after.State == Failing, now)
	return after, err
}

// discover keeps the tools that a trial found.
func (c Connection) discover(ctx context.Context, tx *tenant.Tx, trial Trial) (Connection, error) {
	if c.Kind != MCP || !trial.OK() {
		return c, nil
	}
	c.Discovered = trial.Discovered
	return c, keepTools(ctx, tx, c)
}

// recordOutcomes writes what calls made of a connection, and tells where they found out that it
// does not work.
func recordOutcomes(ctx context.Context, tx *tenant.Tx, after Connection, outcomes []Outcome, failed bool, now time.Time) error {
	if len(outcomes) > 0 {
		p95Ms, err := keepCalls(ctx, tx, after.ID, outcomes[max(len(outcomes)-KeptCalls, 0):])
		if err != nil {
			return err
		}
		after.Health.P95Ms = p95Ms
	}
	if err := Update(ctx, tx, after); err != nil {
		return err
	}
	if !failed {
		return nil
	}
	event.Emit(tx, event.Draft{Type: event.ConnectionFailed, At: now, Fields: map[string]any{
		"connectionId": after.ID, "kind": after.Kind, "provider": after.Provider, "state": after.State,
		"errorCode": after.Health.ErrorCode, "consecutiveFailures": after.Health.Failures,
		"lastOkAt": after.Health.OKAt, "failedAt": now,
	}})
	return nil
}
