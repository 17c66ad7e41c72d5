package inbox_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/mail"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// waiting is a live conversation whose visitor asked for a person.
type waiting struct {
	t    *testing.T
	w    *apitest.World
	item string
	session.Session
	began  time.Time
	before int
}

func wait(t *testing.T, w *apitest.World) *waiting {
	t.Helper()
	v := &waiting{t: t, w: w, item: w.Handoff(t, w.Acme), began: time.Now().UTC().Truncate(time.Microsecond)}
	which, err := id.ParseSession(read(t, w, v.item, w.Acme.New)["sessionId"].(string))
	require.NoError(t, err)
	v.Session, err = session.Get(t.Context(), w.Tenants, w.Acme.ID, which)
	require.NoError(t, err)
	return v
}

func (v *waiting) in(fn func(context.Context, *tenant.Tx) error) {
	v.t.Helper()
	require.NoError(v.t, v.w.Tenants.InTx(v.t.Context(), v.w.Acme.ID, fn))
}

// asks has the visitor ask for a person once more, so long after they did first.
func (v *waiting) asks(after time.Duration) {
	v.t.Helper()
	v.in(func(ctx context.Context, tx *tenant.Tx) error {
		return session.Collect(ctx, tx, v.ID, v.Epoch, session.Found{Left: []inbox.Left{{Kind: inbox.Handoff, RequestedBy: inbox.ByVisitor}}}, v.began.Add(after))
	})
}

// comes has somebody join who was invited for a mode.
func (v *waiting) comes(mode string) id.Staff {
	v.t.Helper()
	c := session.Colleague{ID: id.NewStaff(), Name: "Kim", Mode: mode}
	v.in(func(ctx context.Context, tx *tenant.Tx) error {
		if _, err := session.Invite(ctx, tx, v.Session, c, actor(time.Now().UTC())); err != nil {
			return err
		}
		_, err := session.Join(ctx, tx, v.ID, v.Epoch, c.ID, time.Now().UTC())
		return err
	})
	return c.ID
}

func (v *waiting) leaves(who id.Staff) {
	v.t.Helper()
	v.in(func(ctx context.Context, tx *tenant.Tx) error {
		return session.Leave(ctx, tx, v.ID, v.Epoch, who, time.Now().UTC())
	})
}

// called is how many of the team were called since it was asked last.
func (v *waiting) called() (n int) {
	v.t.Helper()
	before := v.before
	v.in(func(ctx context.Context, tx *tenant.Tx) error {
		return tx.QueryRow(ctx, `SELECT count(*) FROM job WHERE org_id = $1 AND kind = $2 AND resource_id = $3`, tx.Org, job.InboxMail, v.item).Scan(&v.before)
	})
	return v.before - before
}

// Who asks for a person again has the team called again, unless somebody is there.
func TestAPersonIsCalledAgain(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	w.TeamMember(t, w.Acme, map[string]any{"joins": true})
	v := wait(t, w)
	require.Equal(t, 1, v.called())
	kim := v.comes(session.Takeover)
	came := read(t, w, v.item, w.Acme.New)["handoff"]
	v.asks(0)
	require.Zero(t, v.called(), "somebody is there")
	require.Equal(t, came, read(t, w, v.item, w.Acme.New)["handoff"], "who came is still who came")
	v.leaves(kim)
	v.asks(0)
	require.Equal(t, 1, v.called(), "who came has left, however short a time ago the team was called")

	v.asks(59 * time.Second)
	require.Zero(t, v.called(), "they were asked a moment ago")
	v.asks(60 * time.Second)
	require.Equal(t, 1, v.called(), "nobody came")
	listens := v.comes(session.Listen)
	v.asks(10 * time.Minute)
	require.Equal(t, 1, v.called(), "who only listens answers nobody")
	v.leaves(listens)

	require.Equal(t, http.StatusOK, w.CallAs(t, "updateInboxItem", v.item, w.Acme.New, map[string]any{"state": "spam"}).Status)
	v.asks(20 * time.Minute)
	require.Zero(t, v.called())
	require.Equal(t, "spam", read(t, w, v.item, w.Acme.New)["state"])
}

// A visitor who asks without end uses up the mails of nobody else's conversation.
func TestOneConversationCallsTheTeamFewTimes(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	w.TeamMember(t, w.Acme, map[string]any{"joins": true})
	v := wait(t, w)
	for n := range 10 {
		v.asks(time.Duration(n+1) * time.Hour)
		v.leaves(v.comes(session.Takeover))
		v.asks(time.Duration(n+1)*time.Hour + time.Minute)
	}
	require.Equal(t, 5, v.called())
	require.Equal(t, 1, wait(t, w).called(), "another conversation's team is called")
}

