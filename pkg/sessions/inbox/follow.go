package inbox

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/sessions/notice"
	"visavis.dev/pkg/store/tenant"
)

// Followed is the input of a job that writes an item into a connected CRM.
type Followed struct {
	Connection id.Connection `json:"connectionId"`
	Item       id.InboxItem  `json:"itemId"`
}

// follow has an item that is new or changed written into the organization's CRMs, with the commit.
// What is written is read when it is.
func (i *Item) follow(ctx context.Context, tx *tenant.Tx, at time.Time) error {
	if err := i.notify(ctx, tx, at); err != nil || i.Kind == Handoff {
		return err
	}
	if i.ForgottenAt != nil {
		if err := connection.ForgetLinks(ctx, tx, i.ID); err != nil {
			return err
		}
	}
	followers, err := connection.Followers(ctx, tx, connection.CRM)
	if err != nil {
		return err
	}
	for _, c := range followers {
		if c == i.from {
			continue
		}
		if err := send(ctx, tx, c, i.ID, i.Portal, at); err != nil {
			return err
		}
	}
	return nil
}

// notify has the organization's chats and helpdesks told of an item, with the commit. They know nothing more of
// visitors who are forgotten.
func (i *Item) notify(ctx context.Context, tx *tenant.Tx, at time.Time) error {
	told := notice.Item{ID: i.ID, Kind: string(i.Kind), Edition: i.Edition, Portal: i.Portal}
	switch {
	case i.ForgottenAt != nil:
		return notice.Forget(ctx, tx, i.ID)
	case i.Edition == 1:
		return notice.Begin(ctx, tx, told, at)
	}
	return notice.Follow(ctx, tx, told, at)
}

// FollowChanged has items written again into a CRM of which another edition than theirs was
// written: they changed, or were forgotten, meanwhile. It answers those that were forgotten, and holds the rows, so that what changes
// after it finds what its caller saves. It rides inbox_item_pkey.
func FollowChanged(ctx context.Context, tx *tenant.Tx, c id.Connection, written map[id.InboxItem]int64, at time.Time) (forgotten []id.InboxItem, err error) {
	if len(written) == 0 {
		return nil, nil
	}
	type held struct {
		ID          id.InboxItem
		Portal      id.Portal
		Edition     int64
		ForgottenAt *time.Time
	}
	items, err := tenant.AllIn(ctx, tx, pgx.RowToStructByPos[held], `
		SELECT id, portal_id, edition, forgotten_at FROM inbox_item WHERE org_id = $1 AND id = ANY($2) ORDER BY id FOR SHARE`,
		tx.Org, slices.Collect(maps.Keys(written)))
	if err != nil {
		return nil, err
	}
	for _, i := range items {
		if i.Edition == written[i.ID] {
			continue
		}
		if i.ForgottenAt != nil {
			forgotten = append(forgotten, i.ID)
		}
		if err := send(ctx, tx, c, i.ID, i.Portal, at); err != nil {
			return nil, err
		}
	}
	return forgotten, nil
}

// send queues the writing of an item.
func send(ctx context.Context, tx *tenant.Tx, c id.Connection, which id.InboxItem, p id.Portal, at time.Time) error {
	_, err := job.Insert(ctx, tx, job.Job{
		ID: id.NewJob(), Kind: job.CRMSend, ResourceKind: "inbox_item", ResourceID: which.String(), Portal: p, Connection: c,
		Scope: scope.InboxRead, CreatedBy: platform, CreatedAt: at,
	}, Followed{c, which})
	return err
}
