package live_test

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/eventing/usage"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/speech/speaker"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
	"visavis.dev/pkg/visits/live"
	"visavis.dev/pkg/visits/live/livetest"
)

// stage is a shard with an organization, and processes that hold its
// conversations.
type stage struct {
	t         *testing.T
	directory *directory.Directory
	tenants   *tenant.Tenants
	shards    []string
	// list lists the shards in place of shards, where it is set.
	list   func(context.Context) ([]string, error)
	org    id.Org
	terms  plan.Terms
	clock  clock.WithTickerAndDelayedExecution
	paused *time.Time
	// remembers is the personas' privacy.memory, and told takes what each
	// conversation is told of its person.
	remembers string
	told      chan []string
	// media is the organization's media server; nil for none.
	media   *mediaServer
	renders *renders
	// speaker says things aloud; nil for nobody.
	speaker speaker.Speaker
	// voices are what the speaker knows the voices of hosts by.
	voices map[id.Voice]string
	// fastest is how fast a voice can speak, by its name.
	fastest map[string]float64
	// recognition understands what visitors say; without a recognizer nothing does.
	recognition live.Recognition
	// deaf is why recognition cannot be opened.
	deaf error
	// files is where what is recorded is kept, in the bucket; nil where nothing is.
	files  *file.Store
	bucket *blob.Bucket
	// change changes the personas.
	change func(*persona.Definition)
}

// newStage makes a stage whose organization holds minutes for so many seconds.
func newStage(t *testing.T, seconds int64) *stage {
	t.Helper()
	tenants, d, org, _ := tenanttest.NewDirected(t)
	s := &stage{t: t, directory: d, tenants: tenants, shards: []string{"a"}, org: org, clock: clock.RealClock{}, told: make(chan []string, 100)}
	two := int64(2)
	s.terms.Limits = plan.Limits{plan.MaxConcurrentSessions: &two}
	grant := uuid.New()
	require.NoError(t, usage.GrantMinutes(context.Background(), tenants, org, grant, seconds/60+1, s.now(), nil))
	s.sql(`UPDATE minute_grant SET seconds = $2, remaining_s = $2 WHERE org_id = $1`, seconds)
	return s
}

func (s *stage) now() time.Time { return s.clock.Now().UTC().Truncate(time.Microsecond) }

// sql runs a statement about the organization.
func (s *stage) sql(statement string, args ...any) {
	s.t.Helper()
	require.NoError(s.t, s.tenants.InTx(context.Background(), s.org, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, statement, append([]any{s.org}, args...)...)
		return err
	}))
}

// knowledge is one passage that answers everything about the museum.
type knowledge struct{ told chan<- []string }

func (knowledge) Knowledge(id.Org) conversation.Knowledge { return knowledge{} }

func (k knowledge) Furnish(_ context.Context, _ id.Org, c *conversation.Config) error {
	k.told <- c.Session.Memories
	return nil
}

func (knowledge) Search(_ context.Context, q conversation.Query) ([]conversation.Passage, error) {
	if !strings.Contains(strings.ToLower(q.Text), "museum") {
		return nil, nil
	}
	return []conversation.Passage{{
		Document: id.NewDocument(), Chunk: id.NewChunk(), Title: "Visiting", Language: "en", Score: 0.9,
		Text: "The museum opens at nine. It closes at six. The museum is closed on Mondays.",
	}}, nil
}

// pod is a process that holds conversations.
type pod struct {
	*live.Server
	address string
	http    *http.Server
}

// pod starts a process.
func (s *stage) pod() *pod {
	s.t.Helper()
	return s.podWith(live.Options{Secret: []byte("what the processes share")})
}

// podAt starts a process that says of itself that it is at another address.
func (s *stage) podAt(address string) *pod {
	s.t.Helper()
	return s.podWith(live.Options{Secret: []byte("what the processes share"), Address: address})
}

