package portal

import (
	"errors"
	"strings"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/resource"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/golive"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/build"
	"visavis.dev/pkg/store/directory"
)

// wanted is a portal as the spec has it, and what became of it.
type wanted struct {
	org   directory.Organization
	terms plan.Terms
	which id.Portal
	// languages are the spec's by their codes, or the template's; nil for those that
	// the portal has.
	languages []string
	host      string
	// persona is the one that the spec names, else face and voice are set.
	persona id.Persona
	face    id.Avatar
	voice   id.Voice
	// draft is a portal to be built; nil for one that is there.
	draft *build.Draft
	// rival says who keeps the address that this one has to do without; nil for none.
	rival *resource.Refusal

	now      portal.Portal
	problems []golive.Finding
}

// wanted reads the spec. The error is a Refusal.
func (r *Rules) wanted(o *v1alpha1.Portal, org directory.Organization, which id.Portal) (*wanted, error) {
	w := &wanted{org: org, terms: r.Catalogue.Terms(org.Plan, org.Overrides), which: which}
	spec := &o.Spec
	if t, ok := r.Gallery.Find(spec.Template); ok {
		w.languages = t.Languages
	}
	var err error
	if len(spec.Languages) > 0 {
		if w.languages, err = portal.NormalizeLanguages(spec.Languages); err != nil {
			return nil, r.refuse(w, err)
		}
	}
	if spec.Host != "" {
		host, ok := portal.ParseHost(spec.Host)
		if !ok || portal.IsHostOf(host, r.PortalURL, r.LiveURL, r.PublicURL) {
			return nil, resource.Invalid("The host %s cannot be a portal's. It is the name of a host of your own, such as learn.example.com.", spec.Host)
		}
		w.host = host
	}
	return w, w.readSpeaker(spec.Speaker)
}

func (w *wanted) readSpeaker(s v1alpha1.PortalSpeaker) (err error) {
	if s.PersonaID != "" {
		if w.persona, err = id.ParsePersona(s.PersonaID); err != nil {
			return resource.Invalid("%q is not the id of a persona.", s.PersonaID)
		}
		return nil
	}
	if w.face, err = id.ParseAvatar(s.AvatarID); err != nil {
		return resource.Invalid("%q is not the id of an avatar.", s.AvatarID)
	}
	if w.voice, err = id.ParseVoice(s.VoiceID); err != nil {
		return resource.Invalid("%q is not the id of a voice.", s.VoiceID)
	}
	return nil
}

// plan is the portal to be built. The error is a Refusal.
func (r *Rules) plan(o *v1alpha1.Portal, w *wanted) (*build.Draft, error) {
	t, err := build.Choose(r.Gallery, w.terms, o.Spec.Template, o.Spec.Answers)
	if err != nil {
		return nil, r.refuse(w, err)
	}
	d := build.New(t, o.Spec.Name, w.languages)
	d.Portal.ID, d.Portal.ManagedBy, d.Portal.Slug = w.which, resource.Managing(Kind, o), o.Spec.Slug
	if d.Portal.Persona = w.persona; w.persona.IsZero() {
		d.Cast(w.face, w.voice)
	}
	w.shape(o, &d.Portal)
	return &d, nil
}

// shape makes of a portal what the spec says, but for its slug and who speaks.
func (w *wanted) shape(o *v1alpha1.Portal, p *portal.Portal) {
	p.Name = o.Spec.Name
	host := w.host
	if w.rival != nil {
		host = ""
	}
	if p.Host != host {
		p.Host, p.HostProvenAt = host, nil // what is proven is a host, not a portal
	}
	if w.languages != nil {
		p.Definition.Languages, p.Definition.DefaultLanguage = w.languages, w.languages[0]
	}
	p.Definition.Privacy.PrivacyURL, p.Definition.Privacy.TermsURL = some(o.Spec.Privacy.PrivacyURL), some(o.Spec.Privacy.TermsURL)
}

// some is a text, or nil for an empty one.
func some(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// refuse says what the errors of a change are to those who read the resource.
func (r *Rules) refuse(w *wanted, err error) error {
	var (
		field   *errdefs.Invalid
		unfit   *build.VoiceError
		unknown *build.TemplateError
		unasked *build.QuestionError
		missing *build.FeatureError
	)
	switch {
	case errors.Is(err, build.ErrFull):
		return &resource.Refusal{Reason: v1alpha1.ReasonLimitReached, Message: r.Catalogue.LimitReached(w.terms, plan.Portals).Message}
	case errors.As(err, &missing):
		return resource.Invalid("%s", r.Catalogue.FeatureMissing(w.terms, missing.Feature).Message)
	case errors.As(err, &unknown):
		return resource.Invalid("There is no template %q; the templates are %s.", unknown.Key, r.templates())
	case errors.As(err, &unasked):
		return resource.Invalid("The template asks no question %q.", unasked.Key)
	case errors.As(err, &unfit):
		return resource.Invalid("The voice does not fit: %s %s.", unfit.Field.Field, unfit.Field.Message)
	case errors.As(err, &field):
		return resource.Invalid("%s %s.", field.Field, field.Message)
	case errdefs.IsArchived(err, portal.Noun):
		return resource.Invalid("%s is archived for good. Make another Portal.", w.which)
	case errdefs.IsAbsent(err, persona.Noun):
		return resource.Invalid("The portal's persona is gone. Choose who speaks.")
	case errdefs.IsAbsent(err, voice.Noun):
		return resource.Invalid("%s is not a voice of this organization.", w.voice)
	case errdefs.IsAbsent(err, avatar.Noun):
		return resource.Invalid("%s is not an avatar of this organization.", w.face)
	case errdefs.IsConflict(err, avatar.Noun, avatar.ReasonConsent):
		return resource.Invalid("The consent that the avatar %s rests on was withdrawn.", w.face)
	}
	return err
}

// templates are the keys of those that there are, for a sentence.
func (r *Rules) templates() string {
	var keys []string
	for _, t := range r.Gallery.Templates() {
		keys = append(keys, t.Key)
	}
	return strings.Join(keys, ", ")
}
