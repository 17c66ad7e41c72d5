// Package build builds portals from templates: it claims an address, makes who
// speaks, and enters the portal with its subjects, whoever asks for it.
package build

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/portals/door"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/launch"
	"visavis.dev/pkg/portals/portal/template"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
)

// Draft is a portal that is to be built.
type Draft struct {
	Template template.Template
	// Portal is what it will be; its persona is Speaker's, or one that is there.
	Portal portal.Portal
	// Speaker is a persona to be made as the template has it: with an id, a name, a
	// face and a voice. It is nil for one that is there.
	Speaker *persona.Persona
	// Tune changes what the template says of Speaker; nil for nothing.
	Tune func(*persona.Definition)
	// Lessons are its subjects: the template's, unless others take their place.
	Lessons []template.Lesson
	// Visitors is how the visitors' door is to be; nil leaves it closed.
	Visitors *door.Change
}

// Feature is what the terms must include for portals to be built.
const Feature = "portals"

// TemplateError says that there is no such template.
type TemplateError struct{ Key string }

// QuestionError says that a template does not ask what was answered.
type QuestionError struct{ Key string }

// FeatureError says that the terms lack a feature.
type FeatureError struct{ Feature string }

func (e *TemplateError) Error() string { return fmt.Sprintf("there is no template %q", e.Key) }
func (e *QuestionError) Error() string { return fmt.Sprintf("the template asks no question %q", e.Key) }
func (e *FeatureError) Error() string  { return "the terms lack " + e.Feature }

// Choose is a template with the answers to its questions in its texts, as far as the
// terms allow it.
func Choose(g *template.Gallery, terms plan.Terms, key string, answers map[string]string) (template.Template, error) {
	if !terms.Has(Feature) {
		return template.Template{}, &FeatureError{Feature}
	}
	t, ok := g.Filled(key, answers)
	if !ok {
		return t, &TemplateError{key}
	}
	for _, answered := range slices.Sorted(maps.Keys(answers)) {
		if !slices.ContainsFunc(t.Questions, func(q template.Question) bool { return q.Key == answered }) {
			return t, &QuestionError{answered}
		}
	}
	if t.PlanFeature != nil && !terms.Has(*t.PlanFeature) {
		return t, &FeatureError{*t.PlanFeature}
	}
	return t, nil
}

// New is a portal as a template has it, in languages of which the first is spoken
// otherwise.
func New(t template.Template, name string, languages []string) Draft {
	return Draft{Template: t, Lessons: t.Lessons(languages[0]), Portal: portal.Portal{
		ID: id.NewPortal(), Name: name, Kind: t.Kind, TemplateKey: t.Key, Definition: t.Portal(languages),
	}}
}

// Cast has a persona with a face and a voice made for the portal.
func (d *Draft) Cast(face id.Avatar, voice id.Voice) {
	d.Speaker = &persona.Persona{
		ID: id.NewPersona(), Kind: persona.Standard, Name: d.Template.SpeakerName(d.Portal.Definition.DefaultLanguage), Avatar: face, Voice: voice,
	}
	d.Portal.Persona = d.Speaker.ID
}

// Claim claims the portal's slug; where it has none it is given one of its name.
// The error is portal.ErrTaken, of a slug that it has.
func (d *Draft) Claim(ctx context.Context, a *portal.Addresses, org id.Org) (portal.Held, error) {
	if d.Portal.Slug != "" {
		return a.Claim(ctx, org, d.Portal.ID, directory.Slug, d.Portal.Slug)
	}
	for {
		slug := portal.NewSlug(d.Portal.Name)
		held, err := a.Claim(ctx, org, d.Portal.ID, directory.Slug, slug)
		if !errors.Is(err, portal.ErrTaken) { // which is a one in a thousand million
			d.Portal.Slug = slug
			return held, err
		}
	}
}

// ErrFull says that the terms leave no room for another portal.
var ErrFull = errors.New("the terms leave no room for another portal")

// VoiceError says that the speaker's voice does not fit the portal.
type VoiceError struct{ Field *errdefs.Invalid }

func (e *VoiceError) Error() string { return "the voice does not fit: " + e.Field.Error() }

// LessonError says which subject cannot be entered, and why.
type LessonError struct {
	Index int
	Err   error
}

func (e *LessonError) Error() string { return fmt.Sprintf("subject %d: %v", e.Index, e.Err) }

// Unwrap answers the reason, one of subject.Insert's.
func (e *LessonError) Unwrap() error { return e.Err }

// Built is a portal that was built.
type Built struct {
	Portal   portal.Portal
	Subjects []id.Subject
	// Launch is what became of publishing it; nil before.
	Launch *launch.Launch

	who portal.Author
}

// Build enters a portal whose address is claimed, as a draft. The error can be
// ErrFull, a VoiceError, a LessonError, an errdefs.Invalid, one of
// voice.Find, or of persona.Insert about the face. What was written until
// then is the caller's to undo.
func (d *Draft) Build(ctx context.Context, tx *tenant.Tx, l *avatar.Library, terms plan.Terms, who portal.Author) (Built, error) {
	if d.Speaker != nil {
		if err := d.speak(ctx, tx, l, who); err != nil {
			return Built{}, err
		}
	}
	made, full, err := portal.Insert(ctx, tx, d.Portal, terms, who)
	if full {
		err = ErrFull
	}
	if err != nil {
		return Built{}, err
	}
	b := Built{Portal: made, who: who}
	for i, lesson := range d.Lessons {
		lesson.Subject.ID, lesson.Subject.Portal = id.NewSubject(), made.ID
		if _, err := subject.Insert(ctx, tx, lesson.Subject, lesson.Content, who.Unlogged()); err != nil {
			return Built{}, &LessonError{i, err}
		}
		b.Subjects = append(b.Subjects, lesson.Subject.ID)
	}
	portal.TellCreated(tx, made, b.Subjects, who)
	who.Log(tx, "portal.created", "portal", made.ID, map[string]any{
		"name": made.Name, "templateKey": made.TemplateKey, "personaId": made.Persona,
	})
	if d.Visitors == nil {
		return b, nil
	}
	if _, err := door.Build(ctx, tx, made, door.Visitors, *d.Visitors, who); err != nil {
		return Built{}, err
	}
	// Opening the door changed the portal's page stamp.
	b.Portal, err = portal.Find(ctx, tx, made.ID)
	return b, err
}

// speak makes the persona that the template describes.
func (d *Draft) speak(ctx context.Context, tx *tenant.Tx, l *avatar.Library, who portal.Author) error {
	p := *d.Speaker
	v, err := voice.Find(ctx, tx, p.Voice)
	if err != nil {
		return err
	}
	if p.Definition, err = d.Template.Speaker(v, d.Portal.Definition.Languages); err != nil {
		return err // a template that cannot be built from is never loaded
	}
	if d.Tune != nil {
		d.Tune(&p.Definition)
	}
	_, err = persona.Insert(ctx, tx, l, p, who.Unlogged())
	if field, ok := errors.AsType[*errdefs.Invalid](err); ok && strings.HasPrefix(field.Field, "settings.") {
		return &VoiceError{field}
	}
	return err
}

// Publish shows it to people, if it passes the check: Launch says whether it did.
func (b *Built) Publish(ctx context.Context, tx *tenant.Tx, region string) error {
	done, err := launch.Publish(ctx, tx, b.Portal, region, nil, b.who)
	if err != nil {
		return err
	}
	b.Launch, b.Portal = &done, done.Portal
	return nil
}
