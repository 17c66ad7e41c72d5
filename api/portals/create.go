package portals

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/patch"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/portals/door"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/build"
	"visavis.dev/pkg/portals/portal/template"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/store/tenant"
)

// Input is the request for a new portal.
type Input struct{ Body PortalInput }

// PortalInput is a portal to be built.
type PortalInput struct {
	Name        string                     `json:"name" minLength:"1" maxLength:"120" doc:"What to call the portal, for people."`
	TemplateKey string                     `json:"templateKey" maxLength:"40" doc:"GET /portals/templates lists them."`
	Subjects    []PortalLesson             `json:"subjects,omitempty" maxItems:"100" doc:"In place of those that come with the template."`
	PersonaID   string                     `json:"personaId,omitempty" doc:"Who speaks. Otherwise avatarId and voiceId are needed, and a persona is made of them."`
	AvatarID    string                     `json:"avatarId,omitempty" doc:"The face of a persona to be made with it."`
	VoiceID     string                     `json:"voiceId,omitempty" doc:"The voice of a persona to be made with it."`
	Languages   []string                   `json:"languages,omitempty" maxItems:"50" doc:"By code or name, the default one first; the template's unless given."`
	Answers     map[string]string          `json:"answers,omitempty" doc:"To the template's questions, by their keys; they are written into its texts."`
	Slug        string                     `json:"slug,omitempty" maxLength:"63" doc:"Made of the name unless given."`
	Privacy     route.Part[portal.Privacy] `json:"privacy,omitzero" doc:"A portal cannot go live without privacyUrl."`
	Visitors    *VisitorsDoor              `json:"visitors,omitempty" doc:"Opens the door for whoever comes, which is closed unless this is given."`
	Publish     bool                       `json:"publish,omitempty" doc:"Publish it too, which needs portals:publish, an open door and a privacy notice."`
}

// VisitorsDoor is how the visitors' door of a new portal is opened.
type VisitorsDoor struct {
	Requires []string `json:"requires,omitempty" maxItems:"4" enum:"name,email,consent,age_check" doc:"What is asked of those who come by themselves; nothing unless given."`
	Message  *string  `json:"message,omitempty" maxLength:"500" doc:"What they read at the door."`
}

// PortalLesson is a subject to come with a portal.
type PortalLesson struct {
	Title   string                      `json:"title" minLength:"1" maxLength:"200" doc:"What to call the subject."`
	Kind    string                      `json:"kind,omitempty" enum:"course,topic,practice,assessment,screening,faq,guide" doc:"topic unless given."`
	Content route.Part[subject.Content] `json:"content,omitzero" doc:"What the subject says; an empty one when left out."`
}

func (a *API) create(ctx context.Context, c *route.Call, in *Input) (Portal, error) {
	d, err := a.plan(c, in.Body)
	if err != nil {
		return Portal{}, err
	}
	held, err := d.Claim(ctx, a.Addresses, c.Org())
	if err != nil {
		return Portal{}, asProblem(err)
	}
	made, err := route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Portal, error) {
		return a.build(ctx, c, tx, d, in.Body.Publish)
	})
	return versioned(c, made, a.finishClaims(ctx, err, []portal.Held{held}))
}

// plan reads the request, as far as nothing but the request says.
func (a *API) plan(c *route.Call, in PortalInput) (build.Draft, error) {
	var d build.Draft
	terms := c.Principal.Terms
	t, err := build.Choose(a.Gallery, terms, in.TemplateKey, in.Answers)
	if err != nil {
		return d, a.asChoiceProblem(c, err)
	}
	if in.Publish && !c.Principal.Key.Grant().Holds(scope.PortalsPublish) {
		return d, problem.New(problem.Forbidden, "Publishing needs the scope %s.", scope.PortalsPublish).WithParam("body.publish")
	}
	languages := t.Languages
	if len(in.Languages) > 0 {
		if languages, err = portal.NormalizeLanguages(in.Languages); err != nil {
			return d, asProblem(err)
		}
	}
	d = build.New(t, in.Name, languages)
	given := struct {
		Privacy portal.Privacy `json:"privacy"`
	}{d.Portal.Definition.Privacy}
	if err := patch.Merge(&given, c.Body()); err != nil {
		return d, asProblem(err)
	}
	d.Portal.Definition.Privacy = given.Privacy
	if v := in.Visitors; v != nil {
		d.Visitors = &door.Change{Open: true, Requires: append([]string{}, v.Requires...), Message: v.Message}
	}
	if in.Slug != "" {
		if d.Portal.Slug, err = parseSlug(in.Slug); err != nil {
			return d, err
		}
	}
	if err := cast(&d, in); err != nil {
		return d, err
	}
	if in.Subjects != nil {
		d.Lessons, err = lessons(in.Subjects, c.Body())
	}
	return d, err
}

