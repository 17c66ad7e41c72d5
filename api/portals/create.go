package portals

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"visavis.dev/api/route"
	"visavis.dev/pkg/event"
	"visavis.dev/pkg/id"
	"visavis.dev/pkg/patch"
	"visavis.dev/pkg/persona"
	"visavis.dev/pkg/plan"
	"visavis.dev/pkg/portal"
	"visavis.dev/pkg/portal/launch"
	"visavis.dev/pkg/portal/template"
	"visavis.dev/pkg/problem"
	"visavis.dev/pkg/scope"
	"visavis.dev/pkg/subject"
	"visavis.dev/pkg/tenant"
)

// Input is the request for a new portal.
type Input struct{ Body PortalInput }

// PortalInput is a portal to be built.
type PortalInput struct {
	Name        string            `json:"name" minLength:"1" maxLength:"120"`
	TemplateKey string            `json:"templateKey" maxLength:"40" doc:"GET /portals/templates lists them."`
	Subjects    []PortalLesson    `json:"subjects,omitempty" maxItems:"100" doc:"In place of those that come with the template."`
	PersonaID   string            `json:"personaId,omitempty" doc:"Who speaks. Otherwise avatarId and voiceId are needed, and a persona is made of them."`
	AvatarID    string            `json:"avatarId,omitempty"`
	VoiceID     string            `json:"voiceId,omitempty"`
	Languages   []string          `json:"languages,omitempty" maxItems:"50" doc:"By code or name, the default one first; the template's unless given."`
	Answers     map[string]string `json:"answers,omitempty" doc:"To the template's questions, by their keys; they are written into its texts."`
	Slug        string            `json:"slug,omitempty" maxLength:"63" doc:"Made of the name unless given."`
	Publish     bool              `json:"publish,omitempty" doc:"Publish it too, which needs portals:publish."`
}

// PortalLesson is a subject to come with a portal.
type PortalLesson struct {
	Title   string                      `json:"title" minLength:"1" maxLength:"200"`
	Kind    string                      `json:"kind,omitempty" enum:"course,topic,practice,assessment,screening,faq,guide" doc:"topic unless given."`
	Content route.Part[subject.Content] `json:"content,omitzero"`
}

// building is a portal that is to be built.
type building struct {
	template template.Template
	portal   portal.Portal
	// speaker is a persona to be made; nil for one that is there.
	speaker *persona.Persona
	lessons []template.Lesson
	publish bool
}

func (a *API) create(ctx context.Context, c *route.Call, in *Input) (Portal, error) {
	b, err := a.plan(c, in.Body)
	if err != nil {
		return Portal{}, err
	}
	held, err := a.claimNew(ctx, c, &b.portal, in.Body.Slug)
	if err != nil {
		return Portal{}, err
	}
	made, err := route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Portal, error) {
		return a.build(ctx, c, tx, b)
	})
	return versioned(c, made, a.settle(ctx, err, held))
}

// plan reads the request, as far as nothing but the request says.
func (a *API) plan(c *route.Call, in PortalInput) (building, error) {
	var b building
	terms := c.Principal.Terms
	if !terms.Has(feature) {
		return b, a.Plans.FeatureMissing(terms, feature)
	}
	t, ok := a.Gallery.Filled(in.TemplateKey, in.Answers)
	if !ok {
		return b, problem.Invalid("body.templateKey", "There is no template %q; GET /portals/templates lists them.", in.TemplateKey)
	}
	if t.PlanFeature != nil && !terms.Has(*t.PlanFeature) {
		return b, a.Plans.FeatureMissing(terms, *t.PlanFeature)
	}
	if in.Publish && !c.Principal.Key.Grant().Holds(scope.PortalsPublish) {
		return b, problem.New(problem.Forbidden, "Publishing needs the scope %s.", scope.PortalsPublish).WithParam("body.publish")
	}
	languages := t.Languages
	if len(in.Languages) > 0 {
		var err error
		if languages, err = portal.SettleLanguages(in.Languages); err != nil {
			return b, asProblem(err)
		}
	}
	b = building{template: t, publish: in.Publish, lessons: t.Lessons(languages[0]), portal: portal.Portal{
		ID: id.NewPortal(), Name: in.Name, Kind: t.Kind, TemplateKey: t.Key, Definition: t.Portal(languages),
	}}
	if err := b.cast(in); err != nil {
		return b, err
	}
	if in.Subjects == nil {
		return b, nil
	}
	var err error
	b.lessons, err = lessons(in.Subjects, c.Body())
	return b, err
}

