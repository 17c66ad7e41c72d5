package move

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/store/database"
)

// rounds is how often a copy is compared as a whole before it is given up.
const rounds = 3

// verify compares a page of rows. One that differs although nobody noted it is noted, to
// be copied again, and then everything is compared once more.
func (r *run) verify(ctx context.Context) error {
	if err := r.open(ctx); err != nil {
		return err
	}
	for r.at.Table < len(r.layout) {
		t := r.layout[r.at.Table]
		rows, more, differing, err := r.compare(ctx, t)
		if err != nil {
			return err
		}
		if len(differing) > 0 {
			if differing, err = r.unexplained(ctx, t, differing); err != nil {
				return err
			}
			if err := r.note(ctx, t, differing); err != nil {
				return err
			}
			r.at.Faults += int64(len(differing))
		}
		r.step(t, rows, more)
		if len(rows) > 0 {
			return r.throttle(ctx, len(rows))
		}
	}
	return r.judge(ctx)
}

// judge says what comes after everything was compared.
func (r *run) judge(ctx context.Context) error {
	faults := r.at.Faults
	r.at.Round, r.at.Faults = r.at.Round+1, 0
	r.at.Repaired += faults
	if faults > 0 {
		r.Log.WarnContext(ctx, "rows of a move were not what they should be", "organization", r.move.Org.String(), "rows", faults, "round", r.at.Round)
		if r.at.Round >= rounds {
			return refuse(Damaged, "%d rows on the shard %s differ from those on %s, also after they were copied %d times.",
				faults, r.move.To, r.move.From, r.at.Round)
		}
	}
	r.at.Verified = faults == 0
	r.enter(phaseCatchUp)
	return nil
}

// compare reads the next page on both sides and answers the source's rows, and the keys of
// those that differ.
func (r *run) compare(ctx context.Context, t table) (rows []record, more bool, differing [][]string, err error) {
	if rows, more, err = r.nextPage(ctx, t); err != nil {
		return nil, false, nil, err
	}
	var upTo []string
	if more {
		upTo = t.keyOf(rows[len(rows)-1])
	}
	var got []record
	err = r.writing(ctx, func(ctx context.Context, tx database.Tx) (err error) {
		got, _, err = t.page(ctx, tx, r.move.Org, r.at.After, upTo, 2*r.Page, 0)
		return err
	})
	return rows, more, t.differences(rows, got), err
}

// differences are the keys of the rows that are not the same in both.
func (t table) differences(rows, got []record) (keys [][]string) {
	other := make(map[string]record, len(got))
	for _, row := range got {
		other[joined(t.keyOf(row))] = row
	}
	for _, row := range rows {
		key := t.keyOf(row)
		if twin, ok := other[joined(key)]; !ok || !same(row, twin) {
			keys = append(keys, key)
		}
		delete(other, joined(key))
	}
	for _, row := range other {
		keys = append(keys, t.keyOf(row))
	}
	return keys
}

// unexplained leaves out the keys that writers noted. Nothing is taken off the journal while
// a table is compared: a note that was seen is still there, and only others are looked for.
func (r *run) unexplained(ctx context.Context, t table, keys [][]string) ([][]string, error) {
	isNoted := func(key []string) bool { return r.noted[joined(key)] }
	if keys = slices.DeleteFunc(keys, isNoted); len(keys) == 0 {
		return nil, nil
	}
	if err := r.readNotes(ctx, t); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(keys, isNoted), nil
}

// readNotes reads the keys of a table that writers noted. It rides move_dirty_pkey.
func (r *run) readNotes(ctx context.Context, t table) error {
	var pks []string
	if err := r.reading(ctx, func(ctx context.Context, tx database.Tx) error {
		rows, err := tx.Query(ctx, `SELECT pk FROM move_dirty WHERE org_id = $1 AND table_name = $2`, r.move.Org, t.Name)
		if err != nil {
			return err
		}
		pks, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	}); err != nil {
		return err
	}
	r.noted = make(map[string]bool, len(pks))
	for _, pk := range pks {
		key, err := t.parse(pk)
		if err != nil {
			return err
		}
		r.noted[joined(key)] = true
	}
	return nil
}

// note has rows copied again.
func (r *run) note(ctx context.Context, t table, keys [][]string) error {
	pks := make([]string, len(keys))
	for i, key := range keys {
		pks[i] = t.PK(key...)
	}
	return r.reading(ctx, func(ctx context.Context, tx database.Tx) error {
		for _, some := range portions(pks, func(pk string) int { return 4 + len(pk) }) {
			if _, err := tx.Exec(ctx, `
				INSERT INTO move_dirty (org_id, table_name, pk) SELECT $1, $2, p FROM unnest($3::TEXT[]) AS noted (p)
				ON CONFLICT (org_id, table_name, pk) DO NOTHING`, r.move.Org, t.Name, some); err != nil {
				return err
			}
		}
		return nil
	})
}
