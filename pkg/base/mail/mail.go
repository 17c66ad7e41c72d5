// Package mail hands messages to the deployment's mail server, or lays them into a
// folder where there is none. What is written to whom, and how often, is package
// letter's.
package mail

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"path"
	"strings"
	"unicode"

	gomail "github.com/wneessen/go-mail"
)

// Message is one mail to one person.
type Message struct {
	// ID tells a message that is sent again from another one: the left side of its
	// Message-ID, which stays the same.
	ID string
	// To is a bare address.
	To      string
	Subject string
	// Text and HTML say the same.
	Text, HTML string
	// Language is a code, such as de.
	Language string
	// Calendar is an iCalendar object beside the text; nil for none.
	Calendar *Calendar
	// References are the IDs of messages that this one answers, oldest first: the whole Message-ID of those that came in.
	References []string
	// Personal says that a person wrote it, and ReplyTo is where answers go; empty for the sender.
	Personal bool
	ReplyTo  string
}

// Calendar is what a calendar takes out of a message (RFC 6047).
type Calendar struct {
	// Method is that of the object, such as REQUEST.
	Method string
	// Write makes the object, whose organizer is the sender's address.
	Write func(organizer string) (string, error)
}

// Sender sends messages.
type Sender interface {
	// Send hands a message over. The error can be a Refusal; any other may pass.
	Send(ctx context.Context, m Message) error
}

// Refusal says that a message will not be taken however often it is tried.
type Refusal struct{ Err error }

func (r *Refusal) Error() string { return "the message is refused: " + r.Err.Error() }

// Unwrap gives the reason.
func (r *Refusal) Unwrap() error { return r.Err }

// Open makes the sender of an address: smtp://user:password@host:587?from=…, where
// STARTTLS is required unless it says tls=off, smtps:// for TLS from the first byte,
// or file:///folder?from=… for a folder. roots are trusted of servers; nil for the
// system's.
func Open(address string, roots *x509.CertPool) (Sender, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("it is no address") // that of url.Parse would show the password
	}
	from, err := mail.ParseAddress(u.Query().Get("from"))
	if err != nil {
		return nil, errors.New("it names no sender: want ?from=name@example.com")
	}
	for name := range u.Query() {
		if name != "from" && name != "tls" {
			return nil, fmt.Errorf("%q is not known: want from, and tls", name)
		}
	}
	switch u.Scheme {
	case "smtp", "smtps":
		return openSMTP(u, from, roots)
	case "file":
		return &folder{path: path.Clean(u.Path), from: from}, nil
	}
	return nil, fmt.Errorf("the scheme %q is none of smtp, smtps and file", u.Scheme)
}

// errControl says that a line of the head would break out of it.
var errControl = errors.New("a line of the head has a control character")

// write makes the message as it is sent. The error is a Refusal.
func (m Message) write(from *mail.Address) (*gomail.Msg, error) {
	for _, line := range append([]string{m.ID, m.To, m.Subject, m.Language, m.ReplyTo}, m.References...) {
		if strings.ContainsFunc(line, unicode.IsControl) {
			return nil, &Refusal{errControl}
		}
	}
	made := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	made.FromMailAddress(from)
	made.EnvelopeFromMailAddress(from)
	if err := made.To(m.To); err != nil {
		return nil, &Refusal{err}
	}
	made.Subject(m.Subject)
	made.SetDate()
	domain := from.Address[strings.LastIndexByte(from.Address, '@')+1:]
	made.SetMessageIDWithValue(m.ID + "@" + domain)
	if n := len(m.References); n > 0 {
		all := make([]string, n)
		for i, ref := range m.References {
			if !strings.Contains(ref, "@") {
				ref += "@" + domain
			}
			all[i] = "<" + ref + ">"
		}
		made.SetGenHeader(gomail.HeaderInReplyTo, all[n-1])
		made.SetGenHeader(gomail.HeaderReferences, strings.Join(all, " "))
	}
	made.SetGenHeader(gomail.HeaderContentLang, m.Language)
	if m.ReplyTo != "" {
		if err := made.ReplyTo(m.ReplyTo); err != nil {
			return nil, &Refusal{err}
		}
	}
	if !m.Personal { // no machine answers what a machine wrote (RFC 3834)
		made.SetGenHeader("Auto-Submitted", "auto-generated")
		made.SetGenHeader("X-Auto-Response-Suppress", "All")
	}
	made.SetBodyString(gomail.TypeTextPlain, m.Text)
	made.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	if m.Calendar != nil {
		object, err := m.Calendar.Write(from.Address)
		if err != nil {
			return nil, &Refusal{err}
		}
		made.AddAlternativeString(gomail.ContentType("text/calendar; method="+m.Calendar.Method), object)
	}
	return made, nil
}
