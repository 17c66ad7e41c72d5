package mail

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"strconv"
	"time"

	gomail "github.com/wneessen/go-mail"
)

// exchange bounds a conversation with a server. Other mails wait for it.
const exchange = 10 * time.Second

// server is a mail server that the operator named. It needs no guard.
type server struct {
	host    string
	options []gomail.Option
	from    *mail.Address
}

func openSMTP(u *url.URL, from *mail.Address, roots *x509.CertPool) (*server, error) {
	if u.Hostname() == "" {
		return nil, errors.New("it names no host")
	}
	security := u.Query().Get("tls")
	if security != "" && (security != "off" || u.Scheme == "smtps") {
		return nil, fmt.Errorf("tls=%q: want off, with smtp, or nothing", security)
	}
	s := &server{host: u.Hostname(), from: from, options: []gomail.Option{
		gomail.WithTimeout(exchange),
		// One message goes over a connection: a server that stumbles afterwards took it all the same.
		gomail.WithoutRset(), gomail.WithoutNoop(),
		gomail.WithTLSConfig(&tls.Config{ServerName: u.Hostname(), RootCAs: roots, MinVersion: tls.VersionTLS12}),
	}}
	switch {
	case u.Scheme == "smtps":
		s.options = append(s.options, gomail.WithSSL(), gomail.WithPort(gomail.DefaultPortSSL))
	case security == "off":
		s.options = append(s.options, gomail.WithTLSPolicy(gomail.NoTLS), gomail.WithPort(gomail.DefaultPort))
	default:
		s.options = append(s.options, gomail.WithTLSPolicy(gomail.TLSMandatory), gomail.WithPort(gomail.DefaultPortTLS))
	}
	if u.Port() != "" {
		port, err := strconv.Atoi(u.Port())
		if err != nil {
			return nil, err
		}
		s.options = append(s.options, gomail.WithPort(port))
	}
	if u.User != nil {
		if security == "off" {
			return nil, errors.New("a password is sent to nobody without TLS: with tls=off goes no user")
		}
		password, _ := u.User.Password()
		s.options = append(s.options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover), gomail.WithUsername(u.User.Username()), gomail.WithPassword(password))
	}
	_, err := gomail.NewClient(s.host, s.options...) // it says now what is wrong with them
	return s, err
}

// Send implements Sender.
func (s *server) Send(ctx context.Context, m Message) error {
	made, err := m.write(s.from)
	if err != nil {
		return err
	}
	client, err := gomail.NewClient(s.host, s.options...)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, exchange)
	defer cancel()
	open, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return fmt.Errorf("the mail server cannot be reached: %w", err)
	}
	// A message that was taken is taken, however the server says goodbye.
	defer func() { _ = client.CloseWithSMTPClient(open) }()
	err = client.SendWithSMTPClient(open, made)
	if refused, ok := errors.AsType[*gomail.SendError](err); ok && refused.ErrorCode() >= firstPermanent {
		return &Refusal{err}
	}
	return err
}

// firstPermanent is the first of the codes that say that another try is of no use
// (RFC 5321, 4.2.1).
const firstPermanent = 500
