package widget

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// ErrVisits says that a visitor had as many sessions today as the widget's caps
// allow.
var ErrVisits = errors.New("the visitor's sessions of today are used up")

// Visitors tell visitors apart without knowing them: of an address nothing is
// kept but a hash that nobody can undo without the deployment's secret.
type Visitors struct{ secret []byte }

// NewVisitors makes Visitors of a secret of NewVisitorSecret.
func NewVisitors(secret []byte) Visitors { return Visitors{secret} }

// NewVisitorSecret makes a secret.
func NewVisitorSecret() []byte {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails: the program ends instead
	return secret
}

// Visitor is an address's mark at an organization on one day: another
// organization, and the next day, have another.
type Visitor []byte

// String is the mark as part of a row's key.
func (v Visitor) String() string { return hex.EncodeToString(v) }

// Mark is the mark of an address on the day (UTC) of a moment.
func (v Visitors) Mark(org id.Org, address string, now time.Time) Visitor {
	ofOrg := hmac.New(sha256.New, v.secret)
	ofOrg.Write(org[:])
	mark := hmac.New(sha256.New, ofOrg.Sum(nil))
	mark.Write([]byte(today(now).Format(time.DateOnly) + " " + address))
	return mark.Sum(nil)
}

// today is the day (UTC) of a moment.
func today(now time.Time) time.Time { return now.UTC().Truncate(24 * time.Hour) }

// date is a day as part of a row's key.
type date time.Time

func (d date) String() string { return time.Time(d).Format(time.DateOnly) }

// CountVisit counts a session of a visitor at the widget. Where its caps allow
// any number, nothing is counted. The error can be ErrVisits. A session counts
// whether or not its client comes: it had its place meanwhile.
func CountVisit(ctx context.Context, tx *tenant.Tx, w Widget, v Visitor, now time.Time) error {
	most := w.Definition.Caps.SessionsPerVisitorPerDay
	if most == nil {
		return nil
	}
	tx.Touch("widget_visitor", w.ID, date(today(now)), v)
	var sessions int64
	err := tx.QueryRow(ctx, `
		INSERT INTO widget_visitor AS v (org_id, widget_id, day, visitor, sessions) VALUES ($1, $2, $3, $4, 1)
		ON CONFLICT (org_id, widget_id, day, visitor) DO UPDATE SET sessions = v.sessions + 1 WHERE v.sessions < $5
		RETURNING sessions`, tx.Org, w.ID, today(now), []byte(v), *most).Scan(&sessions)
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrVisits
	}
	return err
}

// SweepVisitors forgets the visitors of the days before. It rides
// widget_visitor_by_day.
func SweepVisitors(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	return t.SweepRows(ctx, shard, `
		DELETE FROM widget_visitor WHERE (org_id, widget_id, day, visitor) IN (
			SELECT v.org_id, v.widget_id, v.day, v.visitor FROM widget_visitor v
			JOIN org_fence f ON f.org_id = v.org_id AND f.state = 'open'
			WHERE v.day < $1 LIMIT 1000)`, today(now))
}
