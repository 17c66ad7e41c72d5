package live

import (
	"context"
	"errors"
	"maps"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/hiring/screening"
	"visavis.dev/pkg/learning/result"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/text/search"
	"visavis.dev/pkg/visits/memory"
)

// config is what the room's conversation is made of.
func (r *room) config(ctx context.Context) (conversation.Config, error) {
	s, srv := r.session, r.server
	name, definition, err := srv.Persona(ctx, r.org, s.Persona, s.PersonaVersion)
	if err != nil {
		return conversation.Config{}, err
	}
	r.name = name
	turns, err := session.Turns(ctx, srv.Tenants, r.org, s.ID, max(0, s.TurnCount-lastTurns), lastTurns)
	if err != nil {
		return conversation.Config{}, err
	}
	var memories []string
	if definition.Privacy.Memory == memory.ByPerson {
		if memories, err = srv.Recall(ctx, r.org, s); err != nil {
			return conversation.Config{}, err
		}
	}
	bases := s.Brief.BaseIDs
	if bases == nil {
		bases = definition.Knowledge.BaseIDs
	}
	if s.Brief.Instructions != nil {
		definition.Instructions = *s.Brief.Instructions
	}
	definition.Goals = s.Brief.Pursue(definition.Goals)
	c := conversation.Config{
		Session: conversation.Facts{
			ID: s.ID, Language: s.Language, Channel: conversation.Channel(s.Channel), Context: s.Brief.Context,
			Variables: s.Brief.Variables, Greeting: s.Brief.Greeting, Memories: memories, Collected: s.Collected,
			Deaf: s.Brief.Deaf, Mute: s.Brief.Mute, Goal: s.Brief.Goal, Ending: s.Brief.Ending, Ends: s.Brief.Closed,
			Reachable: s.Reachable(), Clocks: s.Clocks,
		},
		Staff:   r.colleagues(),
		Persona: definition, PersonaName: name, Duo: s.Brief.Duo, Bases: bases, Tags: s.Brief.Tags, Turns: turns, NextTurn: s.TurnCount,
		Knowledge: srv.Minds.Knowledge(r.org), Journal: &journal{r, bases},
		Diary: r.newDiary(definition),
		Send:  r.send,
		End: func(reason string) {
			why := session.Reason(reason)
			r.why.Store(&why)
		},
		Clock:  srv.Clock,
		Log:    srv.Log.With("session", s.ID.String()),
		Detect: search.Detect,
	}
	if s.Kind != session.Screening { // what is kept of candidates their role says, and they are shown
		c.Kept = r.kept(s)
	}
	if s.Kind == session.Screening {
		c.Session.PersonAsked = screening.PersonAsked(s.Language)
	}
	if s.Brief.Closed {
		c.Knowledge, c.Bases = nil, nil
	}
	if s.Brief.Scored {
		open := result.NewExaminer
		if s.Kind == session.Screening {
			open = screening.Examiner
		}
		examiner, err := open(ctx, srv.Tenants, r.org, s)
		if err != nil {
			return conversation.Config{}, err
		}
		c.Examiner = examiner
	}
	if err := r.openVoices(ctx, definition.Settings.Pronunciations); err != nil {
		return conversation.Config{}, err
	}
	if r.voice = r.newVoice(r.said); r.voice != nil {
		c.Sound = r.voice
	}
	if srv.Recognition != nil && s.Channel != string(conversation.Chat) {
		by, err := srv.Recognition(ctx, r.org)
		if err != nil {
			// A conversation can be typed.
			srv.Log.WarnContext(ctx, "failed to open the connection that recognizes speech", "session", s.ID.String(), "error", err)
		}
		r.hearing = r.newHearing(by)
	}
	if r.hearing != nil {
		r.hearing.deaf = s.Brief.Deaf
	}
	r.pressed = definition.Conversation.PushToTalk
	r.polyglot = definition.Settings.AutoDetectLanguage && len(definition.Settings.Languages) > 0 && c.Examiner == nil
	if s.Outcome != nil {
		c.Session.Outcome = *s.Outcome
	}
	return c, srv.Minds.Furnish(ctx, r.org, &c)
}

// lastTurns is how many of the last turns a conversation that is taken over goes on from:
// more than it holds in memory.
const lastTurns = 100

// journal keeps what is said on the shard.
type journal struct {
	room  *room
	bases []id.KnowledgeBase
}

// keepWithin is how long the database may be away while somebody speaks.
const keepWithin = 5 * time.Second

func (j *journal) write(ctx context.Context, fn func(context.Context, *tenant.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, keepWithin)
	defer cancel()
	err := j.room.retry(ctx, fn)
	if errors.Is(err, session.ErrLost) {
		return conversation.ErrLost
	}
	return err
}

