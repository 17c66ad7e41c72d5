package organisation

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/resource"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/organization"
)

// pauseReason is what an organization is told that its spec pauses.
const pauseReason = "paused by the operator"

// wanted is the organization as the spec has it, but for where it lives. The error is
// a Refusal.
func (r *Rules) wanted(o *v1alpha1.Organisation) (directory.Organization, error) {
	spec := &o.Spec
	w := directory.Organization{Name: spec.Name, Slug: slug(o), Region: spec.Region, Timezone: spec.Timezone, Plan: spec.Plan}
	if w.Slug == "" {
		return w, resource.Invalid("No slug can be made of the name %q: give spec.slug.", spec.Name)
	}
	if _, err := time.LoadLocation(w.Timezone); err != nil || w.Timezone == "Local" || w.Timezone == "" {
		return w, resource.Invalid("There is no time zone %q; one is Europe/Zurich.", w.Timezone)
	}
	if _, ok := r.Catalogue.Plan(w.Plan); !ok {
		var keys []string
		for _, p := range r.Catalogue.Plans() {
			keys = append(keys, p.Key)
		}
		return w, resource.Invalid("There is no plan %q; the plans are %s.", w.Plan, strings.Join(keys, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(spec.Limits)) {
		if err := w.Overrides.Parse(name, spec.Limits[name]); err != nil {
			return w, resource.Invalid("The limit %s cannot be: %v.", name, err)
		}
	}
	return w, nil
}

// slug is the slug that the resource claims.
func slug(o *v1alpha1.Organisation) string {
	return cmp.Or(o.Spec.Slug, o.Status.Slug, organization.Slug(o.Spec.Name))
}

// differs says whether an organization is not as the spec has it.
func differs(found, wanted directory.Organization, paused bool) bool {
	return found.Name != wanted.Name || found.Timezone != wanted.Timezone || found.Plan != wanted.Plan ||
		(found.PausedAt != nil) != paused || !equality.Semantic.DeepEqual(found.Overrides, wanted.Overrides)
}
