package notify

import (
	"cmp"
	"context"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"visavis.dev/pkg/base/id"
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
	// contact and words tell the details from others.
	contact, words string
	// told is the item's edition that was told last; 0 for none.
	told int64
	// last is the last call that was made.
	last call
}

// call is a call of the account, and how it went.
type call struct {
	name  string
	began time.Time
	err   error
}

// ticket makes the ticket of an item, or has it follow the item. It answers what the helpdesk knows since, also where it
// failed on the way. However many calls that takes, it says one thing of the connection: a search that goes well before
// every ticket that fails would have it work and fail by turns.
func (t *Teller) ticket(ctx context.Context, to *connection.Opened, n notice.Notice, i *inbox.Item, d details) (notice.Known, error) {
	s := desk{Teller: t, to: to, item: i, d: d, told: n.Told}
	var err error
	if s.contact, s.words, err = d.said(); err != nil {
		return n.Known, err
	}
	known, err := s.follow(ctx, n.Known)
	if s.last.name == "" || absent(s.last.err) || s.last.name == update && refuses(s.last.err) {
		return known, err // the ticket's, and not the connection's
	}
	t.note(to, s.last.name, s.last.began, s.last.err)
	return known, err
}

// follow has the helpdesk know what it does not.
func (s *desk) follow(ctx context.Context, known notice.Known) (notice.Known, error) {
	account := s.to.Config.BaseURL(s.to.Provider)
	if known.Account != account { // what another account has is none of this one's
		known = notice.Known{Account: account}
	}
	var (
		comments []string
		made     bool
		err      error
	)
	if known.External == "" {
		if known, comments, made, err = s.begin(ctx, known); err != nil || known.External == "" {
			return known, err
		}
	}
	notes, err := inbox.Notes(ctx, s.Tenants, s.to.Org, s.item.ID)
	if err != nil {
		return known, err
	}
	if at := slices.IndexFunc(notes, func(n inbox.Note) bool { return n.ID == known.Note }); at >= 0 {
		notes = notes[at+1:]
	}
	if made && len(notes) == 0 && s.item.State == inbox.New {
		return known, nil
	}
	if comments == nil {
		comments, err = s.comments(ctx, known.External)
	}
	if err == nil {
		known, err = s.change(ctx, known, notes, comments)
	}
	if err != nil && !absent(err) {
		return known, err
	}
	known.State, known.StateEdition, known.Said = string(s.item.State), s.item.Edition, s.contact+s.words
	if len(notes) > 0 {
		known.Note = notes[len(notes)-1].ID
	}
	return known, nil
}

// begin finds the item's ticket, with its newest comments, or makes it where that is not too late.
func (s *desk) begin(ctx context.Context, known notice.Known) (_ notice.Known, comments []string, made bool, err error) {
	late := !s.item.State.Active() || s.to.Config.UnansweredAfter() > 0 && answered(s.item)
	if late && s.told > 0 {
		return known, nil, false, nil
	}
	standing, made, err := s.open(ctx, late)
	if err != nil || standing.Ticket == "" {
		return known, nil, false, err
	}
	if !made {
		if comments, err = s.comments(ctx, standing.Ticket); err != nil && !absent(err) {
			return known, nil, false, err // it is found again
		}
	}
	known.External = standing.Ticket
	if known.Status = s.began(standing, made, comments); made {
		known.State, known.Said = string(inbox.New), s.contact+s.words
	}
	return known, comments, made, nil
}

// began is the status that a ticket was made with, as far as what becomes of it since is taken back: not of one that was made before that. Of one
// that was found, as its answer was lost, its first comment says which it is.
func (s *desk) began(found zendesk.Standing, made bool, comments []string) string {
	marked := slices.ContainsFunc(comments, func(c string) bool { return strings.Contains(c, s.backMark()) })
	switch {
	case !s.to.TakesBack(), !made && !marked:
		return ""
	case made && found.Status != "":
		return found.Status
	}
	return "new"
}

// mostNotes is how many parts a comment has at most.
const mostNotes = 8

// answered says whether somebody dealt with an item.
func answered(i *inbox.Item) bool { return i.State != inbox.New || i.FirstReplyAt != nil }

// call makes a call of the account.
func (s *desk) call(ctx context.Context, name string, do func(zendesk.Client) error) error {
	began := s.Clock.Now()
	err := s.to.WithZendesk(ctx, s.Egress, do)
	s.last = call{name, began, err}
	return err
}