// cast chooses who speaks.
func (b *building) cast(in PortalInput) (err error) {
	if in.PersonaID != "" {
		if in.AvatarID != "" || in.VoiceID != "" {
			return problem.Invalid("body.personaId", "Send either personaId, or avatarId and voiceId.")
		}
		if b.portal.Persona, err = id.ParsePersona(in.PersonaID); err != nil {
			return problem.Invalid("body.personaId", "personaId is not the id of a persona.")
		}
		return nil
	}
	made := persona.Persona{ID: id.NewPersona(), Kind: persona.Standard, Name: b.template.SpeakerName(b.portal.Definition.DefaultLanguage)}
	if made.Avatar, err = id.ParseAvatar(in.AvatarID); err != nil {
		return problem.Invalid("body.avatarId", "Without a personaId, avatarId must be the id of an avatar.")
	}
	if made.Voice, err = id.ParseVoice(in.VoiceID); err != nil {
		return problem.Invalid("body.voiceId", "Without a personaId, voiceId must be the id of a voice.")
	}
	b.speaker, b.portal.Persona = &made, made.ID
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

// build builds a portal whose address is claimed.
func (a *API) build(ctx context.Context, c *route.Call, tx *tenant.Tx, b building) (Portal, error) {
	who := author(c)
	if b.speaker != nil {
		if err := a.makeSpeaker(ctx, tx, b, who); err != nil {
			return Portal{}, err
		}
	}
	made, full, err := portal.Insert(ctx, tx, b.portal, c.Principal.Terms, who)
	if err != nil {
		return Portal{}, asProblem(err)
	}
	if full {
		return Portal{}, a.Plans.LimitReached(c.Principal.Terms, plan.Portals)
	}
	var subjects []id.Subject
	for i, l := range b.lessons {
		l.Subject.ID, l.Subject.Portal = id.NewSubject(), made.ID
		if _, err := subject.Insert(ctx, tx, l.Subject, l.Content, subject.Author{By: who.By, At: who.At}); err != nil {
			return Portal{}, asLessonProblem(err, i)
		}
		subjects = append(subjects, l.Subject.ID)
	}
	if err := record(ctx, c, tx, "portal.created", made.ID, map[string]any{
		"name": made.Name, "templateKey": made.TemplateKey, "personaId": made.Persona,
	}); err != nil {
		return Portal{}, err
	}
	return a.finish(ctx, c, tx, b, made, subjects)
}

// finish publishes what was built, if that is asked for, and tells of it all.
func (a *API) finish(ctx context.Context, c *route.Call, tx *tenant.Tx, b building, made portal.Portal, subjects []id.Subject) (Portal, error) {
	who := author(c)
	if !b.publish {
		shown, err := a.shown(ctx, tx, made.ID)
		if err != nil {
			return Portal{}, err
		}
		_, err = event.Emit(ctx, tx, portal.Created(made, subjects, who)...)
		return shown, err
	}
	done, err := launch.Publish(ctx, tx, made, c.Principal.Org.Region, nil, who)
	if err != nil {
		return Portal{}, err
	}
	if done.Changed {
		if err := record(ctx, c, tx, "portal.published", made.ID, map[string]any{"version": *done.Portal.PublishedVersion}); err != nil {
			return Portal{}, err
		}
	}
	shown, err := a.shown(ctx, tx, made.ID)
	if err != nil {
		return Portal{}, err
	}
	if !done.Report.Ready() {
		shown = shown.refused(done.Report)
	}
	_, err = event.Emit(ctx, tx, append(portal.Created(made, subjects, who), done.Events()...)...)
	return shown, err
}

// makeSpeaker makes the persona that the template describes.
func (a *API) makeSpeaker(ctx context.Context, tx *tenant.Tx, b building, who portal.Author) error {
	p, languages := *b.speaker, b.portal.Definition.Languages
	v, err := persona.FindVoice(ctx, tx, p.Voice)
	if err != nil {
		return asProblem(err)
	}
	if p.Definition, err = b.template.Speaker(v, languages); err != nil {
		return err // a template that cannot be built from is never loaded
	}
	_, err = persona.Insert(ctx, tx, a.Library, p, persona.Author{By: who.By, At: who.At})
	var field *persona.FieldError
	if errors.As(err, &field) && strings.HasPrefix(field.Field, "settings.") {
		return problem.Invalid("body.voiceId", "The voice does not fit: %s %s.", field.Field, field.Message)
	}
	return asProblem(err)
}

// asLessonProblem says which subject of the body cannot be entered.
func asLessonProblem(err error, i int) error {
	if field, ok := errors.AsType[*subject.FieldError](err); ok {
		return problem.Invalid(fmt.Sprintf("body.subjects[%d].%s", i, field.Field), "subjects[%d].%s %s.", i, field.Field, field.Message)
	}
	return asProblem(err)
}
