package sessions

import (
	"context"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/avatar"
	"visavis.dev/pkg/face"
	"visavis.dev/pkg/id"
	"visavis.dev/pkg/persona"
	"visavis.dev/pkg/plan"
	"visavis.dev/pkg/problem"
	"visavis.dev/pkg/session"
	"visavis.dev/pkg/tenant"
)

// request is a checked request for a session.
type request struct {
	SessionInput
	host
	// source is where the request came from, and widget the widget, if it was one.
	source string
	widget id.Widget
	// collected is what is known of the user beforehand.
	collected  map[string]string
	persona    id.Persona
	avatar     id.Avatar
	voice      id.Voice
	language   string
	bases      []id.KnowledgeBase
	supersedes id.Session
}

// read checks what can be checked without the database.
func read(in SessionInput) (request, error) {
	r := request{SessionInput: in, source: session.FromAPI}
	var err error
	if r.persona, err = parse(id.ParsePersona, "personaId", "persona", in.PersonaID); err != nil {
		return r, err
	}
	if r.avatar, err = parse(id.ParseAvatar, "avatarId", "avatar", in.AvatarID); err != nil {
		return r, err
	}
	if r.voice, err = parse(id.ParseVoice, "voiceId", "voice", in.VoiceID); err != nil {
		return r, err
	}
	if r.supersedes, err = parse(id.ParseSession, "supersedes", "session", in.Supersedes); err != nil {
		return r, err
	}
	for _, text := range in.KnowledgeBaseIDs {
		base, err := parse(id.ParseKnowledgeBase, "knowledgeBaseIds", "knowledge pack", text)
		if err != nil {
			return r, err
		}
		r.bases = append(r.bases, base)
	}
	if r.language, err = languageOf(in.Language); err != nil {
		return r, err
	}
	return r, checkMaps(in)
}

// parse reads an id of the body; empty is the zero id. One of another kind names
// nothing (General conventions, 3).
func parse[T any](parse func(string) (T, error), field, what, text string) (T, error) {
	var none T
	if text == "" {
		return none, nil
	}
	v, err := parse(text)
	if err != nil {
		return none, problem.Missing(what).WithParam("body." + field)
	}
	return v, nil
}

const (
	maxVariables = 50
	maxVariable  = 1000
	maxTag       = 80
)

var variableName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,39}$`)

// checkMaps checks what a schema does not say.
func checkMaps(in SessionInput) error {
	if len(in.Variables) > maxVariables {
		return problem.Invalid("body.variables", "variables holds at most %d.", maxVariables)
	}
	for name, value := range in.Variables {
		if !variableName.MatchString(name) || len([]rune(value)) > maxVariable {
			return problem.Invalid("body.variables", "A variable's name is a letter and at most 39 letters, digits and underscores; its value has at most %d characters.", maxVariable)
		}
	}
	if err := route.CheckMetadata(in.Metadata); err != nil {
		return err
	}
	for _, tag := range in.DocumentTags {
		if tag == "" || len([]rune(tag)) > maxTag {
			return problem.Invalid("body.documentTags", "A tag has 1 to %d characters.", maxTag)
		}
	}
	for _, origin := range in.AllowedOrigins {
		if !isOrigin(origin) {
			return problem.Invalid("body.allowedOrigins", "%q is not an origin such as https://www.example.com.", origin)
		}
	}
	return nil
}

// isOrigin says whether a text is a page's origin: https, or http on the
// developer's own machine.
func isOrigin(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || text != strings.ToLower(u.Scheme+"://"+u.Host) {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || u.Hostname() == "127.0.0.1")
}

// The bounds of a session that says nothing of them.
const (
	defaultIdleS = 300
	defaultMaxS  = 7200
)

// plan makes the session that a request asks for.
func (a *API) plan(ctx context.Context, now time.Time, tx *tenant.Tx, p persona.Persona, r request) (session.Session, error) {
	d := p.Definition
	s := session.Session{
		ID: id.SessionAt(now), Kind: or(r.Kind, "conversation"), Source: r.source, Widget: r.widget, Persona: p.ID, PersonaVersion: p.Version,
		Avatar: p.Avatar, Voice: p.Voice, Duo: p.DuoID, ExternalID: r.ExternalID, Metadata: r.Metadata, Language: d.Settings.Language,
		Transport: "websocket", Channel: or(r.Channel, "video"), Sandbox: r.Sandbox, Collected: r.collected, AllowedOrigins: r.AllowedOrigins,
		MaxDurationS: longest(r.terms, d, r.Sandbox), IdleTimeoutS: r.IdleTimeoutS, CreatedAt: now,
		Brief: session.Brief{
			Context: r.Context, Variables: r.Variables, Greeting: r.Greeting, BaseIDs: r.bases, Tags: r.DocumentTags,
			Redact: d.Privacy.Redact, RetainDays: d.Privacy.RetainTranscriptDays,
		},
	}
	if s.Metadata == nil {
		s.Metadata = map[string]string{}
	}
	if s.AllowedOrigins == nil {
		s.AllowedOrigins = []string{}
	}
	if s.IdleTimeoutS == 0 {
		s.IdleTimeoutS = defaultIdleS
	}
	if r.MaxDurationS > 0 {
		s.MaxDurationS = min(s.MaxDurationS, r.MaxDurationS)
	}
	if err := a.dress(ctx, tx, p, &s, r); err != nil {
		return s, err
	}
	if err := speak(ctx, tx, p, &s, r); err != nil {
		return s, err
	}
	return s, checkBases(ctx, tx, r.bases)
}

// longest is how long a session may last, in seconds.
func longest(t plan.Terms, d persona.Definition, sandbox bool) int64 {
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

// dress gives the session another face. An own one must be prepared.
func (a *API) dress(ctx context.Context, tx *tenant.Tx, p persona.Persona, s *session.Session, r request) error {
	if r.avatar.IsZero() || r.avatar == s.Avatar {
		return nil
	}
	if p.Duo != nil {
		return problem.Invalid("body.avatarId", "A duo has the faces of its hosts.")
	}
	found, err := avatar.Find(ctx, tx, a.Library, r.avatar)
	switch {
	case errors.Is(err, avatar.ErrUnknown), errors.Is(err, avatar.ErrGone):
		return problem.Missing("avatar").WithParam("body.avatarId")
	case err != nil:
		return err
	case found.Status() != avatar.Ready:
		return problem.Conflicting("consent_withdrawn", "The consent that the face rests on was withdrawn.").WithParam("body.avatarId")
	}
	s.Avatar = r.avatar
	if found.Kind == avatar.Builtin {
		return nil
	}
	prepared, err := face.Find(ctx, tx, r.avatar)
	switch {
	case err != nil:
		return err
	case prepared == nil || prepared.State == face.Failed:
		return problem.Conflicting("face_not_prepared", "The face is prepared when a persona wears it; give it to one first.").WithParam("body.avatarId")
	case prepared.State != face.Ready:
		return problem.NotReady(face.Wait(prepared.ReadyAt, s.CreatedAt)).WithParam("body.avatarId")
	}
	return nil
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
		return problem.Missing("knowledge pack").WithParam("body.knowledgeBaseIds")
	}
	return nil
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
