package inbox

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// counter is the name of the count of items of a kind in a state.
func counter(k Kind, s State) string { return "inbox." + string(k) + "." + string(s) }

// count moves an item from one state to another in the counts; an empty state is none.
func count(ctx context.Context, tx *tenant.Tx, k Kind, from, to State) error {
	if from == to {
		return nil
	}
	type step struct {
		name string
		by   int64
	}
	var steps []step
	if from != "" {
		steps = append(steps, step{counter(k, from), -1})
	}
	if to != "" {
		steps = append(steps, step{counter(k, to), 1})
	}
	// In one order, so that two that move the other way round wait for each other once.
	slices.SortFunc(steps, func(a, b step) int { return strings.Compare(a.name, b.name) })
	for _, s := range steps {
		if err := tx.Add(ctx, s.name, s.by); err != nil {
			return err
		}
	}
	return nil
}

// Summary is how many items of each kind are in each state.
type Summary map[Kind]map[State]int64

// Count reads the counts, which are kept as items change. It rides org_counter_pkey.
func Count(ctx context.Context, t *tenant.Tenants, org id.Org) (Summary, error) {
	found := Summary{}
	var names []string
	for _, k := range Kinds() {
		found[k] = map[State]int64{}
		for _, s := range States() {
			found[k][s] = 0
			names = append(names, counter(k, s))
		}
	}
	err := t.Read(ctx, org, func(r *tenant.Reads) {
		r.Query(func(rows pgx.Rows) error {
			var (
				name  string
				value int64
			)
			_, err := pgx.ForEachRow(rows, []any{&name, &value}, func() error {
				parts := strings.Split(name, ".")
				found[Kind(parts[1])][State(parts[2])] = value
				return nil
			})
			return err
		}, `SELECT name, value FROM org_counter WHERE org_id = $1 AND name = ANY($2)`, org, names)
	})
	return found, err
}
