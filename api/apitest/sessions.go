package apitest

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/tenant"
)

// Mint asks for a session with the organization's persona unless another is named.
func (w *World) Mint(t *testing.T, key apikey.Secret, properties map[string]any) Answer {
	t.Helper()
	body := map[string]any{"personaId": w.Shown(t, w.Acme)}
	maps.Copy(body, properties)
	return w.CallAs(t, "createSessionToken", "", key, body)
}

// Ticket mints a session.
func (w *World) Ticket(t *testing.T, properties map[string]any) map[string]any {
	t.Helper()
	answer := w.Mint(t, w.Acme.New, properties)
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Raw)
	return answer.Data(t)
}

func (w *World) Minted(t *testing.T, properties map[string]any) string {
	t.Helper()
	return At(w.Ticket(t, properties), "session", "id").(string)
}

// Talk is a session that a process runs, in which nothing was said.
func (w *World) Talk(t *testing.T, properties map[string]any) session.Session {
	t.Helper()
	which, err := id.ParseSession(w.Minted(t, properties))
	require.NoError(t, err)
	return w.Run(t, which)
}

// Run makes a session live.
func (w *World) Run(t *testing.T, which id.Session) session.Session {
	t.Helper()
	var attached session.Attached
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) (err error) {
		attached, err = session.Attach(ctx, tx, which, uuid.New(), plan.Terms{}, Moment())
		return err
	})
	w.Tokens[which.Bare()] = attached.Resume
	return attached.Session
}

// CarryOut carries out all that live sessions are told, as their processes do, until the test ends.
func (w *World) CarryOut(t *testing.T) {
	t.Helper()
	db, err := w.Tenants.Shard(t.Context(), "shard-1")
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		look := time.NewTicker(5 * time.Millisecond)
		defer look.Stop()
		for {
			select {
			case <-look.C:
				_, _ = db.Exec(t.Context(), `DELETE FROM session_command`)
			case <-t.Context().Done():
				return
			}
		}
	}()
	t.Cleanup(func() { <-done })
}

func Moment() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// Said keeps a turn of a session, which began at the session's beginning and so
// many seconds later for each turn before it.
func (w *World) Said(t *testing.T, s session.Session, index int64, who session.Speaker, text string, changes ...func(*session.Turn)) session.Turn {
	t.Helper()
	from := s.StartedAt.Add(time.Duration(index) * 2 * time.Second)
	turn := session.Turn{
		ID: id.NewTurn(), Index: index, Speaker: who, Text: text, Language: "en", Origin: session.Typed, StartedAt: from,
		EndedAt: new(from.Add(1500 * time.Millisecond)), Timing: session.Timing{ResponseMs: -1, RetrievalMs: -1, ModelFirstMs: -1},
	}
	for _, change := range changes {
		change(&turn)
	}
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error { return session.Keep(ctx, tx, s, turn, Moment()) })
	return turn
}

