package admission

import (
	"cmp"
	"context"
	"slices"
	"time"

	"visavis.dev/pkg/id"
	"visavis.dev/pkg/persona"
	"visavis.dev/pkg/plan"
	"visavis.dev/pkg/problem"
	"visavis.dev/pkg/session"
	"visavis.dev/pkg/tenant"
)

// The bounds of a session that says nothing of them.
const (
	defaultIdleS = 300
	defaultMaxS  = 7200
)

// plan makes the session that a request asks for.
func (d *Desk) plan(ctx context.Context, now time.Time, tx *tenant.Tx, p persona.Persona, r Request) (session.Session, error) {
	is := p.Definition
	s := session.Session{
		ID: id.SessionAt(now), Kind: cmp.Or(r.Kind, "conversation"), Source: r.Source, Widget: r.Widget, Persona: p.ID, PersonaVersion: p.Version,
		Avatar: p.Avatar, Voice: p.Voice, Duo: p.DuoID, ExternalID: r.ExternalID, Metadata: r.Metadata, Language: is.Settings.Language,
		Transport: "websocket", Channel: cmp.Or(r.Channel, "video"), Sandbox: r.Sandbox, Collected: r.Collected, AllowedOrigins: r.AllowedOrigins,
		MaxDurationS: Longest(r.Terms, is, r.Sandbox), IdleTimeoutS: cmp.Or(r.IdleTimeoutS, defaultIdleS), CreatedAt: now,
		Brief: session.Brief{
			Context: r.Context, Variables: r.Variables, Greeting: r.Greeting, BaseIDs: r.Bases, Tags: r.Tags,
			Redact: is.Privacy.Redact, RetainDays: is.Privacy.RetainTranscriptDays,
		},
	}
	if r.MaxDurationS > 0 {
		s.MaxDurationS = min(s.MaxDurationS, r.MaxDurationS)
	}
	if err := d.dress(ctx, tx, p, &s, r.Avatar); err != nil {
		return s, err
	}
	if err := speak(ctx, tx, p, &s, r.Voice, r.Language); err != nil {
		return s, err
	}
	return s, checkBases(ctx, tx, r.Bases)
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

// checkBases refuses packs that the organisation does not have.
func checkBases(ctx context.Context, tx *tenant.Tx, bases []id.KnowledgeBase) error {
	if len(bases) == 0 {
		return nil
	}
	var found int
	unique := slices.Compact(slices.SortedFunc(slices.Values(bases), func(a, b id.KnowledgeBase) int { return slices.Compare(a[:], b[:]) }))
	if err := tx.QueryRow(ctx, `
		SELECT count(*) FROM knowledge_base WHERE org_id = $1 AND id = ANY($2) AND deleted_at IS NULL`, tx.Org, unique).Scan(&found); err != nil {
		return err
	}
	if found < len(unique) {
		return problem.Missing("knowledge pack").WithParam("knowledgeBaseIds")
	}
	return nil
}
