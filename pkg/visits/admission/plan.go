package admission

import (
	"cmp"
	"context"
	"slices"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

// defaultMaxS is how long a session may last where nothing says less, in seconds.
const defaultMaxS = 7200

// plan makes the session that a request asks for.
func (d *Desk) plan(ctx context.Context, now time.Time, tx *tenant.Tx, p persona.Persona, at stage, r Request) (session.Session, error) {
	is := p.Definition
	s := session.Session{
		ID: id.SessionAt(now), Kind: cmp.Or(r.Kind, at.kind()), Source: r.Source, Widget: r.Widget, Visitor: r.Visitor, Portal: r.Portal, Subject: r.Subject,
		Person: r.Person, Membership: r.Membership, Escalation: r.Escalation, CaseLink: r.CaseLink, Persona: p.ID, PersonaVersion: p.Version,
		Avatar: p.Avatar, Voice: p.Voice, Duo: p.DuoID, ExternalID: r.ExternalID, Metadata: r.Metadata, Language: is.Settings.Language,
		Transport: r.transport(), Media: r.Media, Channel: cmp.Or(r.Channel, "video"), Sandbox: r.Sandbox, Collected: r.Collected, AllowedOrigins: r.AllowedOrigins,
		MaxDurationS: Longest(r.Terms, is, r.Sandbox), IdleTimeoutS: r.IdleTimeoutS, CreatedAt: now,
		Brief: session.Brief{
			Context: r.Context, Variables: r.Variables, Greeting: r.Greeting, BaseIDs: at.bases(r.Bases, is), Tags: r.Tags,
			Redact: is.Privacy.Redact, RetainDays: is.Privacy.RetainTranscriptDays, Door: r.Door, Came: r.Came,
		},
	}
	if p.Duo != nil {
		s.Brief.Duo = &p.Duo.Cast
	}
	if r.MaxDurationS > 0 {
		s.MaxDurationS = min(s.MaxDurationS, r.MaxDurationS)
	}
	if at.portal != nil {
		s.Language = at.portal.Definition.DefaultLanguage
		s.MaxDurationS = *least(&s.MaxDurationS, at.portal.Definition.Caps.MaxSessionS)
		s.Brief.RetainDays = least(s.Brief.RetainDays, at.portal.Definition.Privacy.RetentionDays)
	}
	if at.candidate != nil {
		s.Withheld = new(session.CandidateInterview)
	}
	if young(at.person.AgeBand) {
		s.Withheld = new(session.LearnerConversation)
	}
	if err := d.dress(ctx, tx, p, &s, r.Avatar); err != nil {
		return s, err
	}
	if err := speak(ctx, tx, p, &s, r.Voice, r.Language); err != nil {
		return s, err
	}
	if err := at.practiced(ctx, tx, &s); err != nil {
		return s, err
	}
	at.brief(&s)
	return s, checkBases(ctx, tx, r.Bases)
}

// transport is what the session is held over.
func (r Request) transport() string {
	switch {
	case !r.Media.IsZero():
		return session.LiveKit
	case r.WebRTC:
		return session.WebRTC
	}
	return session.WebSocket
}

// young says whether conversations of somebody of a band are read by nobody (spec,
// learner_conversation). That is for those under 16: whoever is 16 or 17 is a minor
// too, of whom nothing is remembered, but whose words are kept like an adult's.
func young(band person.AgeBand) bool { return band == person.Under13 || band == person.From13 }

// kind is what a session on the stage is, unless it is said.
func (at *stage) kind() string {
	if at.subject != nil {
		switch at.subject.Kind {
		case subject.Practice:
			return session.Practice
		case subject.Assessment:
			return session.Assessment
		case subject.Course, subject.Topic, subject.Screening, subject.FAQ, subject.Guide:
		}
	}
	return "conversation"
}

// bases are the packs to answer from: those that are asked for, or those of all
// that has a part in the session. nil is the persona's.
func (at *stage) bases(asked []id.KnowledgeBase, is persona.Definition) []id.KnowledgeBase {
	if len(asked) > 0 || at.portal == nil {
		return asked
	}
	all := slices.Concat(is.Knowledge.BaseIDs, at.portal.Definition.KnowledgeBaseIDs)
	if at.subjectBase != nil {
		all = append(all, *at.subjectBase)
	}
	if at.subject != nil {
		all = append(all, at.subject.Definition.KnowledgeBaseIDs...)
	}
	return Distinct(all)
}

// Distinct leaves each pack once, in no order of theirs.
func Distinct(bases []id.KnowledgeBase) []id.KnowledgeBase {
	return slices.Compact(slices.SortedFunc(slices.Values(bases), func(a, b id.KnowledgeBase) int { return slices.Compare(a[:], b[:]) }))
}

// least is the lesser of two bounds; nil is none.
func least(a, b *int64) *int64 {
	if a == nil || b != nil && *b < *a {
		return b
	}
	return a
}

// Longest is how long a session may last, in seconds.
func Longest(t plan.Terms, d persona.Definition, sandbox bool) int64 {
	bound := int64(defaultMaxS)
	if limit, limited := t.Limit(plan.MaxSessionS); limited {
		bound = min(bound, limit)
	}
	if d.Limits.MaxSessionS != nil {
		bound = min(bound, *d.Limits.MaxSessionS)
	}
	if sandbox {
		bound = min(bound, session.SandboxS)
	}
	return bound
}

// LongestOf is how long a session that began may last, in seconds: Longest, and what
// its portal and the settings of its place say now.
func LongestOf(ctx context.Context, tx *tenant.Tx, t plan.Terms, d persona.Definition, s session.Session) (int64, error) {
	bound := Longest(t, d, s.Sandbox)
	if !s.Portal.IsZero() {
		p, err := portal.Find(ctx, tx, s.Portal)
		if err != nil {
			return 0, err
		}
		if p.PublishedVersion != nil {
			v, err := portal.FindVersion(ctx, tx, p.ID, *p.PublishedVersion)
			if err != nil {
				return 0, err
			}
			bound = *least(&bound, v.Definition.Caps.MaxSessionS)
		}
	}
	set, err := setting.At(ctx, tx, s.Place())
	return set.AtMost(setting.MaxDurationS, bound), err
}

// checkBases refuses packs that the organization does not have.
func checkBases(ctx context.Context, tx *tenant.Tx, bases []id.KnowledgeBase) error {
	if len(bases) == 0 {
		return nil
	}
	var found int
	wanted := Distinct(bases)
	if err := tx.QueryRow(ctx, `
		SELECT count(*) FROM knowledge_base WHERE org_id = $1 AND id = ANY($2) AND deleted_at IS NULL`, tx.Org, wanted).Scan(&found); err != nil {
		return err
	}
	if found < len(wanted) {
		return problem.Missing("knowledge pack").WithParam("knowledgeBaseIds")
	}
	return nil
}