// update is the name of the calls that change a ticket.
const update = "ticket.update"

// open finds the ticket of the item, which is there where an answer was lost, or makes it, and says whether it did. Whose requester is refused,
// as an address that the account finds wrong, is made without one. It is too late to make one for what somebody dealt with.
func (s *desk) open(ctx context.Context, late bool) (ticket zendesk.Standing, made bool, err error) {
	key := s.item.ID.String()
	if err := s.call(ctx, "ticket.find", func(c zendesk.Client) (err error) {
		ticket, err = c.Find(ctx, key)
		return err
	}); err != nil || ticket.Ticket != "" || late {
		return ticket, false, err
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
	return ticket, err == nil, err
}

// longestSubject is in characters.
const longestSubject = 140

// opening is the ticket as it is made. What it says is for agents alone: nobody is written to.
func (s *desk) opening() zendesk.Ticket {
	c := s.d.card(s.to, s.item)
	tags := append([]string{"visavis", "visavis_" + string(s.item.Kind)}, s.to.Config.Texts("tags")...)
	mark := s.saidMark()
	if s.to.TakesBack() {
		mark += " " + s.backMark()
	}
	t := zendesk.Ticket{
		Subject: card.Cut(c.Line(), longestSubject), ExternalID: s.item.ID.String(), Priority: s.item.Urgency, Tags: tags,
		Group:   s.to.Config.Whole("groupId", 0),
		Comment: comment([]part{{mark, strings.Join(slices.Concat([]string{c.Title, ""}, lines(c)), "\n"), id.InboxNote{}}}),
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

// part is something that is written to a ticket, and the mark by which it is known again; of a note its id.
type part struct {
	mark, text string
	note       id.InboxNote
}

// parts are what is to be written: another state than was said last, notes that no comment has, and details that are
// new. What was forgotten since is no news.
func (s *desk) parts(known notice.Known, notes []inbox.Note, comments []string) (all []part) {
	if state := string(s.item.State); s.saidState(known, comments) != state {
		all = append(all, part{s.mark(fmt.Sprintf("%d-state-%s", s.item.Edition, state)), "State: " + state, id.InboxNote{}})
	}
	for _, n := range notes {
		if n.From == s.to.ID {
			continue // it came from there
		}
		text := "Note: " + card.Clean(n.Text)
		switch {
		case n.Received() && s.d.toldWords && n.Text != "":
			text = "The visitor answered: " + card.Cut(card.Clean(n.Text), longestText)
		case n.Received():
			text = "The visitor answered by mail."
		case n.Channel != nil:
			text = "Written to the visitor: " + card.Clean(n.Text)
		}
		mark := s.mark(n.ID.String())
		if !slices.ContainsFunc(comments, func(c string) bool { return strings.Contains(c, mark) }) {
			all = append(all, part{mark, text, n.ID})
		}
	}
	contact, words, found := strings.Cut(s.said(comments, `-said-([0-9a-f]+-[0-9a-f]+)`), "-")
	if !found {
		contact, words = known.Said[:len(known.Said)/2], known.Said[len(known.Said)/2:]
	}
	changed := card.Card{}
	if (contact == "" || !strings.HasPrefix(s.contact, contact)) && s.d.contact != nil {
		changed.Facts = s.d.facts(s.item)
	}
	if words == "" || !strings.HasPrefix(s.words, words) {
		changed.Texts = s.d.texts()
	}
	if len(changed.Facts)+len(changed.Texts) > 0 {
		all = append(all, part{s.saidMark(), strings.TrimSpace(strings.Join(lines(changed), "\n")), id.InboxNote{}})
	}
	return all
}

// mark tells what is written from anything else in the ticket.
func (s *desk) mark(what string) string { return s.item.ID.String() + "/" + what }

// backMark says in a ticket's first comment that what becomes of it is taken back from the beginning.
func (s *desk) backMark() string { return s.mark("back") }

// saidMark tells the details from others.
func (s *desk) saidMark() string {
	return s.mark(fmt.Sprintf("%d-said-%s-%s", s.item.Edition, s.contact[:8], s.words[:8]))
}

// said finds in the comments, newest first, what the newest mark of a form says; empty for none.
func (s *desk) said(comments []string, form string) string {
	_, said, _ := strings.Cut(s.saidAt(comments, form), "-")
	return said
}

// saidAt is said with the item's edition and a hyphen before.
func (s *desk) saidAt(comments []string, form string) string {
	re := regexp.MustCompile(regexp.QuoteMeta(s.mark("")) + `([0-9]+)` + form)
	for _, c := range comments {
		if all := re.FindAllStringSubmatch(c, -1); len(all) > 0 {
			newest := all[len(all)-1]
			return newest[1] + "-" + newest[2]
		}
	}
	return ""
}

// saidState is the state that was said last, unless both sides agreed on another since.
func (s *desk) saidState(known notice.Known, comments []string) string {
	edition, said, _ := strings.Cut(s.saidAt(comments, `-state-([a-z]+)`), "-")
	if n, err := strconv.ParseInt(edition, 10, 64); err == nil && n > known.StateEdition {
		return said
	}
	return cmp.Or(known.State, string(inbox.New))
}

// statuses are those of tickets by the states of items; others leave them as they are.
var statuses = map[inbox.State]string{
	inbox.Open: "open", inbox.Waiting: "pending", inbox.Done: "solved", inbox.Won: "solved", inbox.Lost: "solved", inbox.Spam: "solved",
}

// change writes to a ticket what it does not have, and gives it the item's status where its state was not said yet: both come in one
// call. A status that the account does not take, as solved without somebody who did, is written as words alone.
func (s *desk) change(ctx context.Context, known notice.Known, notes []inbox.Note, comments []string) (notice.Known, error) {
	state := string(s.item.State)
	parts, status := s.parts(known, notes, comments), ""
	switch {
	case s.saidState(known, comments) != state:
		status = statuses[s.item.State]
	case known.State != state: // it was given with what says so, by a call that nobody kept
		agree(&known, statuses[s.item.State])
	}
	for len(parts) > 0 || status != "" {
		some := batch(parts)
		change := zendesk.Ticket{Status: status}
		if len(some) > 0 {
			change.Comment = comment(some)
		}
		var standing zendesk.Standing
		put := func() error {
			return s.call(ctx, update, func(c zendesk.Client) (err error) {
				standing, err = c.Update(ctx, known.External, change)
				return err
			})
		}
		err := put()
		if refuses(err) && change.Status != "" {
			change.Status = ""
			err = put()
		}
		if err != nil {
			if known.Said = ""; known.State != state {
				known.State = ""
			}
			return known, err
		}
		for _, p := range some {
			if !p.note.IsZero() {
				known.Note = p.note
			}
		}
		if change.Status != "" {
			agree(&known, cmp.Or(standing.Status, change.Status))
		}
		known.State, known.StateEdition = state, s.item.Edition
		parts, status = parts[len(some):], ""
	}
	return known, nil
}

// agree notes the status that a ticket was given, where it is known how far it was: one that nothing was taken of stays so.
func agree(known *notice.Known, status string) {
	if known.Status != "" {
		known.Status = cmp.Or(status, known.Status)
	}
}

// longestComment bounds the HTML of a comment, in bytes: Zendesk takes 64 KiB.
const longestComment = 60_000

// batch are the first parts, as many as one comment takes.
func batch(parts []part) []part {
	for n := min(len(parts), mostNotes); n > 1; n-- {
		if len(escape(bodyOf(parts[:n]))) <= longestComment {
			return parts[:n]
		}
	}
	return parts[:min(len(parts), 1)]
}

// comment is a comment of parts, of which one that is too long is cut.
func comment(parts []part) *zendesk.Comment {
	body := escape(bodyOf(parts))
	for most := longestComment; len(body) > longestComment; most /= 2 {
		cut := parts[0]
		cut.text = card.Cut(cut.text, most)
		body = escape(bodyOf([]part{cut}))
	}
	return &zendesk.Comment{HTML: body}
}

// escape is plain text as HTML, in which nothing means anything.
func escape(text string) string {
	return strings.ReplaceAll(html.EscapeString(text), "\n", "<br>")
}

// bodyOf is a comment of parts, with the marks by which they are known again.
func bodyOf(parts []part) string {
	var texts, marks []string
	for _, p := range parts {
		texts, marks = append(texts, p.text), append(marks, p.mark)
	}
	return strings.Join(texts, "\n\n") + "\n\n" + strings.Join(marks, " ")
}

// comments are the newest comments of a ticket, newest first.
func (s *desk) comments(ctx context.Context, ticket string) (all []string, err error) {
	err = s.call(ctx, "ticket.comments", func(c zendesk.Client) (err error) {
		all, err = c.Comments(ctx, ticket)
		return err
	})
	return all, err
}
