package notify

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/card"
	"visavis.dev/pkg/provider/zendesk"
	"visavis.dev/pkg/sessions/exchange"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/notice"
	"visavis.dev/pkg/store/tenant"
)

// ticketsPage is how many tickets are read at once: each can take a call of its own, and an account may allow few in a minute.
const ticketsPage = 25

// Pass is the pass through a helpdesk's tickets, oldest items first: what agents made of them since is taken back. What there is to be written
// is other jobs'.
func (t *Teller) Pass(ctx context.Context, org id.Org, o exchange.Order, after id.InboxItem) (exchange.Page, error) {
	found, err := notice.Ticketed(ctx, t.Tenants, org, o.Connection, after, ticketsPage)
	page := exchange.Page{Items: int64(len(found)), More: len(found) == ticketsPage}
	if len(found) > 0 {
		page.Last = found[len(found)-1].Item
	}
	page.Do = func(ctx context.Context, to *connection.Opened) (exchange.Did, error) {
		r := reading{Teller: t, to: to, counts: map[string]int64{}}
		err := r.read(ctx, found, !o.Linked)
		d := exchange.Did{Settled: to.SettledAt, Counts: r.counts, Again: r.counts[exchange.Taken], Keep: r.keep}
		if o.DryRun {
			d.Keep = func(context.Context, *tenant.Tx, time.Time) error { return nil }
		}
		return d, err
	}
	return page, err
}

// reading is a page of tickets on its way.
type reading struct {
	*Teller
	to     *connection.Opened
	taken  []taken
	counts map[string]int64
}

// taken is what became of a ticket.
type taken struct {
	notice.Notice
	standing zendesk.Standing
	replies  []zendesk.Reply
	last     int64
}

// states are those of items by the statuses of tickets; a new one says nothing.
var states = map[string]inbox.State{
	"open": inbox.Open, "pending": inbox.Waiting, "hold": inbox.Waiting, "solved": inbox.Done, "closed": inbox.Done,
}

// read reads how far tickets are, and what was written in those that changed, or in all.
func (r *reading) read(ctx context.Context, all []notice.Notice, whole bool) error {
	account := r.to.Config.BaseURL(r.to.Provider)
	var which []string
	for _, n := range all {
		if n.Known.Account == account {
			which = append(which, n.Known.External)
		}
	}
	if len(which) == 0 {
		r.counts[exchange.Skipped] += int64(len(all))
		return nil
	}
	began := r.Clock.Now()
	var found map[string]zendesk.Standing
	err := r.to.WithZendesk(ctx, r.Egress, func(c zendesk.Client) (err error) {
		found, err = c.Tickets(ctx, which)
		return err
	})
	for _, n := range all {
		if err != nil {
			break
		}
		standing, there := found[n.Known.External]
		switch {
		case n.Known.Account != account, there && standing.ExternalID != n.Item.String(): // it is somebody else's
			r.counts[exchange.Skipped]++
		case !there:
			r.counts[exchange.Gone]++
		default:
			err = r.one(ctx, taken{Notice: n, standing: standing, last: n.Read.Comment}, whole)
		}
	}
	r.note(r.to, "sync.read", began, err)
	return err
}

// one reads what was written in a ticket. Of one that was made while nothing was taken back it is noted how far it is, and nothing is
// taken: what was written before is old, and can have been deleted here.
func (r *reading) one(ctx context.Context, t taken, whole bool) error {
	err := r.to.WithZendesk(ctx, r.Egress, func(c zendesk.Client) (err error) {
		switch {
		case t.Known.Status == "" && t.Read == (notice.Read{}):
			t.last, err = c.LastComment(ctx, t.Known.External)
		case whole || t.standing.UpdatedAt != t.Read.Seen || t.standing.UpdatedAt == "":
			t.replies, t.last, err = c.Replies(ctx, t.Known.External, t.Read.Comment)
		}
		return err
	})
	if absent(err) {
		r.counts[exchange.Gone]++
		return nil
	}
	if err != nil {
		return err
	}
	t.replies = slices.DeleteFunc(t.replies, func(p zendesk.Reply) bool {
		return !p.Agent && p.Author != t.standing.Requester || card.Clean(p.Text) == ""
	})
	if len(t.replies) > 0 || t.turned() {
		r.counts[exchange.Taken]++
	} else {
		r.counts[exchange.Unchanged]++
	}
	r.taken = append(r.taken, t)
	return nil
}

