package notify

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/card"
	"visavis.dev/pkg/provider/zendesk"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/notice"
)

// desk is a helpdesk that is told of an item.
type desk struct {
	*Teller
	to   *connection.Opened
	item *inbox.Item
	d    details
	// told is the edition that was told last: what is written is marked by it.
	told int64
}

// ticket makes the ticket of an item, or has it follow the item. It answers what the helpdesk knows since, also where it
// failed on the way.
func (t *Teller) ticket(ctx context.Context, to *connection.Opened, n notice.Notice, i *inbox.Item, d details) (notice.Known, error) {
	s := desk{t, to, i, d, n.Told}
	known := n.Known
	contact, words, err := d.said()
	if err != nil {
		return known, err
	}
	account := to.Config.BaseURL(to.Provider)
	if known.Account != account { // what another account has is none of this one's
		known = notice.Known{Account: account}
	}
	if known.External == "" {
		if !i.State.Active() || to.Config.UnansweredAfter() > 0 && answered(i) {
			return known, nil
		}
		if known.External, err = s.open(ctx); err != nil {
			return known, err
		}
		known.State, known.Said = string(inbox.New), contact+words
	}
	notes, err := inbox.Notes(ctx, t.Tenants, to.Org, i.ID)
	if err != nil {
		return known, err
	}
	if at := slices.IndexFunc(notes, func(n inbox.Note) bool { return n.ID == known.Note }); at >= 0 {
		notes = notes[at+1:]
	}
	for { // one comment, unless there are many notes
		some := notes[:min(len(notes), mostNotes)]
		if err := s.change(ctx, known.External, known.State != string(i.State), s.parts(known, some, contact, words)); err != nil {
			return known, err
		}
		known.State, known.Said = string(i.State), contact+words
		if len(some) > 0 {
			known.Note = some[len(some)-1].ID
		}
		if notes = notes[len(some):]; len(notes) == 0 {
			return known, nil
		}
	}
}

// mostNotes is how many notes a comment has, which is bounded there.
const mostNotes = 8

// answered says whether somebody dealt with an item.
func answered(i *inbox.Item) bool { return i.State != inbox.New || i.FirstReplyAt != nil }

// call makes a call of the account. A ticket that is there no more says nothing of the connection.
func (s *desk) call(ctx context.Context, name string, do func(zendesk.Client) error) error {
	return s.report(s.to, name, func() error { return s.to.WithZendesk(ctx, s.Egress, do) })
}

// open finds the ticket of the item, which is there where an answer was lost, or makes it. Whose requester is refused,
// as an address that the account finds wrong, is made without one.
func (s *desk) open(ctx context.Context) (ticket string, err error) {
	key := s.item.ID.String()
	if err := s.call(ctx, "ticket.find", func(c zendesk.Client) (err error) {
		ticket, err = c.Find(ctx, key)
		return err
	}); err != nil || ticket != "" {
		return ticket, err
	}
	wanted := s.opening()
	create := func(key string) error {
		return s.call(ctx, "ticket.create", func(c zendesk.Client) (err error) {
			ticket, err = c.Create(ctx, wanted, key)
			return err
		})
	}
	if err = create(key); refuses(err) && wanted.Requester != nil {
		wanted.Requester = nil
		err = create(key + "-agent")
	}
	return ticket, err
}

// longestSubject is in characters.
const longestSubject = 140

// opening is the ticket as it is made. What it says is for agents alone: nobody is written to.
func (s *desk) opening() zendesk.Ticket {
	c := s.d.card(s.to, s.item)
	tags := append([]string{"visavis", "visavis_" + string(s.item.Kind)}, s.to.Config.Texts("tags")...)
	t := zendesk.Ticket{
		Subject: card.Cut(c.Line(), longestSubject), ExternalID: s.item.ID.String(), Priority: s.item.Urgency, Tags: tags,
		Group:   s.to.Config.Whole("groupId", 0),
		Comment: &zendesk.Comment{Body: strings.Join(slices.Concat([]string{c.Title, ""}, lines(c)), "\n")},
	}
	if k := s.d.contact; k != nil && k.Email != nil {
		name := card.Cut(card.Clean(text(k.Name)), longestFact)
		if name == "" {
			name = *k.Email
		}
		t.Requester = &zendesk.Requester{Name: name, Email: *k.Email}
	}
	return t
}

