package sessions

import (
	"net/url"
	"strings"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/visits/admission"
)

// read checks what can be checked without the database.
func read(in SessionInput) (admission.Request, error) {
	r := admission.Request{
		Source: session.FromAPI, Kind: in.Kind, Channel: in.Channel, Tags: in.DocumentTags, Context: in.Context, Variables: in.Variables,
		Greeting: in.Greeting, MaxDurationS: in.MaxDurationS, IdleTimeoutS: in.IdleTimeoutS, ExternalID: in.ExternalID,
		Metadata: in.Metadata, AllowedOrigins: in.AllowedOrigins, Sandbox: in.Sandbox, Record: in.Record, WebRTC: in.Transport == session.WebRTC,
		Came: inbox.Came(in.Page.URL, in.Page.Referrer),
	}
	var err error
	if err := in.place(); err != nil {
		return r, err
	}
	if r.Portal, err = parse(id.ParsePortal, "portalId", "portal", in.PortalID); err != nil {
		return r, err
	}
	if r.Subject, err = parse(id.ParseSubject, "subjectId", "subject", in.SubjectID); err != nil {
		return r, err
	}
	if r.Person, err = parse(id.ParsePerson, "personId", "person", in.PersonID); err != nil {
		return r, err
	}
	if r.Assignment, err = parse(id.ParseAssignment, "assignmentId", "assignment", in.AssignmentID); err != nil {
		return r, err
	}
	if r.Persona, err = parse(id.ParsePersona, "personaId", "persona", in.PersonaID); err != nil {
		return r, err
	}
	if r.Avatar, err = parse(id.ParseAvatar, "avatarId", "avatar", in.AvatarID); err != nil {
		return r, err
	}
	if r.Voice, err = parse(id.ParseVoice, "voiceId", "voice", in.VoiceID); err != nil {
		return r, err
	}
	if r.Supersedes, err = parse(id.ParseSession, "supersedes", "session", in.Supersedes); err != nil {
		return r, err
	}
	for _, text := range in.KnowledgeBaseIDs {
		base, err := parse(id.ParseKnowledgeBase, "knowledgeBaseIds", "knowledge pack", text)
		if err != nil {
			return r, err
		}
		r.Bases = append(r.Bases, base)
	}
	if r.Language, err = languageOf(in.Language); err != nil {
		return r, err
	}
	return r, checkMaps(in)
}

// place refuses a request that says in two ways who speaks, or in none.
func (in SessionInput) place() error {
	said := ""
	for _, way := range []struct{ name, value string }{{"personaId", in.PersonaID}, {"portalId", in.PortalID}, {"subjectId", in.SubjectID}} {
		switch {
		case way.value == "":
		case said != "":
			return problem.Invalid("body."+way.name, "Give %s or %s, not both.", said, way.name)
		default:
			said = way.name
		}
	}
	if said == "" {
		return problem.Invalid("body.personaId", "Give one of personaId, portalId and subjectId.")
	}
	return nil
}

// languageOf reads a language of the body; empty is none.
func languageOf(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	l, ok := language.Lookup(text)
	if !ok {
		return "", problem.Invalid("body.language", "There is no language %q; GET /languages lists them.", text)
	}
	return l.Code, nil
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

const maxTag = 80

// checkMaps checks what a schema does not say.
func checkMaps(in SessionInput) error {
	if err := route.CheckVariables(in.Variables); err != nil {
		return err
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
