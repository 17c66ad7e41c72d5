package delivery

import (
	"context"
	"hash/fnv"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/database"
)

// laneCount is how many lanes a shard has (delivery_lane), and so the largest
// number of workers that can share its work.
const laneCount = 32

// laneOf is the lane a webhook falls into.
func laneOf(w id.Webhook) int64 {
	h := fnv.New32a()
	_, _ = h.Write(w[:]) // never fails
	return int64(h.Sum32() % laneCount)
}

// lanes hands out a shard's lanes to a worker. A worker renews its lease well
// before it ends; once it ended, others take the lane and the epoch grows, and
// what the former holder still writes is ignored.
type lanes struct {
	db    *database.DB
	owner uuid.UUID
	term  time.Duration
	// own is the one lane that the worker is for; zero for the shared ones.
	own int64
}

// standInAfter is for how long nobody delivers in a lane of one's own, once its worker fell
// silent, before the shared workers do.
const standInAfter = time.Minute

// lease is what a worker holds.
type lease struct {
	// epochs are those of the lanes held, by lane.
	epochs map[int64]int64
	// until is when the lease ends, by this process's own clock. It was read
	// before the lease was asked for, so it is never too late.
	until time.Time
	// over is how many shared lanes more than its share the worker holds.
	over int
	// claimed are the lanes held whose own worker lives: it waits for them.
	claimed map[int64]bool
}

// good says whether the lease can be relied upon still.
func (l lease) good() bool { return time.Now().Before(l.until) }

// renew extends a lease and takes this worker's share of the lanes: it gives
// back those named, in which nothing may be under way any more, and takes free
// ones while it has fewer. Leases are counted by the database's clock, the one
// that all workers share.
func (l *lanes) renew(ctx context.Context, old lease, give []int64) (lease, error) {
	renewed := lease{epochs: map[int64]int64{}, claimed: map[int64]bool{}, until: time.Now().Add(l.term)}
	err := l.db.InTx(ctx, database.TxOptions{Idempotent: true}, func(ctx context.Context, tx database.Tx) error {
		clear(renewed.epochs)
		clear(renewed.claimed)
		if l.own != 0 {
			return l.renewOwn(ctx, tx, old, renewed)
		}
		workers, err := l.announce(ctx, tx)
		if err != nil {
			return err
		}
		if err := l.extend(ctx, tx, old, renewed); err != nil {
			return err
		}
		for _, lane := range give {
			delete(renewed.epochs, lane)
			delete(renewed.claimed, lane)
		}
		if err := l.free(ctx, tx, give); err != nil {
			return err
		}
		renewed.over = -((laneCount + workers - 1) / workers)
		for lane := range renewed.epochs {
			if lane < laneCount {
				renewed.over++
			}
		}
		if err := l.take(ctx, tx, renewed, -renewed.over); err != nil {
			return err
		}
		return l.standIn(ctx, tx, renewed)
	})
	return renewed, err
}

// renewOwn claims the worker's own lane, and holds it as soon as whoever stood in for
// it is done.
func (l *lanes) renewOwn(ctx context.Context, tx database.Tx, old, renewed lease) error {
	if _, err := tx.Exec(ctx, `
		INSERT INTO delivery_lane (lane, epoch, lease_until, claimed_until)
		VALUES ($1, 0, now() - INTERVAL '1 second', now() + $2::INTERVAL)
		ON CONFLICT (lane) DO UPDATE SET claimed_until = excluded.claimed_until`, l.own, l.term); err != nil {
		return err
	}
	if err := l.extend(ctx, tx, old, renewed); err != nil || len(renewed.epochs) > 0 {
		return err
	}
	rows, err := tx.Query(ctx, `
		UPDATE delivery_lane SET owner = $1, epoch = epoch + 1, lease_until = now() + $2::INTERVAL
		WHERE lane = $3 AND lease_until < now()
		RETURNING lane, epoch`, l.owner, l.term, l.own)
	if err != nil {
		return err
	}
	return collect(rows, renewed.epochs)
}

