package result

import (
	"context"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/printed"
	"visavis.dev/pkg/store/tenant"
)

// ForgetPerson deletes the results of a person, who may be erased, with the reports and
// the reviews of them and the objections to them, and answers how many there were. Those on hold stay. It rides
// result_attempt.
func ForgetPerson(ctx context.Context, tx *tenant.Tx, of id.Person) (int, error) {
	gone, err := tenant.AllIn(ctx, tx, rowID[id.Result], `DELETE FROM result WHERE org_id = $1 AND person_id = $2 AND NOT on_hold RETURNING id`, tx.Org, of)
	if err != nil {
		return 0, err
	}
	for _, r := range gone {
		tx.Touch("result", r)
	}
	if err := printed.DeleteOfResults(ctx, tx, gone...); err != nil {
		return 0, err
	}
	reviews, err := tenant.AllIn(ctx, tx, rowID[id.Review], `DELETE FROM review WHERE org_id = $1 AND result_id = ANY($2) RETURNING id`, tx.Org, gone)
	if err != nil {
		return 0, err
	}
	for _, v := range reviews {
		tx.Touch("review", v)
	}
	contests, err := tenant.AllIn(ctx, tx, rowID[id.Contest], `DELETE FROM contest WHERE org_id = $1 AND result_id = ANY($2) RETURNING id`, tx.Org, gone)
	for _, k := range contests {
		tx.Touch("contest", k)
	}
	return len(gone), err
}

func rowID[T any](row pgx.CollectableRow) (T, error) { return pgx.RowTo[T](row) }
