// Package plan holds the plans a deployment sells and works out what an
// organization may have: its plan's terms with its own overrides on top.
package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/rate"
)

// Limit names a countable or bounded thing. Its name is also the name of the
// organization's counter where there is one.
type Limit string

// The limits of a plan.
const (
	BytesPerBase          Limit = "bytesPerBase"
	ClonedVoices          Limit = "clonedVoices"
	CustomAvatars         Limit = "customAvatars"
	DocumentBytes         Limit = "documentBytes"
	DocumentsPerBase      Limit = "documentsPerBase"
	KnowledgeBases        Limit = "knowledgeBases"
	MaxConcurrentSessions Limit = "maxConcurrentSessions"
	MaxSessionS           Limit = "maxSessionS"
	Members               Limit = "members"
	MonthlyCapMinutes     Limit = "monthlyCapMinutes"
	Portals               Limit = "portals"
	Webhooks              Limit = "webhooks"
)

var known = []Limit{
	BytesPerBase, ClonedVoices, CustomAvatars, DocumentBytes, DocumentsPerBase, KnowledgeBases,
	MaxConcurrentSessions, MaxSessionS, Members, MonthlyCapMinutes, Portals, Webhooks,
}

// Limits gives each limit its number; nil is no limit.
type Limits map[Limit]*int64

// Plan is one plan of the catalogue.
type Plan struct {
	Key              string     `json:"key"`
	Name             string     `json:"name"`
	Features         []string   `json:"features"`
	UnlimitedMinutes bool       `json:"unlimitedMinutes"`
	Limits           Limits     `json:"limits"`
	Rates            rate.Rates `json:"rates"`
}

// Overrides are what one organization has instead of its plan's terms.
type Overrides struct {
	Limits Limits     `json:"limits,omitempty"`
	Rates  rate.Rates `json:"rates,omitempty"`
}

// Terms are what an organization may have, all things considered.
type Terms struct {
	Plan   Plan
	Limits Limits
	Rates  rate.Rates
}

// Catalogue is the plans of a deployment, cheapest first.
type Catalogue struct {
	plans []Plan
	base  rate.Rates
}

// Parse reads a catalogue from YAML. base are the deployment's rates, on
// which a plan's build.
func Parse(text []byte, base rate.Rates) (*Catalogue, error) {
	var file struct {
		Plans []Plan `json:"plans"`
	}
	if err := yaml.UnmarshalStrict(text, &file); err != nil {
		return nil, fmt.Errorf("plans: %w", err)
	}
	if len(file.Plans) == 0 {
		return nil, fmt.Errorf("plans: there is none")
	}
	seen := map[string]bool{}
	for _, p := range file.Plans {
		if p.Key == "" || seen[p.Key] {
			return nil, fmt.Errorf("plans: key %q is empty or used twice", p.Key)
		}
		seen[p.Key] = true
		if err := p.Limits.check(); err != nil {
			return nil, fmt.Errorf("plans: %s: %w", p.Key, err)
		}
		for class, r := range p.Rates {
			if _, isClass := rate.SpecRates()[class]; !isClass || r.PerKey < 1 || r.PerOrganization < 1 {
				return nil, fmt.Errorf("plans: %s: rates of %q: want a class of %v with perKey and perOrganization from 1", p.Key, class, rate.Classes())
			}
		}
	}
	return &Catalogue{plans: file.Plans, base: base}, nil
}

func (l Limits) check() error {
	for name, value := range l {
		if !slices.Contains(known, name) {
			return fmt.Errorf("%q is not a limit; the limits are %v", name, known)
		}
		if value != nil && *value < 0 {
			return fmt.Errorf("limit %s is below zero", name)
		}
	}
	return nil
}

// Plans lists the plans, cheapest first.
func (c *Catalogue) Plans() []Plan { return slices.Clone(c.plans) }

// Plan finds a plan by its key.
func (c *Catalogue) Plan(key string) (Plan, bool) {
	i := slices.IndexFunc(c.plans, func(p Plan) bool { return p.Key == key })
	if i < 0 {
		return Plan{}, false
	}
	return c.plans[i], true
}

