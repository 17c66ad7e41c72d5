package api_test

import (
	"context"
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/tenant"
)

// Each test has an organization of its own, with minutes.
func TestSessions(t *testing.T) {
	w := newWorld(t)
	for name, test := range map[string]func(*testing.T, *world){
		"a ticket":               testTicket,
		"what minting needs":     testMintRefusals,
		"what minting names":     testMintNames,
		"other faces and voices": testMintOverrides,
		"duos":                   testMintDuo,
		"on a portal":            testMintOnAPortal,
		"portals that cannot":    testMintPlaceRefusals,
		"places":                 testMintPlaces,
		"sandbox":                testMintSandbox,
		"bounds of time":         testMintBounds,
		"minting again":          testMintReplay,
		"filters":                testSessionFilters,
		"older contract":         testSessionsOfAnOlderKey,
		"words need transcripts": testSessionWordsNeedTranscripts,
		"job interviews":         testScreeningsAreNotRead,
		"young learners":         testLearnersConversations,
		"zero retention":         testSessionsOfZeroRetention,
		"ends":                   testSessionEnds,
		"a last message":         testLastMessage,
		"orders":                 testSessionOrders,
		"steering":               testSteering,
		"steering within bounds": testSteeringRefusals,
		"idle sessions":          testEndIdle,
		"transcripts":            testTranscripts,
		"hostile words":          testHostileTranscripts,
		"figures":                testSessionFigures,
		"deleting words":         testDeleteTranscript,
		"team members":           testStaffTokens,
		"ratings":                testRatings,
		"events":                 testEventsOfSessions,
		"their personas":         testPersonasInSessions,
		"counts of places":       testConcurrency,
	} {
		t.Run(name, func(t *testing.T) {
			own := w.apart(t)
			own.use(t, own.Acme)
			test(t, own)
		})
	}
}

// mint asks for a session with the organization's persona unless another is named.
func (w *world) mint(t *testing.T, key apikey.Secret, properties map[string]any) apitest.Answer {
	t.Helper()
	body := map[string]any{"personaId": w.shown(t, w.Acme)}
	maps.Copy(body, properties)
	return w.do(t, "createSessionToken", "", key, body)
}

// ticket mints a session.
func (w *world) ticket(t *testing.T, properties map[string]any) map[string]any {
	t.Helper()
	answer := w.mint(t, w.Acme.New, properties)
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Raw)
	return answer.Data(t)
}

func (w *world) minted(t *testing.T, properties map[string]any) string {
	t.Helper()
	return at(w.ticket(t, properties), "session", "id").(string)
}

// talk is a session that a process runs, in which nothing was said.
func (w *world) talk(t *testing.T, properties map[string]any) session.Session {
	t.Helper()
	which, err := id.ParseSession(w.minted(t, properties))
	require.NoError(t, err)
	return w.run(t, which)
}

// run makes a session live.
func (w *world) run(t *testing.T, which id.Session) session.Session {
	t.Helper()
	var attached session.Attached
	w.inTx(t, func(ctx context.Context, tx *tenant.Tx) (err error) {
		attached, err = session.Attach(ctx, tx, which, uuid.New(), plan.Terms{}, moment())
		return err
	})
	w.tokens[which.Bare()] = attached.Resume
	return attached.Session
}

func moment() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// said keeps a turn of a session, which began at the session's beginning and so
// many seconds later for each turn before it.
func (w *world) said(t *testing.T, s session.Session, index int64, who session.Speaker, text string, changes ...func(*session.Turn)) session.Turn {
	t.Helper()
	from := s.StartedAt.Add(time.Duration(index) * 2 * time.Second)
	turn := session.Turn{
		ID: id.NewTurn(), Index: index, Speaker: who, Text: text, Language: "en", Origin: session.Typed, StartedAt: from,
		EndedAt: new(from.Add(1500 * time.Millisecond)), Timing: session.Timing{ResponseMs: -1, RetrievalMs: -1, ModelFirstMs: -1},
	}
	for _, change := range changes {
		change(&turn)
	}
	w.inTx(t, func(ctx context.Context, tx *tenant.Tx) error { return session.Keep(ctx, tx, s, turn, moment()) })
	return turn
}

// setSession changes a session's row as other parts of the service do.
func (w *world) setSession(t *testing.T, which string, assignment string, args ...any) {
	t.Helper()
	parsed, err := id.ParseSession(which)
	require.NoError(t, err)
	w.inTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE session SET `+assignment+` WHERE org_id = $1 AND id = $2`, append([]any{tx.Org, parsed}, args...)...)
		return err
	})
}

// read is a session as the newest key sees it.
func (w *world) read(t *testing.T, which string) map[string]any {
	t.Helper()
	answer := w.do(t, "getSession", which, w.Acme.New, nil)
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	return answer.Data(t)
}

// scoped is a key with nothing but these scopes.
func (w *world) scoped(v contract.Version, scopes ...scope.Scope) apikey.Secret {
	return w.Key(w.Acme, scope.Grant{Contract: v, Scopes: scopes})
}

// places are how many places GET /me and GET /sessions/concurrency say are taken.
func (w *world) places(t *testing.T) int {
	t.Helper()
	shown := at(w.Get(w.Acme.New, "/me").Data(t), "limits", "activeSessions")
	require.Equal(t, shown, w.do(t, "getConcurrency", "", w.Acme.New, nil).Data(t)["active"])
	return int(shown.(float64))
}

// reason is details.reason of a conflict.
func reason(t *testing.T, a apitest.Answer, param string) any {
	t.Helper()
	return at(requireError(t, a, http.StatusConflict, "conflict", param), "details", "reason")
}