// standIn takes lanes that webhooks are in and whose own worker fell silent: one that
// an organization brought along from another shard never had one here. Some at a time,
// so that all shared workers get some.
func (l *lanes) standIn(ctx context.Context, tx database.Tx, renewed lease) error {
	if _, err := tx.Exec(ctx, `
		INSERT INTO delivery_lane (lane, epoch, lease_until)
		SELECT DISTINCT w.lane, 0, now() - INTERVAL '1 second' FROM webhook w
		WHERE w.lane IS NOT NULL AND NOT EXISTS (SELECT 1 FROM delivery_lane l WHERE l.lane = w.lane)
		ON CONFLICT (lane) DO NOTHING`); err != nil {
		return err
	}
	rows, err := tx.Query(ctx, `
		UPDATE delivery_lane SET owner = $1, epoch = epoch + 1, lease_until = now() + $2::INTERVAL
		WHERE lane IN (
			SELECT l.lane FROM delivery_lane l
			WHERE l.lane >= $3 AND l.lease_until < now() AND l.claimed_until < now() - $4::INTERVAL
				AND EXISTS (SELECT 1 FROM webhook w WHERE w.lane = l.lane)
			LIMIT 8 FOR UPDATE SKIP LOCKED)
		RETURNING lane, epoch`, l.owner, l.term, int64(laneCount), standInAfter)
	if err != nil {
		return err
	}
	return collect(rows, renewed.epochs)
}

// announce says that this worker lives and counts those that do.
func (l *lanes) announce(ctx context.Context, tx database.Tx) (workers int, err error) {
	if _, err = tx.Exec(ctx, `
		INSERT INTO delivery_worker (id, lease_until) VALUES ($1, now() + $2::INTERVAL)
		ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until`, l.owner, l.term); err != nil {
		return 0, err
	}
	if _, err = tx.Exec(ctx, `DELETE FROM delivery_worker WHERE lease_until < now() - INTERVAL '1 hour'`); err != nil {
		return 0, err
	}
	err = tx.QueryRow(ctx, `SELECT count(*) FROM delivery_worker WHERE lease_until > now()`).Scan(&workers)
	return max(workers, 1), err
}

// extend renews the lanes that are still this worker's at the epoch it knows.
// One that was lost and taken back meanwhile has another epoch and is dropped.
func (l *lanes) extend(ctx context.Context, tx database.Tx, old, renewed lease) error {
	if len(old.epochs) == 0 {
		return nil
	}
	var numbers, epochs []int64
	for lane, epoch := range old.epochs {
		numbers, epochs = append(numbers, lane), append(epochs, epoch)
	}
	rows, err := tx.Query(ctx, `
		UPDATE delivery_lane AS l SET lease_until = now() + $4::INTERVAL
		FROM unnest($1::BIGINT[], $2::BIGINT[]) AS mine (lane, epoch)
		WHERE l.lane = mine.lane AND l.epoch = mine.epoch AND l.owner = $3
		RETURNING l.lane, l.epoch, l.claimed_until > now()`, numbers, epochs, l.owner, l.term)
	if err != nil {
		return err
	}
	var lane, epoch int64
	var claimed bool
	_, err = pgx.ForEachRow(rows, []any{&lane, &epoch, &claimed}, func() error {
		renewed.epochs[lane] = epoch
		if claimed && lane != l.own {
			renewed.claimed[lane] = true
		}
		return nil
	})
	return err
}

// take takes free lanes. The first is not always the lowest, or two workers
// that start together would want the same.
func (l *lanes) take(ctx context.Context, tx database.Tx, renewed lease, n int) error {
	if n <= 0 {
		return nil
	}
	rows, err := tx.Query(ctx, `
		UPDATE delivery_lane SET owner = $1, epoch = epoch + 1, lease_until = now() + $2::INTERVAL
		WHERE lane IN (
			SELECT lane FROM delivery_lane WHERE lane < $5 AND lease_until < now()
			ORDER BY (lane + $4) % $5 LIMIT $3 FOR UPDATE SKIP LOCKED)
		RETURNING lane, epoch`, l.owner, l.term, n, int64(l.owner[0]), int64(laneCount))
	if err != nil {
		return err
	}
	return collect(rows, renewed.epochs)
}

func collect(rows pgx.Rows, held map[int64]int64) error {
	var lane, epoch int64
	_, err := pgx.ForEachRow(rows, []any{&lane, &epoch}, func() error {
		held[lane] = epoch
		return nil
	})
	return err
}

// free lets others have lanes at once.
func (l *lanes) free(ctx context.Context, tx database.Tx, lanes []int64) error {
	if len(lanes) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `
		UPDATE delivery_lane SET owner = NULL, lease_until = now() - INTERVAL '1 second'
		WHERE lane = ANY($1) AND owner = $2`, lanes, l.owner)
	return err
}

// release frees every lane and takes this worker off the list, so that others
// need not wait for the lease's end.
func (l *lanes) release(ctx context.Context, held lease) error {
	mine := slices.Collect(maps.Keys(held.epochs))
	return l.db.InTx(ctx, database.TxOptions{Idempotent: true}, func(ctx context.Context, tx database.Tx) error {
		if _, err := tx.Exec(ctx, `DELETE FROM delivery_worker WHERE id = $1`, l.owner); err != nil {
			return err
		}
		return l.free(ctx, tx, mine)
	})
}
