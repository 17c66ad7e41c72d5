package session

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

// The kinds of sessions that rules are about. The others are conversation and test.
const (
	Practice   = "practice"
	Assessment = "assessment"
	Screening  = "screening"
	Escalation = "escalation"
	Case       = "case"
)

// Why nobody may read a conversation.
const (
	CandidateInterview  = "candidate_interview"
	LearnerConversation = "learner_conversation"
	// ZeroRetention: the organization kept no words when the session began.
	ZeroRetention = "zero_retention"
)

// WordsTold says whether the session's words may be sent to anybody: never a
// candidate's, a young learner's, a practice's, nor those of a session that is
// held or flagged (spec, includeConversation).
func (s Session) WordsTold() bool {
	return s.Withheld == nil && !s.OnHold && !s.Flagged && s.Kind != Practice && s.Kind != Screening
}

// WordsRead says whether anybody may read the session's words as a session's: never a
// candidate's or a young learner's. What is noted of the session elsewhere has no words of it then.
func (s Session) WordsRead() bool { return s.Withheld == nil && s.Kind != Screening }

// KeptNoWords says whether nobody reads the session's words since none are kept.
func (s Session) KeptNoWords() bool { return s.beganWithoutWords() && s.Kind != Screening }

// keepsNoWords says whether words of the session are not even stored: the
// organization wants none kept, or wanted it when the session began.
func (s Session) keepsNoWords(ctx context.Context, tx *tenant.Tx) (bool, error) {
	if s.beganWithoutWords() {
		return true, nil
	}
	return setting.On(ctx, tx, setting.ZeroRetention)
}

// beganWithoutWords says whether the organization wanted no words kept when the
// session began.
func (s Session) beganWithoutWords() bool { return s.Withheld != nil && *s.Withheld == ZeroRetention }

// tellsTurns says whether its turns are events: those of sessions that were
// started through the API, where their words may be sent.
func (s Session) tellsTurns() bool { return s.Source == FromAPI && s.WordsTold() }

// fields are the structure fields that the events of a session share.
func (s Session) fields() map[string]any {
	f := map[string]any{
		"sessionId": s.ID, "kind": s.Kind, "source": s.Source, "personaId": s.Persona, "avatarId": s.Avatar, "voiceId": s.Voice,
		"externalId": s.ExternalID, "language": s.Language, "engine": s.Engine, "transport": s.Transport, "sandbox": s.Sandbox,
		"startedAt": s.StartedAt.UTC(),
	}
	if !s.Duo.IsZero() {
		f["duoId"] = s.Duo
	}
	if !s.Portal.IsZero() {
		f["portalId"] = s.Portal
	}
	if !s.Subject.IsZero() {
		f["subjectId"] = s.Subject
	}
	if !s.Person.IsZero() {
		f["personId"] = s.Person
	}
	return f
}

// draft is session.started or practice.started.
func (s Session) draft(t event.Type, at time.Time) event.Draft {
	fields := s.fields()
	if t == event.PracticeStarted {
		kind, _ := event.Find(t)
		fields = only(fields, kind.Fields.Structure)
		if !s.Membership.IsZero() {
			fields["membershipId"] = s.Membership
		}
	}
	return event.Draft{Type: t, At: at, Fields: fields, Session: s.ID, Subject: s.Subject}
}

// only leaves the fields that are named.
func only(fields map[string]any, names []string) map[string]any {
	kept := map[string]any{}
	for _, name := range names {
		if value, ok := fields[name]; ok {
			kept[name] = value
		}
	}
	return kept
}

// turnDraft is transcript.final.
func (s Session) turnDraft(t Turn) event.Draft {
	fields := map[string]any{
		"sessionId": s.ID, "turnId": t.ID, "index": t.Index, "speaker": t.Speaker, "language": t.Language,
		"startedAt": t.StartedAt.UTC(), "endedAt": t.EndedAt.UTC(), "interrupted": t.Interrupted, "source": t.Origin,
	}
	if t.Host != "" {
		fields["host"] = t.Host
	}
	return event.Draft{Type: event.TranscriptFinal, At: *t.EndedAt, Session: s.ID, Subject: s.Subject, Fields: fields}
}

// endDrafts are the events of an end. A conversation that may not be read is
// never said to be ready.
func (s Session) endDrafts(at time.Time, readable bool, left id.InboxItem) []event.Draft {
	fields := s.fields()
	fields["endedAt"], fields["durationS"], fields["billedS"] = s.EndedAt.UTC(), s.DurationS, s.BilledS
	fields["endReason"], fields["turnCount"], fields["transcriptAvailable"] = s.EndReason, s.TurnCount, readable
	drafts := []event.Draft{{Type: event.SessionEnded, At: at, Fields: fields, Session: s.ID, Subject: s.Subject}}
	if s.ofVisitor() {
		drafts = append(drafts, s.visitorDraft(at, left))
	}
	if !readable {
		return drafts
	}
	ready := only(s.fields(), []string{"sessionId", "portalId", "subjectId", "personaId", "language"})
	ready["turnCount"], ready["durationS"], ready["summaryAvailable"], ready["readyAt"] = s.TurnCount, s.DurationS, s.Summary != nil, at.UTC()
	return append(drafts, event.Draft{Type: event.SessionTranscriptReady, At: at, Fields: ready, Session: s.ID, Subject: s.Subject})
}

