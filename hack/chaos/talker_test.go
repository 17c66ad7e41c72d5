package chaos

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/visits/live/livetest"
)

// talker is somebody in a conversation, and all that they were told in it.
type talker struct {
	s      *stage
	which  id.Session
	client *livetest.Client
	// token lets them come back.
	token string
	// heard are the words of each turn that they were sent, shown those that
	// they were shown when they came back.
	heard, shown map[string]string
	// times is how often they were sent a text.
	times map[string]int
	// pending says that what was said last is a question.
	pending bool
	// orders are the texts that were to be said, by the ids of their turns.
	orders map[string]string
}

// newTalker starts a conversation on a process. It is spoken, so that a turn is
// under way as long as its words take.
func (s *stage) newTalker(ctx context.Context, at string) *talker {
	s.t.Helper()
	ticket, err := s.apis[0].Mint(ctx, s.persona, map[string]any{"channel": "voice", "greeting": ""})
	require.NoError(s.t, err)
	which, err := id.ParseSession(ticket.Session.ID)
	require.NoError(s.t, err)
	k := &talker{s: s, which: which, token: ticket.Token, heard: map[string]string{}, shown: map[string]string{}, times: map[string]int{}, orders: map[string]string{}}
	k.connect(ctx, at)
	return k
}

// connect comes to a process, for the first time or again.
func (k *talker) connect(ctx context.Context, at string) {
	t := k.s.t
	t.Helper()
	var err error
	k.client, err = livetest.Dial(ctx, "ws://"+at+"/live/v1/"+k.which.String(), k.token)
	require.NoError(t, err)
	ready, err := k.client.UntilType(ctx, "session-ready")
	require.NoError(t, err)
	var d struct {
		ResumeToken string
		Turns       []struct{ ID, Speaker, Text string }
	}
	require.NoError(t, json.Unmarshal(ready.Data, &d))
	k.token, k.pending = d.ResumeToken, false
	for _, turn := range d.Turns {
		k.shown[turn.ID], k.pending = turn.Text, turn.Speaker == string(session.User)
	}
	require.NoError(t, k.client.Send(ctx, "client-ready", nil))
}

// hear notes what a message says.
func (k *talker) hear(m livetest.Message) {
	var d struct{ TurnID, Text string }
	if m.Type != "bot-text" && m.Type != "user-transcription" || json.Unmarshal(m.Data, &d) != nil || d.Text == "" {
		return
	}
	k.heard[d.TurnID] = strings.TrimSpace(k.heard[d.TurnID] + " " + d.Text)
	k.times[d.Text]++
}

// until hears what comes, up to what fn accepts.
func (k *talker) until(ctx context.Context, what string, fn func(livetest.Message) bool) {
	k.s.t.Helper()
	_, err := k.client.Until(ctx, func(m livetest.Message) bool {
		k.hear(m)
		return fn(m)
	})
	require.NoError(k.s.t, err, "%s: %s", k.which, what)
}

// untilAnswered hears up to the first words of an answer.
func (k *talker) untilAnswered(ctx context.Context) {
	k.s.t.Helper()
	k.until(ctx, "an answer", func(m livetest.Message) bool { return m.Type == "bot-text" })
}

// ask asks and hears up to the first words of the answer.
func (k *talker) ask(ctx context.Context, question string) {
	k.s.t.Helper()
	require.NoError(k.s.t, k.client.Say(ctx, question))
	k.until(ctx, "the question", func(m livetest.Message) bool { return m.Type == "user-transcription" })
	k.untilAnswered(ctx)
}

// order has the API say something, which it promises to.
func (k *talker) order(ctx context.Context, text string, interrupt bool) {
	k.s.t.Helper()
	var promised struct{ TurnID string }
	require.NoError(k.s.t, k.s.apis[0].Call(ctx, http.MethodPost, "/sessions/"+k.which.String()+"/say",
		map[string]any{"text": text, "interrupt": interrupt}, &promised))
	k.orders[promised.TurnID] = text
}

// drain hears the last of a connection that broke off.
func (k *talker) drain() {
	for m := range k.client.Messages() {
		k.hear(m)
	}
}

// told says whether all that was promised to be said was heard or shown.
func (k *talker) told() bool {
	for turn := range k.orders {
		if k.heard[turn] == "" && k.shown[turn] == "" {
			return false
		}
	}
	return true
}

// comeBack goes on with the conversation: a question that is open is answered,
// what was promised is said, and so is the answer to another question.
func (k *talker) comeBack(ctx context.Context, at string) {
	k.s.t.Helper()
	k.connect(ctx, at)
	if k.pending {
		k.untilAnswered(ctx)
	}
	if !k.told() {
		k.until(ctx, "what was promised", func(livetest.Message) bool { return k.told() })
	}
	k.ask(ctx, "Are dogs allowed?")
}

// end has the API end the session.
func (k *talker) end(ctx context.Context) {
	k.s.t.Helper()
	require.NoError(k.s.t, k.s.apis[0].Call(ctx, http.MethodPost, "/sessions/"+k.which.String()+"/end", nil, nil))
	k.drain()
}

// freed is how long after a moment the session's place was given back.
func (k *talker) freed(from time.Time) time.Duration {
	assert.Eventually(k.s.t, func() bool {
		held, err := session.Get(context.Background(), k.s.Tenants, k.s.Acme.ID, k.which)
		return err == nil && !held.Slot
	}, 30*time.Second, 20*time.Millisecond, "the place of %s does not come back", k.which)
	return time.Since(from)
}

// requireKept requires that everything that was heard is in the transcript, and
// what was promised just once.
func (k *talker) requireKept() {
	t := k.s.t
	t.Helper()
	kept, times := map[string]string{}, map[string]int{}
	for i, turn := range k.s.turns(k.which) {
		require.EqualValues(t, i, turn.Index)
		require.NotNil(t, turn.EndedAt, "turn %d of %s is open", i, k.which)
		kept[turn.ID.String()] = turn.Text
		times[turn.Text]++
	}
	for turn, text := range k.heard {
		require.Contains(t, kept[turn], text, "turn %s of %s was heard and is not kept", turn, k.which)
	}
	for turn, text := range k.orders {
		require.Equal(t, text, kept[turn], "what was promised is said in its turn")
		require.Equal(t, 1, times[text], "%q is kept once", text)
		require.LessOrEqual(t, k.times[text], 1, "%q is said once", text)
	}
}
