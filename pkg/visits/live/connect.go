package live

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

const (
	// Subprotocol names the protocol of the sockets.
	Subprotocol = "visavis.v1"
	// tokenProtocol precedes a token among the subprotocols a client offers,
	// since a browser can send it nowhere else.
	tokenProtocol = "token."
	// tokenWithin is how long a socket may stay silent before it shows a token.
	tokenWithin = 10 * time.Second
)

// caller is a socket that wants to come in.
type caller struct {
	request *http.Request
	socket  *websocket.Conn
	which   id.Session
	token   session.Token
	org     id.Org
	session.Admission
}

// ServeHTTP takes a socket (live client protocol). What is wrong with it is told
// as a close code, since a browser shows a page nothing else.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	which, err := id.ParseSession(strings.TrimPrefix(r.URL.Path, Path))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	if asksToRelay(r) {
		s.takeRelay(w, r)
		return
	}
	// The token says who comes, not the page: there is no cookie to misuse. A
	// session that is for some pages only checks the origin once it is known.
	socket, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{Subprotocol}, InsecureSkipVerify: true})
	if err != nil {
		return // Accept has answered
	}
	defer func() { _ = socket.CloseNow() }()
	socket.SetReadLimit(maxFrame)
	ctx := context.WithoutCancel(r.Context())
	c := &caller{request: r, socket: socket, which: which}
	if refusal := s.admit(ctx, c); refusal != nil {
		s.refuse(c, *refusal)
		return
	}
	s.bring(ctx, c)
}

// refusal is why a caller is not let in.
type refusal struct {
	code          websocket.StatusCode
	name, message string
}

var (
	badToken  = refusal{closeBadToken, "bad_token", "The token does not open this session."}
	badOrigin = refusal{closeBadToken, "bad_origin", "The session is not for this page."}
	attended  = refusal{closeBadToken, "already_attended", "Another team member is in the session already."}
	inRoom    = refusal{closeBadToken, "other_transport", "The session takes place in a room of a media server."}
	hasEnded  = refusal{closeEnded, "session_ended", "The session has ended."}
	noPlace   = refusal{closeNoPlace, "concurrency_limit", "Too many sessions are live right now."}
	elsewhere = refusal{closeElsewhere, "reconnect", "Connect again."}
)

// refuse tells a caller why and closes the socket.
func (s *Server) refuse(c *caller, r refusal) {
	ctx, cancel := context.WithTimeout(context.Background(), writeWithin)
	defer cancel()
	m := s.message("error", map[string]any{"code": r.name, "message": r.message, "fatal": true})
	_ = c.socket.Write(ctx, websocket.MessageText, m.data)
	_ = c.socket.Close(r.code, r.name)
}

// admit finds out who calls.
func (s *Server) admit(ctx context.Context, c *caller) *refusal {
	if c.token = offered(c.request); c.token == "" {
		c.token = firstMessage(ctx, c.socket)
	}
	ctx, cancel := context.WithTimeout(ctx, tokenWithin)
	defer cancel()
	var err error
	c.org, c.Admission, err = session.Admit(ctx, s.Tenants, c.which, c.token)
	switch {
	case errdefs.IsNotFound(err, session.Noun):
		return &badToken
	case err != nil:
		s.Log.WarnContext(ctx, "a socket waits", "session", c.which.String(), "error", err)
		return &elsewhere
	case c.Session.State.Over():
		return &hasEnded
	case c.Session.Transport == session.LiveKit && c.Staff.IsZero(): // a team member writes, which needs no track
		return &inRoom
	case c.Expired(s.Clock.Now()):
		return &badToken
	case c.Attended != "":
		return &attended
	}
	if origins := c.Session.AllowedOrigins; c.Staff.IsZero() && len(origins) > 0 && !slices.Contains(origins, c.request.Header.Get("Origin")) {
		return &badOrigin
	}
	return nil
}

// offered is the token among the subprotocols, or in the Authorization header
// for clients that can set it.
func offered(r *http.Request) session.Token {
	for _, header := range r.Header.Values("Sec-WebSocket-Protocol") {
		for part := range strings.SplitSeq(header, ",") {
			if token, ok := strings.CutPrefix(strings.TrimSpace(part), tokenProtocol); ok {
				return session.Token(token)
			}
		}
	}
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return session.Token(token)
}

// firstMessage reads the token from {"type":"auth","data":{"token":…}}.
func firstMessage(ctx context.Context, socket *websocket.Conn) session.Token {
	ctx, cancel := context.WithTimeout(ctx, tokenWithin)
	defer cancel()
	_, data, err := socket.Read(ctx)
	if err != nil {
		return ""
	}
	var m struct {
		Type string `json:"type"`
		Data struct {
			Token session.Token `json:"token"`
		} `json:"data"`
	}
	if json.Unmarshal(data, &m) != nil || m.Type != "auth" {
		return ""
	}
	return m.Data.Token
}

// bring brings a caller to the session's room: here, in the process that runs
// it, or, where that is gone, in a new one here.
func (s *Server) bring(ctx context.Context, c *caller) {
	if r := s.room(c.which); r != nil && r.serve(ctx, c) {
		return
	}
	if !brought(ctx) && c.Session.Owner.Valid && !s.leases.mine(c.Session.Owner.UUID) {
		address, err := session.PodOf(ctx, s.Tenants, c.org, c.Session)
		if err == nil && address != "" && s.relay(ctx, c, address) {
			return
		}
	}
	if !c.Staff.IsZero() {
		// Without the client there is no conversation to join.
		s.refuse(c, elsewhere)
		return
	}
	r, refused := s.open(ctx, c.org, c.which, nil)
	if refused != nil {
		s.refuse(c, *refused)
		return
	}
	if !r.serve(ctx, c) {
		s.refuse(c, elsewhere)
	}
}

// open makes this process the session's owner, with a room for it. Where it has a claim
// on the session, that must still be good.
func (s *Server) open(ctx context.Context, org id.Org, which id.Session, claim *session.Claim) (*room, *refusal) {
	ctx, cancel := context.WithTimeout(ctx, tokenWithin)
	defer cancel()
	organization, terms, err := s.Organization(ctx, org)
	if err != nil {
		return nil, s.wait(ctx, which, err)
	}
	home, err := s.Tenants.ShardOf(ctx, org)
	if err != nil {
		return nil, s.wait(ctx, which, err)
	}
	ending := session.Ending{By: s.leases.current(home)}
	if organization.PausedAt != nil {
		ending.Reason = session.AccountPaused
	}
	var a session.Attached
	err = s.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) (err error) {
		ending.At = s.now()
		if claim != nil {
			if err := claim.Hold(ctx, tx); err != nil {
				return err
			}
		}
		if ending.Reason != "" {
			a.Session, err = session.End(ctx, tx, which, ending)
			return err
		}
		a, err = session.Attach(ctx, tx, which, ending.By, terms, ending.At)
		return err
	})
	switch {
	case errors.Is(err, session.ErrOver), err == nil && a.Session.State.Over():
		return nil, &hasEnded
	case errors.Is(err, session.ErrNoPlace):
		return nil, &noPlace
	case err != nil:
		return nil, s.wait(ctx, which, err)
	}
	return s.furnish(ctx, org, a)
}

// wait asks a caller to come again, since something is away.
func (s *Server) wait(ctx context.Context, which id.Session, err error) *refusal {
	s.Log.WarnContext(ctx, "a client waits", "session", which.String(), "error", err)
	return &elsewhere
}

func (s *Server) now() time.Time { return s.Clock.Now().UTC().Truncate(time.Microsecond) }