// SetSession changes a session's row as other parts of the service do.
func (w *World) SetSession(t *testing.T, which string, assignment string, args ...any) {
	t.Helper()
	parsed, err := id.ParseSession(which)
	require.NoError(t, err)
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE session SET `+assignment+` WHERE org_id = $1 AND id = $2`, append([]any{tx.Org, parsed}, args...)...)
		return err
	})
}

// Read is a session as the newest key sees it.
func (w *World) Read(t *testing.T, which string) map[string]any {
	t.Helper()
	answer := w.CallAs(t, "getSession", which, w.Acme.New, nil)
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	return answer.Data(t)
}

// Scoped is a key with nothing but these scopes.
func (w *World) Scoped(v contract.Version, scopes ...scope.Scope) apikey.Secret {
	return w.Key(w.Acme, scope.Grant{Contract: v, Scopes: scopes})
}

// Reason is details.reason of a conflict.
func Reason(t *testing.T, a Answer, param string) any {
	t.Helper()
	return At(RequireError(t, a, http.StatusConflict, "conflict", param), "details", "reason")
}

// SessionBody is a good body for a session of an organization.
func (w *World) SessionBody(t testing.TB, org *Org) map[string]any {
	t.Helper()
	n, pack := w.n, w.Made["a pack of "+org.ID.String()]
	if pack == "" {
		pack = w.Make(t, org, "createKnowledgeBase")["id"].(string)
		w.Made["a pack of "+org.ID.String()] = pack
	}
	return map[string]any{
		"personaId": w.Shown(t, org), "portalId": "", "subjectId": "", "personId": "", "assignmentId": "", "avatarId": id.NamedAvatar("amara").String(), "voiceId": id.NamedVoice("nora").String(), "language": "English",
		"channel": "chat", "transport": "websocket", "kind": "conversation", "context": "tests", "variables": map[string]any{"name": "Kim"},
		"greeting": "Hello {{name}}", "knowledgeBaseIds": []any{pack}, "documentTags": []any{"visit"}, "maxDurationS": 600, "idleTimeoutS": 60,
		"externalId": fmt.Sprint("visit-", n), "metadata": map[string]any{"source": "tests"}, "allowedOrigins": []any{"https://www.example.com"},
		"sandbox": false, "record": false, "page": map[string]any{"url": "https://www.example.com/tours?utm_source=news", "referrer": "https://search.example/"},
	}
}

// converse makes a session that is live, with a turn, without a socket.
func (w *World) converse(t testing.TB, org *Org) id.Session {
	t.Helper()
	o := w.Operation(t, "createSessionToken")
	w.n++
	answer := w.Call(t, o, Request{Path: o.Path, Key: org.New, Body: w.SessionBody(t, org)})
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Raw)
	which, err := id.ParseSession(answer.Data(t)["session"].(map[string]any)["id"].(string))
	require.NoError(t, err)
	w.Attach(t, org, which)
	return which
}

// Attach makes a session live, as the process does that its client connects to.
func (w *World) Attach(t testing.TB, org *Org, which id.Session) session.Session {
	t.Helper()
	now := time.Now().UTC().Truncate(time.Microsecond)
	var attached session.Attached
	require.NoError(t, w.Tenants.InTx(context.Background(), org.ID, func(ctx context.Context, tx *tenant.Tx) (err error) {
		attached, err = session.Attach(ctx, tx, which, uuid.New(), plan.Terms{}, now)
		return err
	}))
	turn := session.Turn{ID: id.NewTurn(), Speaker: session.User, Text: "Hello", Language: "en", Origin: session.Typed, StartedAt: now, EndedAt: &now}
	for i := range int64(3) {
		turn.ID, turn.Index = id.NewTurn(), i
		require.NoError(t, w.Tenants.InTx(context.Background(), org.ID, func(ctx context.Context, tx *tenant.Tx) error {
			return session.Keep(ctx, tx, attached.Session, turn, now)
		}))
	}
	w.Tokens[which.Bare()] = attached.Resume
	return attached.Session
}

// rate gives a rating the token of the session's client.
func (w *World) rate(o *route.Operation, r Request) Request {
	if o.ID != "rateSession" {
		return r
	}
	bare, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(r.Path, "/sessions/"), "sess_"), "/")
	header := map[string]string{"X-Session-Token": string(w.Tokens[bare])}
	maps.Copy(header, r.Header)
	r.Header = header
	return r
}

// Use notes minutes bought and used.
func (w *World) Use(t testing.TB, org *Org) {
	t.Helper()
	now := time.Now().UTC()
	require.NoError(t, w.Tenants.InTx(context.Background(), org.ID, func(ctx context.Context, tx *tenant.Tx) error {
		if _, err := tx.Exec(ctx, `
			INSERT INTO usage_block (org_id, session_id, block, kind, persona_id, sandbox, started_at, seconds)
			VALUES ($1, $2, 0, 'widget', $3, false, $4, 90)`, org.ID, uuid.New(), uuid.New(), now); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `
			INSERT INTO minute_grant (org_id, id, seconds, remaining_s, granted_at, expires_at)
			VALUES ($1, $2, 6000, 5910, $3, $4)`, org.ID, uuid.New(), now, now.Add(time.Hour))
		return err
	}))
}
