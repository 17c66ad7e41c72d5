package conversation

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/text/answer"
)

// appointment is how far somebody is who books a time in words. Where a model leads the conversation,
// it does that (booking.go).
type appointment struct {
	// wanted says that somebody wants one, and is asked how they are reached before.
	wanted bool
	// offered are the times among which they choose, and said those of them that they heard last.
	offered, said []FreeTime
	zone          *time.Location
}

// offeredAtOnce is how many times are said in one go.
const offeredAtOnce = 3

// appoint goes on with an appointment; false where the utterance is about something else.
func (c *Conversation) appoint(means intent, text string) bool {
	if !c.books() || c.model != nil {
		return false
	}
	a := &c.appointment
	if len(a.offered) > 0 {
		if means == sayNo {
			*a = appointment{}
			return false
		}
		some, named := a.named(c.language, text, means == sayYes, c.now())
		if named && !asks(c.language, text) && answer.KindOf(c.language, text) == answer.Anything { // no question about a day
			c.chosen(some)
			return true
		}
	}
	if !containsAny(plain(text), timesOf(c.language).hear) {
		return false
	}
	a.wanted = true
	if c.goals.contact() {
		c.say(c.timesToSay()...)
		return true
	}
	if c.goals.asked { // which is answered by this, or asked again
		return false
	}
	at := slices.IndexFunc(c.goals.all, func(g persona.Goal) bool { return slices.ContainsFunc(g.Outputs, isContact) })
	if at < 0 {
		return false // nobody would know how to reach them
	}
	c.goals.pursue(c.goals.all[at].Key)
	c.goals.wasAsked()
	s := c.reply(c.ownOrigin(), c.asksFor(c.goals.current())...)
	s.asking = true
	c.speak(s)
	return true
}

// appoints says whether the times are to be offered next: to somebody who can be reached, who wants
// one or was asked all that the goals want to know.
func (c *Conversation) appoints(over bool) bool {
	return c.books() && c.model == nil && c.outcome != booking && c.goals.contact() && (c.appointment.wanted || over)
}

// named are the offered times that an utterance names, by their day or their hour: the one of them
// that they heard, where it is one. A yes names the only one that they heard.
func (a *appointment) named(language, text string, yes bool, now time.Time) (some []FreeTime, named bool) {
	if yes && len(a.said) == 1 {
		return a.said, true
	}
	asked, known := answer.AskedDay(language, text, now.In(a.zone))
	weekday := -1
	for n, name := range strings.Split(timesOf(language).weekdays, "|") {
		if containsAny(plain(text), plain(name)) {
			weekday = n
		}
	}
	if !known && weekday < 0 {
		return nil, false
	}
	for _, f := range a.offered {
		at := f.StartsAt.In(a.zone)
		day := (int(at.Weekday()) + 6) % 7
		switch {
		case weekday >= 0 && day != weekday,
			known && !asked.Dayless && asked.Undated && day != asked.Weekday,
			known && !asked.Undated && int(at.Month())*100+at.Day() != asked.Date,
			known && asked.At >= 0 && at.Hour()*60+at.Minute() != asked.At:
		default:
			some = append(some, f)
		}
	}
	heard := slices.DeleteFunc(slices.Clone(some), func(f FreeTime) bool { return !slices.Contains(a.said, f) })
	if len(heard) == 1 {
		return heard, true
	}
	return some, true
}

// chosen books the one time that was named, or offers those that are left.
func (c *Conversation) chosen(some []FreeTime) {
	book := timesOf(c.language)
	switch {
	case len(some) == 0:
		c.say(append([]string{book.untaken}, c.timesToSay()...)...)
		return
	case len(some) > 1:
		c.say(c.offering(some))
		return
	}
	switch err := c.reserve(some[0].StartsAt); {
	case errors.Is(err, ErrTaken):
		c.say(append([]string{book.untaken}, c.timesToSay()...)...)
	case err != nil:
		c.noted("booking", err)
		c.say(book.unsure)
	default:
		s := c.reply(session.Tool, fill(book.booked, map[string]string{"times": c.saidTimes(some)}))
		s.turn.ToolCalls = []session.ToolCall{c.use(booking, completed)}
		c.appointment = appointment{}
		c.speak(s)
	}
}

// reserve books a time for the visitor.
func (c *Conversation) reserve(at time.Time) error {
	contact, words := c.collected()
	if err := c.config.Diary.Book(c.ctx, inbox.Left{Kind: inbox.Book, Contact: contact, Words: words}, at); err != nil {
		return err
	}
	c.outcome = booking
	c.noted("booking", c.config.Journal.Collected(c.ctx, c.found()))
	return nil
}

// timesToSay are what is booked and which times are free, in words; they stand offered then.
func (c *Conversation) timesToSay() []string {
	a, book := &c.appointment, timesOf(c.language)
	of, err := c.config.Diary.Free(c.ctx)
	if err != nil {
		c.noted("look into the schedule", err)
		return []string{bookOf(c.language).askAgain}
	}
	if a.offered, a.zone = of.Free, of.Zone; a.zone == nil {
		a.zone = time.UTC
	}
	var texts []string
	if of.Own != nil {
		texts = append(texts, fill(book.booked, map[string]string{"times": c.saidTimes([]FreeTime{*of.Own})}))
	}
	if len(of.Free) == 0 {
		return append(texts, book.none)
	}
	return append(texts, c.offering(a.spread()))
}

// offering offers the first of some times.
func (c *Conversation) offering(some []FreeTime) string {
	c.appointment.said = some[:min(len(some), offeredAtOnce)]
	return fill(timesOf(c.language).offer, map[string]string{"times": c.saidTimes(c.appointment.said)})
}

// spread are some of the times that are free, of different days where there are enough.
func (a *appointment) spread() (some []FreeTime) {
	days := map[string]bool{}
	for _, f := range a.offered {
		if day := f.StartsAt.In(a.zone).Format(time.DateOnly); !days[day] {
			days[day] = true
			some = append(some, f)
		}
	}
	for _, f := range a.offered {
		if len(some) >= offeredAtOnce {
			break
		}
		if !slices.Contains(some, f) {
			some = append(some, f)
		}
	}
	some = some[:min(len(some), offeredAtOnce)]
	slices.SortFunc(some, func(a, b FreeTime) int { return a.StartsAt.Compare(b.StartsAt) })
	return some
}

// saidTimes are a few times in the conversation's language, on the clocks of the schedule.
func (c *Conversation) saidTimes(some []FreeTime) string {
	var said []string
	for _, f := range some {
		said = append(said, saidTime(c.language, f.StartsAt.In(c.appointment.zone)))
	}
	return strings.Join(said, "; ")
}

// saidTime is a time with its day, as it is said in a language.
func saidTime(language string, at time.Time) string {
	book := timesOf(language)
	return fill(book.day, map[string]string{
		"weekday": strings.Split(book.weekdays, "|")[(int(at.Weekday())+6)%7], "day": strconv.Itoa(at.Day()),
		"month": strings.Split(book.months, "|")[at.Month()-1], "time": at.Format("15:04"),
	})
}

// say replies with texts that await an answer.
func (c *Conversation) say(texts ...string) {
	s := c.reply(c.ownOrigin(), texts...)
	s.asking = true
	c.speak(s)
}
