package route

import (
	"context"

	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/store/idempotency"
	"visavis.dev/pkg/store/tenant"
)

// IdempotencyHeader is the header by which a caller names a request, to send
// it again without having its effect twice (General conventions, 5).
const IdempotencyHeader = "Idempotency-Key"

// begin claims the request's idempotency key, if it brought one and the
// operation honours it.
func (c *Call) begin(ctx context.Context) error {
	values := c.request.Header.Values(IdempotencyHeader)
	if !c.Op.Idempotent || len(values) == 0 {
		return nil
	}
	key := values[0]
	if len(values) > 1 || len(key) == 0 || len(key) > 255 || !printable(key) {
		return problem.Invalid("header."+IdempotencyHeader, "An Idempotency-Key is one value of 1 to 255 printable ASCII characters.")
	}
	r := idempotency.Request{
		Org: c.Org(), Key: c.Principal.Key.ID, Method: c.Op.Method, Path: c.request.URL.Path,
		ClientKey: key, Contract: c.Contract, Body: c.body,
	}
	if c.Op.ShowsSecret {
		r.Seal = []byte(c.bearer)
	}
	claim, err := c.service.Idempotency.Claim(ctx, r)
	c.claim = claim
	return err
}

func printable(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

// abandon lets the idempotency key go unless the request had its effect: a
// failure is not remembered.
func (c *Call) abandon(ctx context.Context) {
	if c.claim == nil || c.committed != nil {
		return
	}
	// The caller may be gone; the key should be free all the same.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	defer cancel()
	if err := c.claim.Release(ctx); err != nil {
		c.service.Log.WarnContext(ctx, "an idempotency key stays claimed until its lease ends", "error", err)
	}
}

// Commit runs fn in a transaction of the calling organization and records the
// answer for the idempotency key in the same commit. fn can run several times
// and must have no effect but through tx. The handler returns what Commit
// returns.
func Commit[O any](ctx context.Context, c *Call, fn func(context.Context, *tenant.Tx) (O, error)) (O, error) {
	var (
		data   O
		answer []byte
		runs   int
	)
	err := c.service.Tenants.InTx(ctx, c.Org(), func(ctx context.Context, tx *tenant.Tx) (err error) {
		runs++
		c.chosen = 0
		if runs > 1 && c.claim != nil {
			if err := c.claim.Recheck(ctx, tx); err != nil {
				return err
			}
		}
		if data, err = fn(ctx, tx); err != nil || c.claim == nil {
			return err
		}
		answer = c.render(Envelope[O]{Data: data, RequestID: c.RequestID.String()})
		return c.claim.Complete(ctx, tx, idempotency.Answer{Status: c.status(), Body: answer})
	}, tenant.Idempotent(c.claim != nil))
	if err == nil && c.claim != nil {
		c.committed = answer
	}
	return data, err
}
