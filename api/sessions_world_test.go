package api_test

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

	"visavis.dev/api/apitest"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// sessionBody is a good body for a session of an organization.
func (w *world) sessionBody(t testing.TB, org *apitest.Org) map[string]any {
	t.Helper()
	n, pack := w.n, w.made["a pack of "+org.ID.String()]
	if pack == "" {
		pack = w.make(t, org, "createKnowledgeBase")["id"].(string)
		w.made["a pack of "+org.ID.String()] = pack
	}
	return map[string]any{
		"personaId": w.shown(t, org), "portalId": "", "subjectId": "", "personId": "", "avatarId": id.NamedAvatar("amara").String(), "voiceId": id.NamedVoice("nora").String(), "language": "English",
		"channel": "chat", "transport": "websocket", "kind": "conversation", "context": "tests", "variables": map[string]any{"name": "Kim"},
		"greeting": "Hello {{name}}", "knowledgeBaseIds": []any{pack}, "documentTags": []any{"visit"}, "maxDurationS": 600, "idleTimeoutS": 60,
		"externalId": fmt.Sprint("visit-", n), "metadata": map[string]any{"source": "tests"}, "allowedOrigins": []any{"https://www.example.com"},
		"sandbox": false,
	}
}

// converse makes a session that is live, with a turn, without a socket.
func (w *world) converse(t testing.TB, org *apitest.Org) id.Session {
	t.Helper()
	o := w.operation(t, "createSessionToken")
	w.n++
	answer := w.call(t, o, apitest.Request{Path: o.Path, Key: org.New, Body: w.sessionBody(t, org)})
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Raw)
	which, err := id.ParseSession(answer.Data(t)["session"].(map[string]any)["id"].(string))
	require.NoError(t, err)
	w.attach(t, org, which)
	return which
}

// attach makes a session live, as the process does that its client connects to.
func (w *world) attach(t testing.TB, org *apitest.Org, which id.Session) session.Session {
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
	w.tokens[which.Bare()] = attached.Resume
	return attached.Session
}

// rate gives a rating the token of the session's client.
func (w *world) rate(o *route.Operation, r apitest.Request) apitest.Request {
	if o.ID != "rateSession" {
		return r
	}
	bare, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(r.Path, "/sessions/"), "sess_"), "/")
	header := map[string]string{"X-Session-Token": string(w.tokens[bare])}
	maps.Copy(header, r.Header)
	r.Header = header
	return r
}

// use notes minutes bought and used.
func (w *world) use(t testing.TB, org *apitest.Org) {
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