// Terms works out what an organization on a plan with these overrides may
// have. A plan that a deployment no longer sells counts as its cheapest.
func (c *Catalogue) Terms(key string, o Overrides) Terms {
	p, ok := c.Plan(key)
	if !ok {
		p = c.plans[0]
	}
	merged := make(Limits, len(p.Limits)+len(o.Limits))
	maps.Copy(merged, p.Limits)
	maps.Copy(merged, o.Limits)
	return Terms{Plan: p, Limits: merged, Rates: c.base.With(p.Rates).With(o.Rates)}
}

// Limit is the number of a limit; limited is false when there is none.
func (t Terms) Limit(l Limit) (n int64, limited bool) {
	v := t.Limits[l]
	if v == nil {
		return 0, false
	}
	return *v, true
}

// AtMost are the terms with a limit of n, where they have none or a higher one.
func (t Terms) AtMost(l Limit, n int64) Terms {
	if limit, limited := t.Limit(l); limited && limit <= n {
		return t
	}
	bounded := maps.Clone(t.Limits)
	if bounded == nil {
		bounded = Limits{}
	}
	bounded[l] = &n
	t.Limits = bounded
	return t
}

// Has says whether the terms include a feature.
func (t Terms) Has(feature string) bool { return slices.Contains(t.Plan.Features, feature) }

// LimitReached is the 403 upgrade_required for a full count (Errors,
// Details): it names the limit and the cheapest plan with more room, or null.
func (c *Catalogue) LimitReached(t Terms, l Limit) *problem.Problem {
	limit, _ := t.Limit(l)
	i := slices.IndexFunc(c.plans, func(p Plan) bool {
		v, counted := p.Limits[l]
		return counted && (v == nil || *v > limit)
	})
	return c.upgrade(string(l), i, "The plan %s allows %d of %s, and all are in use.", t.Plan.Name, limit, l).
		WithDetail("limit", limit)
}

// FeatureMissing is the 403 upgrade_required for a feature the plan lacks.
func (c *Catalogue) FeatureMissing(t Terms, feature string) *problem.Problem {
	i := slices.IndexFunc(c.plans, func(p Plan) bool { return slices.Contains(p.Features, feature) })
	return c.upgrade(feature, i, "The plan %s does not include %s.", t.Plan.Name, feature)
}

func (c *Catalogue) upgrade(feature string, cheapest int, format string, args ...any) *problem.Problem {
	p := problem.New(problem.UpgradeRequired, format, args...).WithDetail("feature", feature).WithDetail("plan", nil)
	if cheapest >= 0 {
		p.Details["plan"] = c.plans[cheapest].Key
	}
	return p
}

// Parse sets an override from text. name is a limit, or a rate class; value a
// number, "unlimited", or "plan" to take the override away; for a rate class
// PER_KEY/PER_ORGANIZATION or "plan".
func (o *Overrides) Parse(name, value string) error {
	if _, isClass := rate.SpecRates()[rate.Class(name)]; isClass {
		return o.parseRate(name, value)
	}
	if err := (Limits{Limit(name): nil}).check(); err != nil {
		return err
	}
	if o.Limits == nil {
		o.Limits = Limits{}
	}
	switch value {
	case "plan":
		delete(o.Limits, Limit(name))
	case "unlimited":
		o.Limits[Limit(name)] = nil
	default:
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 0 {
			return fmt.Errorf("%q is not a number from 0, unlimited, or plan", value)
		}
		o.Limits[Limit(name)] = &n
	}
	return nil
}

func (o *Overrides) parseRate(name, value string) error {
	if value == "plan" {
		delete(o.Rates, rate.Class(name))
		return nil
	}
	if strings.Contains(value, ",") {
		return fmt.Errorf("%q is not PER_KEY/PER_ORGANIZATION, or plan", value)
	}
	rates, err := rate.ParseRates(name + "=" + value)
	if err != nil {
		return err
	}
	o.Rates = o.Rates.With(rates)
	return nil
}
