package notify

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/provider/zendesk"
	"visavis.dev/pkg/sessions/exchange"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/notice"
	"visavis.dev/pkg/store/tenant"
)

const (
	// mostCalls is how many tickets are looked into at once, each by a call of its own or more: an account may allow few in a minute.
	mostCalls = 25
	// restOf is how long the account is left alone after each of those.
	restOf = 300 * time.Millisecond
	// mostReplies is how many replies are taken of a ticket at once; no further ticket is looked into with so many.
	mostReplies = 50
	// mostFaults is how many tickets in a row are tried of which the account cannot say how far they are, until it counts as failing.
	mostFaults = 4
	// settled is how long after a change a ticket is looked into again: the helpdesk's clock shows whole seconds, and is not ours.
	settled = time.Minute
)

// Pass is the pass through a helpdesk's tickets, oldest items first: what agents made of them since is taken back. What there is to be written
// is other jobs'.
func (t *Teller) Pass(ctx context.Context, org id.Org, o exchange.Order, at exchange.Place) (exchange.Page, error) {
	found, err := notice.Ticketed(ctx, t.Tenants, org, o.Connection, at.After, zendesk.MaxTickets)
	page := exchange.Page{Items: int64(len(found)), More: len(found) == zendesk.MaxTickets}
	if len(found) > 0 {
		page.Last = found[len(found)-1].Item
	}
	page.Do = func(ctx context.Context, to *connection.Opened) (exchange.Did, error) {
		r := reading{Teller: t, to: to, counts: map[string]int64{}, began: t.Clock.Now(), at: at}
		done, err := r.read(ctx, found, !o.Linked)
		d := exchange.Did{
			Settled: to.SettledAt, Counts: r.counts, Again: r.counts[exchange.Taken], Keep: r.keep, Rest: time.Duration(r.calls) * restOf,
		}
		if err != nil && upstream.CodeOf(err) != "" && done > 1 { // what was read is not read again; the next step meets what failed first
			done, err = done-1, nil
		}
		if err != nil && r.alone {
			d.Failed = found[0].Item
		}
		if done < len(found) && err == nil {
			d.Items, d.Last = int64(done), found[done-1].Item
		}
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
	began  time.Time
	taken  []taken
	counts map[string]int64
	// calls is how many tickets were looked into, and replies how many replies they had.
	calls, replies int
	// at is where the pass is, and alone says that one ticket fails where the account answers otherwise.
	at    exchange.Place
	alone bool
	// answered says that the account said how far some tickets are, fault how it failed to last, and faults of how many tickets since it said it of any.
	answered bool
	fault    error
	faults   int
}

// taken is what became of a ticket.
type taken struct {
	notice.Notice
	standing zendesk.Standing
	replies  []zendesk.Reply
	// read is how far it was read by that.
	read notice.Read
}

// states are those of items by the statuses of tickets; a new one says nothing.
var states = map[string]inbox.State{
	"open": inbox.Open, "pending": inbox.Waiting, "hold": inbox.Waiting, "solved": inbox.Done, "closed": inbox.Done,
}

// read reads how far tickets are, and what was written in those that changed, or in all. It answers how many of them it came through.
func (r *reading) read(ctx context.Context, all []notice.Notice, whole bool) (done int, err error) {
	account := r.to.Config.BaseURL(r.to.Provider)
	var which []string
	for _, n := range all {
		if n.Known.Account == account {
			which = append(which, n.Known.External)
		}
	}
	if len(which) == 0 {
		r.counts[exchange.Skipped] += int64(len(all))
		return len(all), nil
	}
	found, unread, err := r.standings(ctx, which)
	if err == nil && !r.answered {
		err, r.alone = r.fault, r.fault != nil // those few fail, and one after another is set aside
	}
	for _, n := range all {
		if err != nil || r.calls >= mostCalls || r.replies >= mostReplies {
			break
		}
		standing, there := found[n.Known.External]
		switch {
		case n.Known.Account != account, there && standing.ExternalID != n.Item.String(): // it is somebody else's
			r.counts[exchange.Skipped]++
		case unread[n.Known.External] != "":
			r.counts[unread[n.Known.External]]++
		case !there:
			r.counts[exchange.Gone]++
		default:
			err = r.one(ctx, taken{Notice: n, standing: standing}, whole)
			r.alone = fails(err)
		}
		done++
	}
	said := err
	if r.alone && (r.calls > 1 || r.at.Aside == 0) { // one ticket says nothing of the connection, several after another do
		said = nil
	}
	r.note(r.to, "sync.read", r.began, said)
	return done, err
}

// standings reads how far tickets are. What is too large for an answer, or has the account fail, is asked for in parts; what is so alone is not read, and
// answered with what it counts as. Where several in a row fail, or it asks for patience, it is the account that fails.
func (r *reading) standings(ctx context.Context, which []string) (found map[string]zendesk.Standing, unread map[string]string, err error) {
	err = r.to.WithZendesk(ctx, r.Egress, func(c zendesk.Client) (err error) {
		found, err = c.Tickets(ctx, which)
		return err
	})
	as := exchange.Skipped
	switch {
	case err == nil:
		r.answered, r.faults = true, 0
		return found, nil, nil
	case faulty(err):
		as, r.fault = exchange.Failed, err
	case !errors.Is(err, egress.ErrTooLarge):
		return nil, nil, err
	}
	if len(which) == 1 {
		if as == exchange.Failed {
			r.faults++
		}
		if r.faults >= mostFaults {
			return nil, nil, r.fault
		}
		return nil, map[string]string{which[0]: as}, nil
	}
	found, unread = map[string]zendesk.Standing{}, map[string]string{}
	for _, part := range [][]string{which[:len(which)/2], which[len(which)/2:]} {
		some, not, err := r.standings(ctx, part)
		if err != nil {
			return nil, nil, err
		}
		maps.Copy(found, some)
		maps.Copy(unread, not)
	}
	return found, unread, nil
}

// faulty says whether an error can be that of some of the tickets that were asked for at once: an account that is away says so of itself.
func faulty(err error) bool {
	failed, ok := errors.AsType[*upstream.Error](err)
	return ok && failed.Status >= http.StatusInternalServerError && failed.Status != http.StatusServiceUnavailable && failed.RetryAfter == 0
}

// one reads what was written in a ticket. Of one that was made while nothing was taken back it is noted how far it is, and nothing is
// taken: what was written before is old, and can have been deleted here. One that cannot be read stands in no other's way.
func (r *reading) one(ctx context.Context, t taken, whole bool) error {
	t.read = notice.Read{Comment: t.Read.Comment, Seen: t.standing.UpdatedAt}
	if at, err := time.Parse(time.RFC3339, t.read.Seen); err == nil && r.began.Sub(at) < settled {
		t.read.Seen = "" // it can change again by the same time
	}
	first := t.Known.Status == "" && t.Read == (notice.Read{})
	if first || whole || t.standing.UpdatedAt != t.Read.Seen || t.standing.UpdatedAt == "" {
		r.calls++
		err := r.to.WithZendesk(ctx, r.Egress, func(c zendesk.Client) (err error) {
			if first {
				t.read.Comment, err = c.LastComment(ctx, t.Known.External)
			} else {
				t.replies, t.read.Comment, err = c.Replies(ctx, t.Known.External, t.Read.Comment)
			}
			return err
		})
		switch {
		case absent(err):
			r.counts[exchange.Gone]++
			return nil
		case unreadable(err):
			r.counts[exchange.Skipped]++
			return nil
		case err != nil:
			return err
		}
	}
	t.replies = slices.DeleteFunc(t.replies, func(p zendesk.Reply) bool {
		return p.Agent && !t.standing.EndUser || !p.Agent && p.Author != t.standing.Requester || p.Text == ""
	})
	if len(t.replies) > mostReplies {
		t.replies = t.replies[:mostReplies]
		t.read = notice.Read{Comment: t.replies[mostReplies-1].ID}
	}
	r.replies += len(t.replies)
	changed := len(t.replies) > 0 || t.turned()
	if changed {
		r.counts[exchange.Taken]++
	} else {
		r.counts[exchange.Unchanged]++
	}
	if changed || t.read != t.Read || t.standing.Status != t.Known.Status {
		r.taken = append(r.taken, t)
	}
	return nil
}

// unreadable says whether an error is one ticket's, where others could be read: whoever asks may not read it, or its answer makes no sense.
func unreadable(err error) bool {
	return errors.Is(err, upstream.ErrMalformed) || errors.Is(err, upstream.ErrRejected) || upstream.StatusOf(err) == http.StatusForbidden
}

// fails says whether an error is the account's, or one ticket's where it alone has it.
func fails(err error) bool {
	return errors.Is(err, upstream.ErrUnavailable) || errors.Is(err, upstream.ErrTimeout) || errors.Is(err, upstream.ErrTruncated)
}

// turned says whether the ticket is further than it was: what it was at first is known once it was read.
func (t *taken) turned() bool {
	return t.Known.Status != "" && t.Known.Status != t.standing.Status && states[t.standing.Status] != ""
}

// keep takes back what became of tickets. Their items are locked before anything else is, in their order, as everybody locks them.
func (r *reading) keep(ctx context.Context, tx *tenant.Tx, now time.Time) error {
	for _, t := range r.taken {
		if _, err := inbox.Lock(ctx, tx, t.Item); err != nil && !errdefs.IsNotFound(err, inbox.Noun) {
			return err
		}
	}
	for _, t := range r.taken {
		if err := r.take(ctx, tx, &t, now); err != nil {
			return err
		}
	}
	return nil
}

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
	n.Read = t.read
	for _, reply := range t.replies {
		later, err := r.takeReply(ctx, tx, &item, reply, now)
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
// written. What is spam stays so.
func (r *reading) takeStatus(ctx context.Context, tx *tenant.Tx, t *taken, n *notice.Notice, before inbox.State, now time.Time) error {
	item, err := inbox.Lock(ctx, tx, t.Item)
	if err != nil {
		return err
	}
	state := states[t.standing.Status]
	if state == inbox.Done && !item.State.Active() { // it is over in a way of its own
		state = item.State
	}
	again := item.State != before && string(before) == n.Known.State && state != "" && t.sinceReplies() // an agent gave it the same anew
	switch {
	case item.State == inbox.Spam, !t.turned() && !again:
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

// sinceReplies says whether the ticket's status is read as it is since the replies that were read.
func (t *taken) sinceReplies() bool {
	changed, err := time.Parse(time.RFC3339, t.standing.UpdatedAt)
	return err == nil && len(t.replies) > 0 && !t.replies[len(t.replies)-1].At.After(changed)
}

// takeReply adds a reply to the item, and says whether it is to be taken later.
func (r *reading) takeReply(ctx context.Context, tx *tenant.Tx, i *inbox.Item, reply zendesk.Reply, now time.Time) (later bool, err error) {
	written := now // as it is where that is not told
	switch {
	case reply.At.IsZero() || reply.At.After(now):
	case reply.At.Before(i.CreatedAt): // its clock is another
		written = i.CreatedAt
	default:
		written = reply.At
	}
	if reply.Agent {
		err = inbox.TakeReply(ctx, tx, i.ID, reply.Text, r.to.ID, written, now)
	} else {
		_, err = inbox.Receive(ctx, tx, i.ID, inbox.Received{
			MessageID: "ticket:" + r.to.ID.String() + ":" + strconv.FormatInt(reply.ID, 10), Text: reply.Text, At: now, Written: written, From: r.to.ID,
		})
	}
	if conflict, ok := errors.AsType[*errdefs.Conflict](err); ok {
		return conflict.Reason == inbox.ReasonOften, nil // else it takes no more
	}
	return false, err
}