// handedOff is the outcome of a conversation that a person was asked into.
const handedOff = "handoff"

// ofVisitor says whether somebody came without a place of their own: a visitor
// of a website or a portal, or a customer. A candidate is none of them.
func (s Session) ofVisitor() bool {
	return s.Kind != Screening && (s.Source == FromWidget || (s.Source == FromPortal || s.Source == FromEmbed) && s.Membership.IsZero())
}

// visitorDoors are the doors that visitors and customers come in by.
var visitorDoors = []string{"visitors", "customers", "embed"}

// visitorDraft is visitor.session.ended.
func (s Session) visitorDraft(at time.Time, left id.InboxItem) event.Draft {
	kind, _ := event.Find(event.VisitorSessionEnded)
	fields := only(s.fields(), kind.Fields.Structure)
	if !s.Widget.IsZero() {
		fields["widgetId"] = s.Widget
	}
	if !left.IsZero() {
		fields["inboxItemId"] = left
	}
	if slices.Contains(visitorDoors, s.Brief.Door) {
		fields["door"] = s.Brief.Door
	}
	fields["channel"], fields["endedAt"], fields["durationS"] = s.Channel, s.EndedAt.UTC(), s.DurationS
	fields["endReason"], fields["turnCount"], fields["outcome"] = s.EndReason, s.TurnCount, s.Outcome
	fields["handedOff"], fields["rated"] = s.Outcome != nil && *s.Outcome == handedOff, s.RatingScore != nil
	return event.Draft{Type: event.VisitorSessionEnded, At: at, Fields: fields, Session: s.ID, Subject: s.Subject}
}

// Sources read the words of a session's events from its rows as they are now.
func Sources(t *tenant.Tenants) map[event.Type]event.Source {
	return map[event.Type]event.Source{
		event.SessionEnded: summarySource(t), event.TranscriptFinal: turnSource(t), event.ConversationRated: ratingSource(t),
	}
}

// sessionOf reads the session that an event is about.
func sessionOf(ctx context.Context, t *tenant.Tenants, e event.Event) (s Session, index int64, err error) {
	var names struct {
		Session id.Session `json:"sessionId"`
		Index   int64      `json:"index"`
	}
	if err := json.Unmarshal(e.Structure, &names); err != nil {
		return s, 0, err
	}
	s, err = Get(ctx, t, e.Org, names.Session)
	return s, names.Index, err
}

func summarySource(t *tenant.Tenants) event.Source {
	return func(ctx context.Context, e event.Event, words bool) (event.Detail, error) {
		s, _, err := sessionOf(ctx, t, e)
		if gone(err) {
			return event.Detail{Standing: event.Gone}, nil
		}
		if err != nil || !words || s.Summary == nil || !s.WordsTold() {
			return event.Detail{}, err
		}
		return event.Detail{Fields: map[string]any{"summary": *s.Summary}, ByAvatar: true}, nil
	}
}

func ratingSource(t *tenant.Tenants) event.Source {
	return func(ctx context.Context, e event.Event, words bool) (event.Detail, error) {
		s, _, err := sessionOf(ctx, t, e)
		if gone(err) {
			return event.Detail{Standing: event.Gone}, nil
		}
		if err != nil || !words || s.RatingComment == nil || !s.WordsTold() {
			return event.Detail{}, err
		}
		return event.Detail{Fields: map[string]any{"comment": *s.RatingComment}}, nil
	}
}

func turnSource(t *tenant.Tenants) event.Source {
	return func(ctx context.Context, e event.Event, _ bool) (event.Detail, error) {
		s, index, err := sessionOf(ctx, t, e)
		if gone(err) {
			return event.Detail{Standing: event.Gone}, nil
		}
		if err != nil || !s.WordsTold() {
			return event.Detail{Standing: event.Withdrawn}, err
		}
		turns, err := Turns(ctx, t, e.Org, s.ID, index, 1)
		switch {
		case err != nil:
			return event.Detail{}, err
		case len(turns) == 0 || turns[0].Index != index:
			return event.Detail{Standing: event.Gone}, nil
		case turns[0].Unrecorded:
			return event.Detail{Standing: event.Withdrawn}, nil
		}
		return event.Detail{Fields: map[string]any{"text": turns[0].Heard()}, ByAvatar: turns[0].Speaker == Avatar}, nil
	}
}

func gone(err error) bool { return errdefs.IsNotFound(err, Noun) }
