package calendars

import (
	"strconv"
	"strings"
)

// sequenceLine says which of our changes an event has: SEQUENCE is others' to count up too.
const sequenceLine = "X-VISAVIS-SEQUENCE"

// Text is an event as a new text.
func (e Event) Text() string {
	c := &Component{Name: "VEVENT"}
	c.set("UID", e.Key.UID())
	c.set("TRANSP", "OPAQUE")
	e.fill(c)
	calendar := &Component{Name: "VCALENDAR", Children: []*Component{c}}
	calendar.set("VERSION", "2.0")
	calendar.set("PRODID", "-//Visavis//Visavis//EN")
	var b strings.Builder
	calendar.write(&b)
	return b.String()
}

// Over writes an event over the one that a text holds, whose other lines stay. Done says that it is there
// as it is to be already, and newer that a later one of it is; neither is written. The error is that the
// text holds another event.
func (e Event) Over(text string) (out string, done, newer bool, err error) {
	calendar, err := Parse(text)
	if err != nil {
		return "", false, false, err
	}
	events := calendar.named("VEVENT")
	if len(events) == 0 {
		return "", false, false, errMalformed
	}
	for _, c := range events {
		if c.Text("UID") != e.Key.UID() {
			return "", false, false, errMalformed
		}
	}
	if len(events) > 1 || events[0].line("RRULE") != nil || events[0].line("RDATE") != nil {
		return e.Text(), false, false, nil // it was made a series: it is one again
	}
	c := events[0]
	if there, err := strconv.ParseInt(c.Text(sequenceLine), 10, 64); err == nil && !strings.EqualFold(c.Text("STATUS"), "CANCELLED") {
		if there >= e.Sequence {
			return "", there == e.Sequence, there > e.Sequence, nil
		}
	}
	calendar.drop("METHOD") // what is stored has none (RFC 4791, 4.1)
	e.fill(c)
	var b strings.Builder
	calendar.write(&b)
	return b.String(), false, false, nil
}

// SequenceOf is the highest of our changes that the events of a text have; negative for none. Cancelled ones are others'
// doing, and count as the others.
func SequenceOf(text string) int64 {
	highest := int64(-1)
	calendar, err := Parse(text)
	if err != nil {
		return highest
	}
	for _, c := range calendar.named("VEVENT") {
		if n, err := strconv.ParseInt(c.Text(sequenceLine), 10, 64); err == nil {
			highest = max(highest, n)
		}
	}
	return highest
}

// Holds says whether a text has the event at all, and not cancelled.
func (k Key) Holds(text string) bool {
	calendar, err := Parse(text)
	if err != nil {
		return false
	}
	for _, c := range calendar.named("VEVENT") {
		if c.Text("UID") == k.UID() && !strings.EqualFold(c.Text("STATUS"), "CANCELLED") {
			return true
		}
	}
	return false
}

// fill writes what of an event is ours.
func (e Event) fill(c *Component) {
	sequence := e.Sequence
	if there, err := strconv.ParseInt(c.Text("SEQUENCE"), 10, 32); err == nil && there >= sequence {
		sequence = there + 1
	}
	for _, name := range []string{"DURATION", "RECURRENCE-ID", "EXDATE", "LOCATION"} {
		c.drop(name)
	}
	c.set("DTSTAMP", e.WrittenAt.UTC().Format(utcForm))
	c.set("DTSTART", e.Span.From.UTC().Format(utcForm))
	c.set("DTEND", e.Span.To.UTC().Format(utcForm))
	c.set("SEQUENCE", strconv.FormatInt(sequence, 10))
	c.set(sequenceLine, strconv.FormatInt(e.Sequence, 10))
	c.set("SUMMARY", escape(e.Summary))
	status := "CONFIRMED"
	if e.Tentative {
		status = "TENTATIVE"
	}
	c.set("STATUS", status)
	if c.line("DESCRIPTION") == nil && e.Description != "" { // else it is what people wrote beside it
		c.set("DESCRIPTION", escape(e.Description))
	}
	if e.Location != "" {
		c.set("LOCATION", escape(e.Location))
	}
}