// asChoiceProblem says why a template cannot be built from.
func (a *API) asChoiceProblem(c *route.Call, err error) error {
	if unknown, ok := errors.AsType[*build.TemplateError](err); ok {
		return problem.Invalid("body.templateKey", "There is no template %q; GET /portals/templates lists them.", unknown.Key)
	}
	if unasked, ok := errors.AsType[*build.QuestionError](err); ok {
		return problem.Invalid("body.answers."+unasked.Key, "The template asks no question %q; GET /portals/templates lists its questions.", unasked.Key)
	}
	if missing, ok := errors.AsType[*build.FeatureError](err); ok {
		return a.Plans.FeatureMissing(c.Principal.Terms, missing.Feature)
	}
	return err
}

// cast chooses who speaks.
func cast(d *build.Draft, in PortalInput) (err error) {
	if in.PersonaID != "" {
		if in.AvatarID != "" || in.VoiceID != "" {
			return problem.Invalid("body.personaId", "Send either personaId, or avatarId and voiceId.")
		}
		if d.Portal.Persona, err = id.ParsePersona(in.PersonaID); err != nil {
			return problem.Invalid("body.personaId", "personaId is not the id of a persona.")
		}
		return nil
	}
	face, err := id.ParseAvatar(in.AvatarID)
	if err != nil {
		return problem.Invalid("body.avatarId", "Without a personaId, avatarId must be the id of an avatar.")
	}
	voice, err := id.ParseVoice(in.VoiceID)
	if err != nil {
		return problem.Invalid("body.voiceId", "Without a personaId, voiceId must be the id of a voice.")
	}
	d.Cast(face, voice)
	return nil
}

// lessons are the subjects that were sent, with their contents from the body.
func lessons(sent []PortalLesson, body []byte) ([]template.Lesson, error) {
	var raw struct {
		Subjects []struct {
			Content json.RawMessage `json:"content"`
		} `json:"subjects"`
	}
	if err := json.Unmarshal(body, &raw); err != nil {
		return nil, err // what was read before can be read again
	}
	made := make([]template.Lesson, len(sent))
	for i, s := range sent {
		l := &made[i]
		l.Subject = subject.Subject{Title: s.Title, Kind: subject.Topic}
		if s.Kind != "" {
			l.Subject.Kind = subject.Kind(s.Kind)
		}
		if content := raw.Subjects[i].Content; len(content) > 0 {
			err := patch.Merge(&l.Content, content)
			if form, ok := errors.AsType[*patch.Error](err); ok {
				return nil, problem.Invalid(fmt.Sprintf("body.subjects[%d].content.%s", i, form.Path), "%v.", form)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return made, nil
}

// build builds a portal whose address is claimed, and publishes it where that is
// asked for.
func (a *API) build(ctx context.Context, c *route.Call, tx *tenant.Tx, d build.Draft, publish bool) (Portal, error) {
	made, err := d.Build(ctx, tx, a.Library, c.Principal.Terms, c.Actor())
	if err != nil {
		return Portal{}, a.asBuildProblem(c, err)
	}
	if publish {
		if err := made.Publish(ctx, tx, c.Principal.Org.Region); err != nil {
			return Portal{}, err
		}
	}
	shown, err := a.shown(ctx, tx, made.Portal.ID)
	if err != nil {
		return Portal{}, err
	}
	if made.Launch != nil && !made.Launch.Report.Ready() {
		shown = shown.refused(made.Launch.Report)
	}
	return shown, nil
}

// asBuildProblem says why a portal cannot be built.
func (a *API) asBuildProblem(c *route.Call, err error) error {
	if errors.Is(err, build.ErrFull) {
		return a.Plans.LimitReached(c.Principal.Terms, plan.Portals)
	}
	if unfit, ok := errors.AsType[*build.VoiceError](err); ok {
		return problem.Invalid("body.voiceId", "The voice does not fit: %s %s.", unfit.Field.Field, unfit.Field.Message)
	}
	if lesson, ok := errors.AsType[*build.LessonError](err); ok {
		return asLessonProblem(lesson.Err, lesson.Index)
	}
	return asProblem(err)
}

// asLessonProblem says which subject of the body cannot be entered.
func asLessonProblem(err error, i int) error {
	param := fmt.Sprintf("body.subjects[%d]", i)
	if field, ok := errors.AsType[*errdefs.Invalid](err); ok {
		return problem.Invalid(param+"."+field.Field, "subjects[%d].%s %s.", i, field.Field, field.Message)
	}
	switch {
	case errdefs.IsConflict(err, subject.Noun, subject.ReasonFull):
		return problem.Conflicting("full", "A portal has at most %d subjects.", subject.MaxPerPortal).WithParam(param)
	case errors.Is(err, subject.ErrTooLarge):
		return problem.New(problem.TooLarge, "A content may have at most %d bytes, all its texts together.", subject.MaxContent).WithParam(param + ".content")
	}
	return asProblem(err)
}
