package inbox

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/mail"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
)

const (
	// rawMail is the content type of a mail (RFC 2046, 5.2.1).
	rawMail = "message/rfc822"
	// maxMail is the largest mail that is taken, with what is attached, which is not kept.
	maxMail = 10 << 20
)

// registerInbound declares where the operator's mail gateway hands over what visitors answer.
func (a *API) registerInbound(s *route.Service) {
	s.Protocol(route.Operation{
		ID: "receiveInboxMail", Group: group, Method: http.MethodPost, Path: "/inbox/inbound-mail", Auth: route.Open, Since: contract.V20261001,
		MaxBody: maxMail, Raw: []string{rawMail},
		// A gateway hands everybody's mail over from one address.
		Identifies: func(r *http.Request, _ string) bool { return a.isGateway(r) },
		// Who proves nothing sends no megabytes.
		Before: func(_ context.Context, c *route.Call) error { return a.admit(c) },
	}, func(ctx context.Context, c *route.Call, _ string) (http.Handler, error) {
		c.Identified()
		came, err := a.receiveMail(ctx, c)
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(map[string]any{"data": came, "error": nil, "requestId": c.RequestID.String()})
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			_, _ = w.Write(text) // whoever left reads nothing
		}), err
	})
}

// isGateway says whether a request has the operator's secret: as a bearer token, or as the password of whatever name.
func (a *API) isGateway(r *http.Request) bool { return a.proves(r.Header.Get("Authorization")) }

func (a *API) proves(authorization string) bool {
	if a.Answers == nil || len(a.InboundSecret) == 0 {
		return false
	}
	sent, ok := strings.CutPrefix(authorization, "Bearer ")
	r := http.Request{Header: http.Header{"Authorization": {authorization}}}
	if _, password, basic := r.BasicAuth(); basic {
		sent, ok = password, true
	}
	// Of the same length, so that how long the comparison takes tells nothing.
	want, got := sha256.Sum256(a.InboundSecret), sha256.Sum256([]byte(sent))
	return ok && subtle.ConstantTimeCompare(want[:], got[:]) == 1
}

func (a *API) admit(c *route.Call) error {
	switch {
	case a.Answers == nil:
		return problem.New(problem.NotFound, "This deployment takes no mail. Whoever operates it sets inbound-domain.")
	case !a.proves(c.Header("Authorization")):
		return problem.New(problem.Unauthorized, "The secret of the mail gateway is missing or wrong.")
	}
	return nil
}

// inboundMail is what became of a mail.
type inboundMail struct {
	// Result is added, duplicate or ignored.
	Result string `json:"result"`
	// Reason is automatic of what is ignored; empty else.
	Reason string `json:"reason,omitempty"`
}

// The headers in which the gateway says to whom the mail was delivered and who sent it: the addresses of the envelope. They are
// not in the path, which is logged on the way.
const (
	recipientHeader = "Visavis-Recipient"
	senderHeader    = "Visavis-Sender"
)

// nobodySent says whether the sender of an envelope is nobody, as of bounces; pipe(8) of Postfix writes MAILER-DAEMON for nobody.
func nobodySent(sender string) bool {
	name, _, _ := strings.Cut(strings.Trim(sender, "<> "), "@")
	return name == "" || strings.EqualFold(name, "MAILER-DAEMON")
}

// receiveMail adds a mail to the item that it answers.
func (a *API) receiveMail(ctx context.Context, c *route.Call) (inboundMail, error) {
	m, text, err := mail.ReadHead(c.Body())
	if err != nil {
		return inboundMail{}, noMail()
	}
	to := m.To
	if recipient := c.Header(recipientHeader); recipient != "" {
		to = []string{strings.Trim(recipient, "<> ")}
	}
	org, which, err := a.Answers.Of(to)
	if err != nil {
		return inboundMail{}, noAddress()
	}
	if sender := c.Header(senderHeader); m.Automatic || sender != "" && nobodySent(sender) {
		return inboundMail{"ignored", "automatic"}, nil
	}
	return a.keepMail(ctx, org, which, m, text, c.Now().UTC().Truncate(time.Microsecond))
}

func noMail() error {
	return problem.Invalid("body", "That is no mail in the form of RFC 5322.")
}

func noAddress() error {
	return problem.New(problem.NotFound, "The mail is for no address that an item has.")
}

func (a *API) keepMail(ctx context.Context, org id.Org, which id.InboxItem, m mail.Received, text func() (string, error), now time.Time) (inboundMail, error) {
	came := inboundMail{Result: "duplicate"}
	// What is refused is not read: that costs the most.
	var there bool
	err := a.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) (err error) {
		there, err = inbox.Expects(ctx, tx, which, m.ID, now)
		return err
	}, tenant.Idempotent(true))
	if err != nil || there {
		return came, refusedAnswer(err)
	}
	if m.Text, err = text(); err != nil {
		return came, noMail()
	}
	err = a.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		came.Result = "duplicate"
		added, err := inbox.Receive(ctx, tx, which, inbox.Received{MessageID: m.ID, Sender: m.From, Text: m.Text, At: now})
		if added {
			came.Result = "added"
		}
		return err
	}, tenant.Idempotent(true))
	return came, refusedAnswer(err)
}

// refusedAnswer is an error of inbox.Receive as the gateway is told.
func refusedAnswer(err error) error {
	if refused, ok := errors.AsType[*errdefs.Conflict](err); ok {
		switch refused.Reason {
		case inbox.ReasonForgotten:
			return problem.New(problem.Gone, "The visitor was forgotten, so nothing of theirs is kept.")
		case inbox.ReasonOften:
			p := problem.New(problem.RateLimited, "%s", refused.Message)
			p.RetryAfter = time.Hour
			return p
		}
	}
	if errdefs.IsNotFound(err, inbox.Noun) || errors.Is(err, directory.ErrUnknown) {
		return noAddress()
	}
	return err
}