// Keep implements conversation.Journal.
func (j *journal) Keep(ctx context.Context, t session.Turn) error {
	r := j.room
	return j.write(ctx, func(ctx context.Context, tx *tenant.Tx) error {
		return session.Keep(ctx, tx, r.session, t, r.server.now())
	})
}

// Gap implements conversation.Journal.
func (j *journal) Gap(ctx context.Context, question, language string) error {
	r := j.room
	return j.write(ctx, func(ctx context.Context, tx *tenant.Tx) error {
		return r.server.Gap(ctx, tx, Question{Session: r.session, Bases: j.bases, Text: question, Language: language, At: r.server.now()})
	})
}

// Collected implements conversation.Journal.
func (j *journal) Collected(ctx context.Context, f session.Found) error {
	r := j.room
	by := ""
	if r.session.Kind == session.Screening {
		by = asksForPerson(f.Left)
	}
	return j.write(ctx, func(ctx context.Context, tx *tenant.Tx) error {
		if by != "" { // what a candidate leaves is nobody's in the inbox
			if err := screening.AskForPerson(ctx, tx, r.session.ID, by, r.server.now()); err != nil {
				return err
			}
		}
		return session.Collect(ctx, tx, r.session.ID, r.session.Epoch, f, r.server.now())
	})
}

// Nobody implements conversation.Staffing.
func (j *journal) Nobody(ctx context.Context) (nobody bool, err error) {
	r := j.room
	err = j.write(ctx, func(ctx context.Context, tx *tenant.Tx) (err error) {
		nobody, err = inbox.Nobody(ctx, tx, r.session.ID, r.server.now())
		return err
	})
	return nobody, err
}

// asksForPerson is who asks for a person in what is left: the visitor, or the avatar for them; empty
// for nobody. A rule of the persona's speaks for nobody.
func asksForPerson(all []inbox.Left) (by string) {
	for _, l := range all {
		if l.Kind == inbox.Handoff && (l.RequestedBy == inbox.ByVisitor || l.RequestedBy == inbox.ByAvatar) {
			by = l.RequestedBy
		}
	}
	return by
}

// shownTurns is how many of the last turns a client that comes is shown.
const shownTurns = 20

// ready is the first message to a client: what it came into, what was said so
// far, and the token by which it comes back. Of what was said the latest is told that
// fits the bytes.
func (r *room) ready(ctx context.Context, p peer) (frame, map[string]any, error) {
	token, err := r.token(ctx)
	if err != nil {
		return frame{}, nil, err
	}
	said, err := session.Turns(ctx, r.server.Tenants, r.org, r.session.ID, max(0, r.talk.Snapshot().Turns-shownTurns), shownTurns)
	if err != nil {
		return frame{}, nil, err
	}
	type turn struct {
		ID      id.Turn         `json:"id"`
		Index   int64           `json:"index"`
		Speaker session.Speaker `json:"speaker"`
		Host    string          `json:"host,omitempty"`
		Name    string          `json:"name,omitempty"`
		Text    string          `json:"text"`
	}
	turns := make([]turn, len(said))
	for i, t := range said {
		turns[i] = turn{t.ID, t.Index, t.Speaker, t.Host, t.Name, t.Heard()}
	}
	for {
		welcome := r.readyData(map[string]any{
			"resumeToken": token, "turns": turns, "audio": r.sound(p, announced), "hears": r.hears(p), "pushToTalk": r.pressed,
			"recording": r.recording(p), "rtc": r.rtc(p), "video": r.video(p), "answerTime": r.talk.Snapshot().AnswerTime(r.server.now()),
		})
		f := r.server.message("session-ready", welcome)
		if len(f.data) <= p.most() || len(turns) == 0 {
			return f, welcome, nil
		}
		turns = turns[1:]
	}
}

// token is what the client that comes now comes back by.
func (r *room) token(ctx context.Context) (token session.Token, err error) {
	if token, r.resume = r.resume, ""; token != "" {
		return token, nil
	}
	err = r.retry(ctx, func(ctx context.Context, tx *tenant.Tx) (err error) {
		token, err = session.Renew(ctx, tx, r.session.ID, r.session.Epoch, r.server.now())
		return err
	})
	return token, err
}

// readyData is what everybody who comes is told, and more.
func (r *room) readyData(more map[string]any) map[string]any {
	s := r.session
	data := map[string]any{
		"session": map[string]any{
			"id": s.ID, "personaId": s.Persona, "name": r.name, "language": s.Language, "channel": s.Channel, "sandbox": s.Sandbox,
			"startedAt": s.StartedAt, "maxDurationS": s.MaxDurationS, "idleTimeoutS": s.IdleTimeoutS,
		},
		"face": r.faceOf(s.Avatar),
	}
	if s.Brief.Duo != nil {
		data["hosts"] = r.hosts()
	}
	maps.Copy(data, more)
	return data
}
