package portal

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/resource"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/portals/door"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/launch"
	"visavis.dev/pkg/store/tenant"
)

// write makes the portal what is wanted, with its visitors' door, and shows it to
// people or no more. It can run several times.
func (r *Rules) write(ctx context.Context, tx *tenant.Tx, o *v1alpha1.Portal, w *wanted) error {
	w.problems = nil
	p, err := r.made(ctx, tx, o, w)
	if err != nil {
		return err
	}
	if p, err = r.change(ctx, tx, o, w, p); err != nil {
		return err
	}
	if err := r.keepDoor(ctx, tx, o, w, p); err != nil {
		return err
	}
	w.now, err = r.show(ctx, tx, o, w, p)
	return err
}

// made is the portal: the one that is there, made the resource's, or a new one.
func (r *Rules) made(ctx context.Context, tx *tenant.Tx, o *v1alpha1.Portal, w *wanted) (portal.Portal, error) {
	p, err := portal.Lock(ctx, tx, w.which)
	if err == nil {
		return r.take(ctx, tx, o, p)
	}
	if !errdefs.IsNotFound(err, portal.Noun) || w.draft == nil {
		return p, err
	}
	built, err := w.draft.Build(ctx, tx, r.Library, w.terms, r.actor(o))
	if err != nil {
		return p, err
	}
	return built.Portal, nil
}

// take makes sure that a portal that is there is the resource's.
func (r *Rules) take(ctx context.Context, tx *tenant.Tx, o *v1alpha1.Portal, p portal.Portal) (portal.Portal, error) {
	me := resource.Managing(Kind, o)
	if err := resource.Claim(ctx, r.Client, Kind, o, &v1alpha1.Portal{}, p.ManagedBy, resource.Adopts(o) != ""); err != nil {
		return p, err
	}
	if p.TemplateKey != o.Spec.Template {
		return p, resource.Invalid("%s was built from the template %s: say so in spec.template.", p.ID, p.TemplateKey)
	}
	if p.ManagedBy == me {
		return p, nil
	}
	p, err := portal.HandOver(ctx, tx, p, me)
	if err != nil {
		return p, err
	}
	r.actor(o).Log(tx, "portal.adopted", "portal", p.ID, nil)
	return p, nil
}

// change makes the draft of a portal what the spec says.
func (r *Rules) change(ctx context.Context, tx *tenant.Tx, o *v1alpha1.Portal, w *wanted, p portal.Portal) (portal.Portal, error) {
	after := p
	w.shape(o, &after)
	if o.Spec.Slug != "" {
		after.Slug = o.Spec.Slug
	}
	var (
		dressed bool
		err     error
	)
	if after.Persona, dressed, err = r.speaker(ctx, tx, o, w, p); err != nil {
		return p, err
	}
	change := portal.Change{Action: "portal.updated"}
	if dressed {
		change.Also = []string{"persona"}
	}
	now, _, err := portal.Update(ctx, tx, p, after, change, r.actor(o))
	return now, err
}

// speaker is who is to speak: the persona that the spec names, or the one there is with
// the face and the voice that it names.
func (r *Rules) speaker(ctx context.Context, tx *tenant.Tx, o *v1alpha1.Portal, w *wanted, p portal.Portal) (speaks id.Persona, dressed bool, err error) {
	if !w.persona.IsZero() {
		return w.persona, false, nil
	}
	now, err := persona.Find(ctx, tx, p.Persona)
	if err != nil || now.Avatar == w.face && now.Voice == w.voice {
		return p.Persona, false, err
	}
	return portal.Dress(ctx, tx, r.Library, p, portal.Speaker{Avatar: &w.face, Voice: &w.voice}, r.actor(o))
}

// keepDoor opens or closes the visitors' door, where the portal can be shown to them.
func (r *Rules) keepDoor(ctx context.Context, tx *tenant.Tx, o *v1alpha1.Portal, w *wanted, p portal.Portal) error {
	d, err := door.Find(ctx, tx, p.ID, door.Visitors)
	if err != nil {
		return err
	}
	who := r.actor(o)
	c := door.Change{Open: o.Spec.Visitors != nil, Requires: d.Requires, Message: d.Message}
	if v := o.Spec.Visitors; v != nil {
		c.Open, c.Requires = v.Open == nil || *v.Open, append([]string{}, v.Requires...)
	}
	if c.Open == d.Open && slices.Equal(sorted(c.Requires), sorted(d.Requires)) {
		return nil
	}
	if c.Open && !d.Open {
		report, err := launch.Check(ctx, tx, p, launch.Question{
			// What changed is published with it.
			Region: w.org.Region, At: who.At, Shown: p.State == portal.Published && !p.Changed(), Opening: []string{string(door.Visitors)},
		})
		if err != nil || !report.Ready() {
			w.problems = report.Problems
			return err
		}
	}
	_, err = door.Set(ctx, tx, p, door.Visitors, c, who)
	return err
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

// wantsPublished says whether the spec has the portal open.
func wantsPublished(o *v1alpha1.Portal) bool { return o.Spec.Published == nil || *o.Spec.Published }

// show publishes the portal where it can go live, or closes it.
func (r *Rules) show(ctx context.Context, tx *tenant.Tx, o *v1alpha1.Portal, w *wanted, p portal.Portal) (portal.Portal, error) {
	// Opening a door changed what is to be kept of the page.
	p, err := portal.Find(ctx, tx, p.ID)
	if err != nil {
		return p, err
	}
	if !wantsPublished(o) {
		return r.hide(ctx, tx, o, p)
	}
	if len(w.problems) > 0 || p.State == portal.Published && !p.Changed() {
		return p, nil
	}
	done, err := launch.Publish(ctx, tx, p, w.org.Region, nil, r.actor(o))
	if err != nil || !done.Report.Ready() {
		w.problems = done.Report.Problems
		return p, err
	}
	return done.Portal, nil
}

func (r *Rules) hide(ctx context.Context, tx *tenant.Tx, o *v1alpha1.Portal, p portal.Portal) (portal.Portal, error) {
	if p.State != portal.Published {
		return p, nil
	}
	return portal.Unpublish(ctx, tx, p, r.actor(o))
}

// maxProblems bounds those that a status tells.
const maxProblems = 20

// setStatus writes how the portal is into the status.
func (r *Rules) setStatus(o *v1alpha1.Portal, w *wanted) {
	p, s := w.now, &o.Status
	s.ID, s.Slug, s.PublishedVersion = p.ID.String(), p.Slug, p.PublishedVersion
	s.URL = r.PortalURL + "/p/" + p.Slug
	if p.Host != "" {
		s.URL = "https://" + p.Host + "/"
	}
	s.Problems = nil
	for _, found := range w.problems[:min(len(w.problems), maxProblems)] {
		s.Problems = append(s.Problems, v1alpha1.PortalProblem{Field: found.Field, Message: found.Message})
	}
	published := metav1.Condition{Type: v1alpha1.Published, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonUnpublished}
	switch {
	case p.State == portal.Published:
		published.Status, published.Reason = metav1.ConditionTrue, v1alpha1.ReasonPublished
	case len(w.problems) > 0:
		published.Reason, published.Message = v1alpha1.ReasonNotReady, w.problems[0].Message
	}
	meta.SetStatusCondition(&s.Conditions, published)
}