// podWith starts a process with an address and a secret of its own.
func (s *stage) podWith(of live.Options) *pod {
	s.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(s.t, err)
	p := &pod{address: l.Addr().String()}
	o := live.Options{
		Tenants: s.tenants, Shards: func(ctx context.Context) ([]string, error) {
			if s.list != nil {
				return s.list(ctx)
			}
			return s.shards, nil
		},
		Organization: func(_ context.Context, org id.Org) (directory.Organization, plan.Terms, error) {
			return directory.Organization{ID: org, PausedAt: s.paused}, s.terms, nil
		},
		Persona: func(context.Context, id.Org, id.Persona, int64) (string, persona.Definition, error) {
			d := definition()
			d.Privacy.Memory = s.remembers
			if s.change != nil {
				s.change(&d)
			}
			return "Amara", d, nil
		},
		Recall: func(_ context.Context, _ id.Org, of session.Session) ([]string, error) {
			return []string{"speaks with " + of.Persona.String()}, nil
		},
		Minds: knowledge{s.told}, Address: cmp.Or(of.Address, p.address), Secret: of.Secret, PublicURL: "http://api.example", Clock: s.clock, Log: slog.New(slog.DiscardHandler),
		Gap: func(context.Context, *tenant.Tx, live.Question) error { return nil },
	}
	if s.speaker != nil {
		o.Voice = func(_ context.Context, _ id.Org, v id.Voice) (live.Voice, error) {
			name := cmp.Or(s.voices[v], "nora")
			return live.Voice{
				Speaker: s.speaker, In: func(string) speaker.Request { return speaker.Request{Voice: name} },
				Pace: func(speed float64) float64 { return min(speed, cmp.Or(s.fastest[name], speed)) },
			}, nil
		}
	}
	if s.recognition.Recognizer != nil || s.deaf != nil {
		o.Recognition = func(context.Context, id.Org) (live.Recognition, error) { return s.recognition, s.deaf }
	}
	o.Files, o.RTC = s.files, of.RTC
	if s.media != nil {
		s.media.join(&o)
	}
	if s.renders != nil {
		s.renders.join(&o)
	}
	p.Server = live.New(o)
	p.http = &http.Server{Handler: p.Server}
	go func() { _ = p.http.Serve(l) }()
	p.Start()
	s.t.Cleanup(func() { _ = p.http.Close() })
	return p
}

func definition() persona.Definition {
	d := persona.Definition{}
	d.Greeting.Mode, d.Greeting.Text = "fixed", map[string]string{"en": "Welcome."}
	d.Settings.Language, d.Settings.Speed = "en", 1
	d.Conversation.Interruptible, d.Conversation.MaxTurnS, d.Conversation.EndpointMs = "medium", 60, 300
	d.Tools = []persona.Tool{{Kind: "end_session", Enabled: true}}
	d.Closing = map[string]string{"en": "Goodbye."}
	return d
}

// mint starts a session as the API does.
func (s *stage) mint(change func(*session.Session)) (session.Session, session.Token) {
	s.t.Helper()
	wanted := session.Session{
		ID: id.SessionAt(s.now()), Kind: "conversation", Source: "api", Persona: id.NewPersona(), PersonaVersion: 1, Avatar: id.NewAvatar(),
		Voice: id.NewVoice(), Metadata: map[string]string{}, Language: "en", Engine: "premier", Transport: "websocket", Channel: "chat",
		AllowedOrigins: []string{}, MaxDurationS: 600, IdleTimeoutS: 300, CreatedAt: s.now(),
	}
	if change != nil {
		change(&wanted)
	}
	var (
		minted session.Session
		token  session.Token
	)
	require.NoError(s.t, s.tenants.InTx(context.Background(), s.org, func(ctx context.Context, tx *tenant.Tx) (err error) {
		m, err := session.Mint(ctx, tx, wanted, s.terms, session.Daily{})
		minted, token = m.Session, m.Token
		return err
	}))
	return minted, token
}

// client is a client of a session.
type client struct {
	*livetest.Client
	t      *testing.T
	resume string
	// audio is the sound that it was told of.
	audio json.RawMessage
	// hears is who understands speech.
	hears json.RawMessage
	// recording is how the recording stands.
	recording json.RawMessage
	// rtc is how WebRTC may be offered.
	rtc json.RawMessage
	// video is who renders the face.
	video json.RawMessage
	// said are the turns that it was shown when it came, and saidBy the same with who of a duo said them.
	said, saidBy []string
	// hosts are those of a duo.
	hosts json.RawMessage
}

// dial connects to a process.
func (s *stage) dial(p *pod, which id.Session, token string) (*livetest.Client, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return livetest.Dial(ctx, "ws://"+p.address+live.Path+which.String(), token)
}

// connect connects a client and waits until it is let in.
func (s *stage) connect(p *pod, which id.Session, token string) *client {
	s.t.Helper()
	c, err := s.dial(p, which, token)
	require.NoError(s.t, err)
	s.t.Cleanup(c.Drop)
	joined := &client{Client: c, t: s.t}
	var d struct {
		ResumeToken string
		Audio       json.RawMessage
		Hears       json.RawMessage
		Recording   json.RawMessage
		RTC         json.RawMessage
		Hosts       json.RawMessage
		Turns       []struct{ Host, Name, Text string }
	}
	joined.await("session-ready", &d)
	joined.resume, joined.audio, joined.hears, joined.recording, joined.rtc = d.ResumeToken, d.Audio, d.Hears, d.Recording, d.RTC
	joined.hosts = d.Hosts
	for _, turn := range d.Turns {
		joined.said, joined.saidBy = append(joined.said, turn.Text), append(joined.saidBy, strings.TrimSpace(turn.Host+" "+turn.Name+" "+turn.Text))
	}
	return joined
}

