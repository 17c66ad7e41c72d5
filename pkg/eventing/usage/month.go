package usage

import (
	"context"
	"strconv"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/store/tenant"
)

// number is a number that is part of a row's key.
type number int64

func (n number) String() string { return strconv.FormatInt(int64(n), 10) }

// day is a date that is part of a row's key.
type day time.Time

func (d day) String() string { return time.Time(d).Format(time.DateOnly) }

// lockMonth reads what a month used and keeps it from changing until the commit.
func lockMonth(ctx context.Context, tx *tenant.Tx, at time.Time) (used int64, err error) {
	month, _ := Month(at)
	tx.Touch("usage_month", day(month))
	if _, err := tx.Exec(ctx, `
		INSERT INTO usage_month (org_id, month, seconds) VALUES ($1, $2, 0)
		ON CONFLICT (org_id, month) DO NOTHING`, tx.Org, month); err != nil {
		return 0, err
	}
	err = tx.QueryRow(ctx, `SELECT seconds FROM usage_month WHERE org_id = $1 AND month = $2 FOR UPDATE`, tx.Org, month).Scan(&used)
	return used, err
}

// addToMonth counts seconds to the month of a moment; a negative number takes back.
func addToMonth(ctx context.Context, tx *tenant.Tx, at time.Time, seconds int64) error {
	month, _ := Month(at)
	tx.Touch("usage_month", day(month))
	_, err := tx.Exec(ctx, `UPDATE usage_month SET seconds = seconds + $3 WHERE org_id = $1 AND month = $2`, tx.Org, month, seconds)
	return err
}

// The kinds of thresholds: of the minutes held, and of the month's cap.
const (
	Held = "held"
	Cap  = "cap"
)

// Percents are the shares of the minutes held, or of the month's cap, at which
// what is left is warned of.
var Percents = []int64{20, 10, 0}

// Threshold is a warning that was given in a month.
type Threshold struct {
	// Kind is Held or Cap.
	Kind      string
	Percent   int64
	ReachedAt time.Time
}

// QueueReached reads the warnings of a moment's month among other reads.
func QueueReached(r *tenant.Reads, org id.Org, at time.Time, into *[]Threshold) {
	month, _ := Month(at)
	r.Query(collect(into), `
		SELECT kind, percent, reached_at FROM usage_threshold
		WHERE org_id = $1 AND month = $2 ORDER BY kind, percent DESC`, org, month)
}

// warn tells the warnings that a debit causes: each once a month.
func warn(ctx context.Context, tx *tenant.Tx, b Block, paid, monthS int64, a account, m Means) error {
	add := func(kind string, left, all int64) error {
		for _, percent := range Percents {
			if all <= 0 || left*100 > percent*all {
				continue
			}
			first, err := firstTime(ctx, tx, kind, percent, b)
			if err != nil {
				return err
			}
			if first {
				event.Emit(tx, warning(kind, percent, b, monthS+paid, a.leftS-paid, a.heldS, m))
			}
		}
		return nil
	}
	if !m.Unlimited {
		if err := add(Held, a.leftS-paid, a.heldS); err != nil {
			return err
		}
	}
	if m.CapS != nil {
		return add(Cap, *m.CapS-monthS-paid, *m.CapS)
	}
	return nil
}

// firstTime notes a warning; it is false when it was given before.
func firstTime(ctx context.Context, tx *tenant.Tx, kind string, percent int64, b Block) (bool, error) {
	month, _ := Month(b.At)
	tag, err := tx.Exec(ctx, `
		INSERT INTO usage_threshold (org_id, month, kind, percent, reached_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (org_id, month, kind, percent) DO NOTHING`, tx.Org, month, kind, percent, b.PaidAt)
	if err == nil && tag.RowsAffected() > 0 {
		tx.Touch("usage_threshold", day(month), text(kind), number(percent))
	}
	return tag.RowsAffected() > 0, err
}

// text is a string that is part of a row's key.
type text string

func (t text) String() string { return string(t) }

// warning is the event usage.threshold. Its counts are minutes.
func warning(kind string, percent int64, b Block, usedS, leftS, heldS int64, m Means) event.Draft {
	from, to := Month(b.At)
	fields := map[string]any{
		"threshold": percent, "kind": kind, "minutesUsed": minutes(usedS), "periodStart": from, "periodEnd": to,
	}
	if !m.Unlimited {
		fields["minutesLeft"], fields["minutesHeld"] = minutes(leftS), minutes(heldS)
	}
	if m.CapS != nil {
		fields["monthlyCapMinutes"] = minutes(*m.CapS)
	}
	return event.Draft{Type: event.UsageThreshold, At: b.PaidAt, Fields: fields}
}

// minutes are seconds as minutes, to the hundredth, as GET /usage has them.
func minutes(seconds int64) float64 { return float64((seconds*100+30)/60) / 100 }
