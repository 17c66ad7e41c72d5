package widget

import (
	"context"
	"errors"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

// Visit finds a widget for a page of an origin that shows it with a public
// key, and whose it is; what the organization set for all of them it says too.
// Whatever is wrong, the error is errdefs.NotFound.
func Visit(ctx context.Context, t *tenant.Tenants, which id.Widget, key PublicKey, origin string) (id.Org, Widget, error) {
	org, w, err := Shown(ctx, t, which, key)
	if err == nil && !w.Definition.Allows(origin) {
		return org, Widget{}, Noun.NotFound(which)
	}
	return org, w, err
}

// Shown is Visit for what pages show without saying which they are.
func Shown(ctx context.Context, t *tenant.Tenants, which id.Widget, key PublicKey) (id.Org, Widget, error) {
	org, ok := key.Org()
	if !ok {
		return org, Widget{}, Noun.NotFound(which)
	}
	var (
		found []Widget
		set   setting.Values
	)
	err := t.Read(ctx, org, func(r *tenant.Reads) {
		queueGet(r, org, which, &found)
		setting.QueueValues(r, org, setting.Place{}, &set)
	})
	w, err := one(which, found, err)
	switch {
	case errors.Is(err, directory.ErrUnknown), errdefs.IsGone(err, Noun):
		return org, Widget{}, Noun.NotFound(which)
	case err != nil:
		return org, Widget{}, err
	case w.PublicKey != key || !w.Enabled || !set.On(setting.Widgets):
		return org, Widget{}, Noun.NotFound(which)
	}
	w.Definition.AINotice = w.Definition.AINotice || set.On(setting.AINotice)
	return org, w, nil
}

// seenEvery is how exactly it is noted when a widget was seen: visits are many,
// and each note is a write.
const seenEvery = time.Hour

// Seen notes that a page loaded a widget that Visit found.
func Seen(ctx context.Context, t *tenant.Tenants, org id.Org, w Widget, now time.Time) error {
	if w.LastSeenAt != nil && now.Sub(*w.LastSeenAt) < seenEvery {
		return nil
	}
	return t.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		tx.Touch("widget", w.ID)
		_, err := tx.Exec(ctx, `
			UPDATE widget SET last_seen_at = $3 WHERE org_id = $1 AND id = $2 AND (last_seen_at IS NULL OR last_seen_at < $4)`,
			org, w.ID, now, now.Add(-seenEvery))
		return err
	}, tenant.Idempotent(true))
}