// visitor connects a client to a session that is minted for it.
func (s *stage) visitor(p *pod, change func(*session.Session)) (session.Session, *client) {
	s.t.Helper()
	minted, token := s.mint(change)
	return minted, s.connect(p, minted.ID, string(token))
}

// greeted is a visitor who was greeted.
func (s *stage) greeted(p *pod, change func(*session.Session)) (session.Session, *client) {
	s.t.Helper()
	minted, c := s.visitor(p, change)
	c.send("client-ready", nil)
	c.hear("Welcome.")
	return minted, c
}

// await waits for a message of a type and reads its data.
func (c *client) await(kind string, data any) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	m, err := c.UntilType(ctx, kind)
	require.NoError(c.t, err, "waiting for %s", kind)
	if data != nil {
		require.NoError(c.t, json.Unmarshal(m.Data, data))
	}
}

func (c *client) send(kind string, data any) {
	c.t.Helper()
	require.NoError(c.t, c.Send(context.Background(), kind, data))
}

// hear waits for words that contain a text.
func (c *client) hear(text string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	_, err := c.Until(ctx, func(m livetest.Message) bool {
		return (m.Type == "bot-text" || m.Type == "staff-text") && strings.Contains(string(m.Data), text)
	})
	require.NoError(c.t, err, "waiting to hear %q", text)
}

// ask asks about the museum and hears the answer out.
func (c *client) ask() {
	c.t.Helper()
	c.send("user-text", map[string]string{"text": "When does the museum open?"})
	c.hear("nine")
	c.hear(`"final":true`)
}

// ended waits for the end and answers the reason and the code of the socket.
func (c *client) ended() (session.Reason, int) {
	c.t.Helper()
	var d struct{ EndReason session.Reason }
	c.await("session-ended", &d)
	return d.EndReason, c.closed()
}

// closed waits until the socket is closed, and answers the code.
func (c *client) closed() int {
	c.t.Helper()
	timeout := time.After(20 * time.Second)
	for {
		select {
		case _, open := <-c.Messages():
			if !open {
				return c.CloseCode()
			}
		case <-timeout:
			require.Fail(c.t, "the socket stays open")
		}
	}
}

// session reads a session.
func (s *stage) session(which id.Session) session.Session {
	s.t.Helper()
	found, err := session.Get(context.Background(), s.tenants, s.org, which)
	require.NoError(s.t, err)
	return found
}

// turns are the words of a session.
func (s *stage) turns(which id.Session) []string {
	s.t.Helper()
	turns, err := session.Turns(context.Background(), s.tenants, s.org, which, 0, 100)
	require.NoError(s.t, err)
	texts := make([]string, len(turns))
	for i, turn := range turns {
		texts[i] = string(turn.Speaker) + ": " + turn.Text
	}
	return texts
}

// turn is what was said in a turn; empty when it is not kept.
func (s *stage) turn(which id.Session, turn id.Turn) string {
	s.t.Helper()
	turns, err := session.Turns(context.Background(), s.tenants, s.org, which, 0, 100)
	require.NoError(s.t, err)
	for _, t := range turns {
		if t.ID == turn {
			return string(t.Speaker) + ": " + t.Text
		}
	}
	return ""
}

// active is how many places are taken.
func (s *stage) active() int64 {
	s.t.Helper()
	active, _, err := session.Places(context.Background(), s.tenants, s.org)
	require.NoError(s.t, err)
	return active
}

// order asks the session's process to do something, and answers the id of the
// turn that is to come of it.
func (s *stage) order(which id.Session, c session.Command) id.Turn {
	s.t.Helper()
	c.ID = id.NewTurn()
	require.NoError(s.t, s.tenants.InTx(context.Background(), s.org, func(ctx context.Context, tx *tenant.Tx) error {
		held, err := session.Lock(ctx, tx, which)
		if err != nil {
			return err
		}
		return session.Order(ctx, tx, held, c)
	}))
	return c.ID
}

// invite makes a team member's token.
func (s *stage) invite(which id.Session, mode string) string {
	s.t.Helper()
	var token session.Token
	require.NoError(s.t, s.tenants.InTx(context.Background(), s.org, func(ctx context.Context, tx *tenant.Tx) (err error) {
		token, err = session.Invite(ctx, tx, session.Session{ID: which}, session.Colleague{ID: id.NewStaff(), Name: "Kim", Mode: mode}, activity.Actor{By: "test", At: s.now()})
		return err
	}))
	return string(token)
}