// Visitors who ask again and again, of many conversations, leave mails of the hour to those who ask for the first time.
func TestConversationsLeaveCallsToOthers(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	w.TeamMember(t, w.Acme, map[string]any{"joins": true})
	var box postbox
	for range 14 {
		v := wait(t, w)
		for n := range 4 {
			v.asks(time.Duration(n+1) * time.Minute)
		}
		require.Equal(t, 5, v.called())
	}
	w.Post(t, &box)
	sent := len(box.sent)
	wait(t, w)
	w.Post(t, &box)
	require.Len(t, box.sent, sent+1)
}

// For a visitor to whom somebody only listens, the team is asked as before.
func TestWhoOnlyListensAnswersNobody(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	w.TeamMember(t, w.Acme, map[string]any{"joins": true})
	v := wait(t, w)
	v.comes(session.Listen)
	handoff := read(t, w, v.item, w.Acme.New)["handoff"].(map[string]any)
	require.Nil(t, handoff["joinedBy"])
	require.Nil(t, handoff["joinedAt"])
	var box postbox
	w.Post(t, &box)
	require.Len(t, box.sent, 1)
	came := v.comes(session.Speak)
	require.Equal(t, came.String(), apitest.At(read(t, w, v.item, w.Acme.New), "handoff", "joinedBy"))
}

// A mail that has to be sent again has the link of the first one, and there is no other.
func TestAMailIsSentAgainWithItsLink(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	w.TeamMember(t, w.Acme, map[string]any{"joins": true})
	v := wait(t, w)
	box := &brokenBox{away: 2}
	for range 3 {
		w.Post(t, box)
		v.in(func(ctx context.Context, tx *tenant.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE job SET due_at = now() - INTERVAL '1 minute' WHERE org_id = $1 AND kind = $2`, tx.Org, job.InboxMail)
			return err
		})
	}
	require.Len(t, box.sent, 3)
	require.Contains(t, box.sent[0].Text, "https://portal.example.com/p/~staff/")
	require.Equal(t, box.sent[0], box.sent[1])
	require.Equal(t, box.sent[0], box.sent[2])
	var invited int
	v.in(func(ctx context.Context, tx *tenant.Tx) error {
		return tx.QueryRow(ctx, `SELECT count(*) FROM session_token WHERE org_id = $1 AND session_id = $2 AND kind = 'staff'`, tx.Org, v.ID).Scan(&invited)
	})
	require.Equal(t, 1, invited)
	w.Post(t, box)
	require.Len(t, box.sent, 3)
}

// brokenBox is a mail server that fails a few times after it took a mail.
type brokenBox struct {
	postbox
	away int
}

func (b *brokenBox) Send(ctx context.Context, m mail.Message) error {
	if err := b.postbox.Send(ctx, m); err != nil || b.away == 0 {
		return err
	}
	b.away--
	return errors.New("the connection was lost")
}

// Of two who open their links at once one comes, and the other one after they left.
func TestTheFirstWhoComesTakesThePlace(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	v := wait(t, w)
	one, two := id.NewStaff(), id.NewStaff()
	tokens := map[id.Staff]session.Token{}
	join := func(who id.Staff) error {
		return w.Tenants.InTx(t.Context(), w.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
			_, err := session.Join(ctx, tx, v.ID, v.Epoch, who, time.Now().UTC())
			return err
		})
	}
	attended := func(who id.Staff) string {
		_, a, err := session.Admit(t.Context(), w.Tenants, v.ID, tokens[who])
		require.NoError(t, err)
		return a.Attended
	}
	v.in(func(ctx context.Context, tx *tenant.Tx) (err error) {
		for who, name := range map[id.Staff]string{one: "Ana", two: "Ida"} {
			c := session.Colleague{ID: who, Name: name, Mode: session.Takeover, Called: true}
			if tokens[who], err = session.Invite(ctx, tx, v.Session, c, actor(time.Now().UTC())); err != nil {
				return err
			}
		}
		return nil
	})
	v.comes(session.Listen)
	require.Empty(t, attended(one), "who only listens takes nobody's place")
	require.NoError(t, join(one))
	require.Empty(t, attended(one), "who came may come back")
	require.Equal(t, "Ana", attended(two))
	require.ErrorIs(t, join(two), session.ErrAttended)
	by := v.comes(session.Speak) // by a link that somebody was given
	v.leaves(one)
	require.Equal(t, "Kim", attended(two))
	v.leaves(by)
	require.Empty(t, attended(two))
	require.NoError(t, join(two))
}
