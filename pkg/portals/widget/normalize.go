package widget

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // the image has no time zones of its own

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/store/setting"
)

// EU is the region whose law has people told that they talk with an AI.
const EU = setting.EU

func invalid(field, format string, args ...any) error {
	return errdefs.InvalidField(field, format, args...)
}

// Normalize answers the definition as it is kept for an organization of a region.
// d is not changed. The error is an errdefs.Invalid; the bounds in
// Definition's tags are for whoever takes input to keep.
func (d *Definition) Normalize(region string) (Definition, error) {
	normalized := *d
	for _, rule := range []func(*Definition) error{
		(*Definition).normalizeChannels, (*Definition).normalizeOrigins, (*Definition).normalizeLanguages, (*Definition).normalizeTexts,
		(*Definition).normalizeProactive, (*Definition).normalizeLeadForm, (*Definition).checkLinks, (*Definition).normalizeHours,
	} {
		if err := rule(&normalized); err != nil {
			return normalized, err
		}
	}
	if !d.AINotice && region == EU {
		return normalized, invalid("aiNotice", "cannot be false in the EU region")
	}
	return normalized, nil
}

// once is the items of a list, each in its first place; never nil.
func once(list []string) []string {
	kept := make([]string, 0, len(list))
	for _, item := range list {
		if !slices.Contains(kept, item) {
			kept = append(kept, item)
		}
	}
	return kept
}

func (d *Definition) normalizeChannels() error {
	d.Channels = once(d.Channels)
	if !slices.Contains(d.Channels, d.DefaultChannel) {
		return invalid("defaultChannel", "must be one of channels")
	}
	return nil
}

func (d *Definition) normalizeOrigins() error {
	normalized := make([]string, len(d.AllowedOrigins))
	for i, origin := range d.AllowedOrigins {
		parsed, ok := ParseOrigin(origin)
		if !ok {
			return invalid(fmt.Sprintf("allowedOrigins[%d]", i), "must be https://example.com, https://*.example.com or http://localhost")
		}
		normalized[i] = parsed
	}
	d.AllowedOrigins = once(normalized)
	return nil
}

func (d *Definition) normalizeLanguages() error {
	normalized := make([]string, len(d.Languages))
	for i, asked := range d.Languages {
		found, ok := language.Lookup(asked)
		if !ok {
			return invalid(fmt.Sprintf("languages[%d]", i), "is not a language; GET /languages lists them")
		}
		normalized[i] = found.Code
	}
	d.Languages = once(normalized)
	return nil
}

func (d *Definition) normalizeTexts() error {
	if d.Texts == nil {
		d.Texts = ByLanguage{}
	}
	for code := range d.Texts {
		if _, ok := language.Lookup(code); !ok {
			return invalid("texts", "has a key that is not a language; GET /languages lists them")
		}
	}
	return nil
}

// maxPath bounds a path of Proactive, in bytes.
const maxPath = 500

func (d *Definition) normalizeProactive() error {
	for i, path := range d.Proactive.URLs {
		if !strings.HasPrefix(path, "/") || len(path) > maxPath {
			return invalid(fmt.Sprintf("proactive.urls[%d]", i), "must be a path that begins with /, of at most %d bytes", maxPath)
		}
	}
	d.Proactive.URLs = once(d.Proactive.URLs)
	return nil
}

func (d *Definition) normalizeLeadForm() error {
	f := &d.LeadForm
	f.Fields, f.Required = once(f.Fields), once(f.Required)
	for i, name := range f.Required {
		if !slices.Contains(f.Fields, name) {
			return invalid(fmt.Sprintf("leadForm.required[%d]", i), "must be one of fields")
		}
	}
	return nil
}

func (d *Definition) checkLinks() error {
	for _, link := range []struct {
		field   string
		address *string
	}{{"termsUrl", d.TermsURL}, {"privacyUrl", d.PrivacyURL}} {
		if link.address == nil {
			continue
		}
		u, err := url.Parse(*link.address)
		if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
			return invalid(link.field, "must be an https address")
		}
	}
	return nil
}

var days = []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}

// normalizeHours sorts the times of the week, which must not overlap.
func (d *Definition) normalizeHours() error {
	h := &d.Hours
	if _, err := time.LoadLocation(h.Timezone); err != nil || h.Timezone == "Local" || h.Timezone == "" {
		return invalid("hours.timezone", "is not a time zone; Europe/Berlin is one")
	}
	for i, o := range h.Open {
		if o.From >= o.To {
			return invalid(fmt.Sprintf("hours.open[%d].to", i), "must be later than from")
		}
	}
	h.Open = slices.Clone(h.Open)
	if h.Open == nil {
		h.Open = []Open{}
	}
	slices.SortFunc(h.Open, func(a, b Open) int {
		return cmp.Or(cmp.Compare(slices.Index(days, a.Day), slices.Index(days, b.Day)), cmp.Compare(a.From, b.From))
	})
	for i := 1; i < len(h.Open); i++ {
		if a, b := h.Open[i-1], h.Open[i]; a.Day == b.Day && b.From < a.To {
			return invalid("hours.open", "has times on %s that overlap", a.Day)
		}
	}
	return nil
}