// turned says whether the ticket is further than it was: what it was at first is known once it was read.
func (t *taken) turned() bool {
	return t.Known.Status != "" && t.Known.Status != t.standing.Status && states[t.standing.Status] != ""
}

// keep takes back what became of tickets.
func (r *reading) keep(ctx context.Context, tx *tenant.Tx, now time.Time) error {
	for _, t := range r.taken { // in the order of their items, as everybody locks them
		if err := r.take(ctx, tx, &t, now); err != nil {
			return err
		}
	}
	return nil
}

// longestReply bounds what is taken of a reply, in characters.
const longestReply = 10_000

// take takes back what became of a ticket, as far as nobody else did meanwhile.
func (r *reading) take(ctx context.Context, tx *tenant.Tx, t *taken, now time.Time) error {
	item, err := inbox.Lock(ctx, tx, t.Item)
	if errdefs.IsNotFound(err, inbox.Noun) || err == nil && item.ForgottenAt != nil {
		return nil
	}
	if err != nil {
		return err
	}
	n, err := notice.Lock(ctx, tx, t.Key)
	switch {
	case errdefs.IsNotFound(err, notice.Noun):
		return nil
	case err != nil:
		return err
	case n.Read != t.Read || n.Known.External != t.Known.External || n.Known.Account != t.Known.Account:
		return nil // somebody else read it
	}
	n.Read = notice.Read{Comment: t.last, Seen: t.standing.UpdatedAt}
	for _, reply := range t.replies {
		later, err := r.takeReply(ctx, tx, t, reply, now)
		if err != nil {
			return err
		}
		if later {
			n.Read = notice.Read{Comment: reply.ID - 1}
			break
		}
	}
	if n.Known == t.Known { // else it was written to meanwhile, and its status is compared again
		if err := r.takeStatus(ctx, tx, t, &n, item.State, now); err != nil {
			return err
		}
	} else {
		n.Read.Seen = ""
	}
	return notice.Keep(ctx, tx, n)
}

// takeStatus gives an item the state that its ticket's status stands for, unless its own was another than it was told before: that is
// written.
func (r *reading) takeStatus(ctx context.Context, tx *tenant.Tx, t *taken, n *notice.Notice, before inbox.State, now time.Time) error {
	item, err := inbox.Lock(ctx, tx, t.Item)
	if err != nil {
		return err
	}
	state := states[t.standing.Status]
	if state == inbox.Done && !item.State.Active() { // it is over in a way of its own
		state = item.State
	}
	switch {
	case !t.turned():
		n.Known.Status = cmp.Or(t.standing.Status, n.Known.Status)
		return nil
	case state != item.State && string(before) != n.Known.State:
		return nil
	}
	meant, _ := item.With(inbox.Returned{State: state})
	after, err := inbox.TakeBack(ctx, tx, item, inbox.Returned{State: state}, r.to.ID, now)
	n.Known.State, n.Known.StateEdition, n.Known.Status = string(meant.State), after.Edition, t.standing.Status
	return err
}

// takeReply adds a reply to the item, and says whether it is to be taken later.
func (r *reading) takeReply(ctx context.Context, tx *tenant.Tx, t *taken, reply zendesk.Reply, now time.Time) (later bool, err error) {
	text := card.Cut(card.Clean(reply.Text), longestReply)
	if reply.Agent {
		err = inbox.TakeReply(ctx, tx, t.Item, text, r.to.ID, now)
	} else {
		_, err = inbox.Receive(ctx, tx, t.Item, inbox.Received{
			MessageID: "ticket:" + r.to.ID.String() + ":" + strconv.FormatInt(reply.ID, 10), Text: text, At: now, From: r.to.ID,
		})
	}
	if conflict, ok := errors.AsType[*errdefs.Conflict](err); ok {
		return conflict.Reason == inbox.ReasonOften, nil // else it takes no more
	}
	return false, err
}
