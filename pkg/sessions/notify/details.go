package notify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/card"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

// details are what of an item may be told by a connection.
type details struct {
	// contact is nil where it may not be.
	contact *inbox.Contact
	words   inbox.Words
	summary string
	// toldWords says whether what the visitor said may be told at all, and so what they answered.
	toldWords bool
}

// details reads what may be told: how to reach the visitor, unless the config leaves that out or they did not agree when asked,
// and what they said only where the config asks for it, the organization keeps words, and those of the conversation may be sent.
func (t *Teller) details(ctx context.Context, to *connection.Opened, i *inbox.Item) (d details, err error) {
	if c := i.Contact; c != nil && !to.Config.On("withoutContact") && (c.Consent == nil || c.Consent.Given) {
		d.contact = c
	}
	told, summary, err := t.mayTellWords(ctx, to, i)
	if err != nil || !told {
		return d, err
	}
	d.words, d.summary, d.toldWords = i.Words, text(summary), true
	return d, nil
}

// mayTellWords says whether what an item's visitor said may be told by a connection, and how the conversation is summed up.
func (t *Teller) mayTellWords(ctx context.Context, to *connection.Opened, i *inbox.Item) (told bool, summary *string, err error) {
	if !to.Config.On("includeConversation") {
		return false, nil, nil
	}
	var zero bool
	if err := t.Tenants.Read(ctx, to.Org, func(r *tenant.Reads) { setting.Queue(r, to.Org, setting.ZeroRetention, &zero) }); err != nil || zero {
		return false, nil, err
	}
	if i.Session.IsZero() {
		return true, nil, nil
	}
	return t.Spoken(ctx, to.Org, i.Session)
}

func text(t *string) string {
	if t == nil {
		return ""
	}
	return *t
}

// titles say what an item is.
var titles = map[inbox.Kind]string{inbox.Lead: "New lead", inbox.Book: "New booking", inbox.Handoff: "A visitor asks for a person"}

const (
	// longestFact and longestText bound what is told, in characters.
	longestFact = 300
	longestText = 2000
)

// card is what is told of an item.
func (d *details) card(to *connection.Opened, i *inbox.Item) card.Card {
	c := card.Card{Title: titles[i.Kind], Facts: d.facts(i), Texts: d.texts(), Link: to.Config.ItemURL(i.ID), Note: i.ID.String()}
	if d.contact != nil {
		c.Who = card.Cut(card.Clean(text(d.contact.Name)), longestFact)
	}
	return c
}

// facts are how to reach the visitor, and then what is known of the matter without their words.
func (d *details) facts(i *inbox.Item) (all []card.Fact) {
	add := func(name, value string) { // a line, so that no value looks like another fact
		all = card.Add(all, name, card.Cut(strings.Join(strings.Fields(card.Clean(value)), " "), longestFact))
	}
	if c := d.contact; c != nil {
		add("Name", text(c.Name))
		add("E-mail", text(c.Email))
		add("Phone", text(c.Phone))
		add("Company", text(c.Company))
		add("Job title", text(c.JobTitle))
		add("Prefers", text(c.PreferredChannel))
	}
	if b := i.Booking; b != nil {
		add("When", strings.Replace(b.Wall, "T", " ", 1)+" ("+b.Timezone+")")
		add("What", b.Title)
		add("Where", text(b.Location))
		add("Booking", strings.ReplaceAll(string(b.State), "_", " "))
	}
	if i.Kind == inbox.Handoff && i.Live {
		add("Visitor", "still there")
	}
	if i.Band != nil {
		add("Band", string(*i.Band))
	}
	if i.Urgency != inbox.NormalUrgency {
		add("Urgency", i.Urgency)
	}
	add("Department", text(i.Department))
	add("Language", i.Language)
	return all
}

// texts are what the visitor said, and the conversation's summary.
func (d *details) texts() (all []card.Fact) {
	add := func(name, value string) {
		all = card.Add(all, card.Cut(card.Clean(name), longestFact), card.Cut(value, longestText))
	}
	add("Need", text(d.words.Need))
	add("Budget", text(d.words.Budget))
	add("Timeline", text(d.words.Timeline))
	add("Reason", text(d.words.Reason))
	for _, a := range d.words.Answers {
		add(a.Question, a.Answer)
	}
	add("Summary (written by an AI)", d.summary)
	return all
}

// said tells details from others: of the contact and of the words.
func (d *details) said() (contact, words string, err error) {
	if contact, err = digest(d.contact); err != nil {
		return "", "", err
	}
	words, err = digest(d.texts())
	return contact, words, err
}

// digest is part of the SHA-256 of something, in hexadecimal digits.
func digest(of any) (string, error) {
	text, err := json.Marshal(of)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16]), err
}