// lines are a card as plain text.
func lines(c card.Card) (all []string) {
	for _, f := range slices.Concat(c.Facts, c.Texts) {
		all = append(all, f.Name+": "+f.Value)
	}
	if c.Link != "" {
		all = append(all, "", c.Link)
	}
	return append(all, "", c.Note)
}

// part is something that is written to a ticket, and the mark by which it is known again.
type part struct{ mark, text string }

// parts are what is to be written since what the helpdesk knows: another state, notes, and details that are new. What was
// forgotten since is no news.
func (s *desk) parts(known notice.Known, notes []inbox.Note, contact, words string) (all []part) {
	state := string(s.item.State)
	if known.State != state {
		all = append(all, part{s.mark(fmt.Sprintf("%d-%s", s.told, state)), "State: " + state})
	}
	for _, n := range notes {
		text := "Note: " + card.Clean(n.Text)
		if n.Channel != nil {
			text = "Written to the visitor: " + card.Clean(n.Text)
		}
		all = append(all, part{s.mark(n.ID.String()), text})
	}
	changed := card.Card{}
	if !strings.HasPrefix(known.Said, contact) && s.d.contact != nil {
		changed.Facts = s.d.facts(s.item)
	}
	if !strings.HasSuffix(known.Said, words) {
		changed.Texts = s.d.texts()
	}
	if len(changed.Facts)+len(changed.Texts) > 0 {
		all = append(all, part{s.mark(fmt.Sprintf("%d-%s%s", s.told, contact[:8], words[:8])), strings.TrimSpace(strings.Join(lines(changed), "\n"))})
	}
	return all
}

// mark tells what is written from anything else in the ticket.
func (s *desk) mark(what string) string { return s.item.ID.String() + "/" + what }

// statuses are those of tickets by the states of items; others leave them as they are.
var statuses = map[inbox.State]string{
	inbox.Open: "open", inbox.Waiting: "pending", inbox.Done: "solved", inbox.Won: "solved", inbox.Lost: "solved", inbox.Spam: "solved",
}

// change writes parts to a ticket, each once, and gives it the item's status where the state is another. A status that the account does not
// take, as solved without somebody who did, is written as words alone. A ticket that was deleted there stays so.
func (s *desk) change(ctx context.Context, ticket string, moved bool, parts []part) error {
	if len(parts) == 0 {
		return nil
	}
	fresh, err := s.unwritten(ctx, ticket, parts)
	if absent(err) || err == nil && len(fresh) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	change := zendesk.Ticket{Comment: &zendesk.Comment{Body: bodyOf(fresh)}}
	if moved {
		change.Status = statuses[s.item.State]
	}
	update := func() error {
		return s.call(ctx, "ticket.update", func(c zendesk.Client) error { return c.Update(ctx, ticket, change) })
	}
	if err = update(); refuses(err) && change.Status != "" {
		change.Status = ""
		err = update()
	}
	if absent(err) {
		return nil
	}
	return err
}

// bodyOf is a comment of parts, with the marks by which they are known again.
func bodyOf(parts []part) string {
	var texts, marks []string
	for _, p := range parts {
		texts, marks = append(texts, p.text), append(marks, p.mark)
	}
	return strings.Join(texts, "\n\n") + "\n\n" + strings.Join(marks, " ")
}

// unwritten are the parts that no comment has: an answer may have been lost.
func (s *desk) unwritten(ctx context.Context, ticket string, parts []part) ([]part, error) {
	var comments []string
	err := s.call(ctx, "ticket.comments", func(c zendesk.Client) (err error) {
		comments, err = c.Comments(ctx, ticket)
		return err
	})
	all := strings.Join(comments, "\n")
	return slices.DeleteFunc(slices.Clone(parts), func(p part) bool { return strings.Contains(all, p.mark) }), err
}
