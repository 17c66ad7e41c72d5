package tenant

import (
	"context"
	"errors"
)

// Attempt runs fn so that nothing of it stays in the transaction when it fails:
// what was done before does, and what comes after can. The error is fn's; one that
// the caller did not expect ends the transaction, as any other does.
func (tx *Tx) Attempt(ctx context.Context, fn func(ctx context.Context) error) error {
	if _, err := tx.Exec(ctx, `SAVEPOINT attempt`); err != nil {
		return err
	}
	held := len(tx.closing)
	if err := fn(ctx); err != nil {
		tx.closing = tx.closing[:held]
		// What was touched stays noted, which costs a copy a look at most.
		_, back := tx.Exec(ctx, `ROLLBACK TO SAVEPOINT attempt`)
		if back == nil {
			_, back = tx.Exec(ctx, `RELEASE SAVEPOINT attempt`)
		}
		return errors.Join(err, back)
	}
	_, err := tx.Exec(ctx, `RELEASE SAVEPOINT attempt`)
	return err
}
