package portal

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/portals/widget"
)

// Defaults is what a portal is made with where its maker says nothing, but for
// its languages.
func Defaults() Definition {
	return Definition{
		KnowledgeBaseIDs: []id.KnowledgeBase{},
		Brand:            Brand{Accent: DefaultAccent, Dark: "auto"},
		Pages:            Pages{Title: language.Words{}, Welcome: language.Words{}, Footer: language.Words{}},
		Privacy:          Privacy{AINotice: true},
		Audience:         "visitors",
		AllowedOrigins:   []string{},
	}
}

func invalid(field, format string, args ...any) error {
	return errdefs.InvalidField(field, format, args...)
}

// Normalize answers the definition as it is kept: languages by their codes, lists
// without doubles. d is not changed. The error is an errdefs.Invalid; the bounds
// in Definition's tags are for whoever takes input to keep.
func (d *Definition) Normalize() (Definition, error) {
	normalized := *d
	for _, rule := range []func(*Definition) error{
		(*Definition).normalizeLanguages, (*Definition).normalizePages, (*Definition).checkLinks, (*Definition).normalizeOrigins,
	} {
		if err := rule(&normalized); err != nil {
			return normalized, err
		}
	}
	normalized.KnowledgeBaseIDs = once(d.KnowledgeBaseIDs)
	return normalized, nil
}

// once is the items of a list, each in its first place; never nil.
func once[T comparable](list []T) []T {
	kept := make([]T, 0, len(list))
	for _, item := range list {
		if !slices.Contains(kept, item) {
			kept = append(kept, item)
		}
	}
	return kept
}

func (d *Definition) normalizeLanguages() error {
	codes, err := NormalizeLanguages(d.Languages)
	if err != nil {
		return err
	}
	d.Languages = codes
	if d.DefaultLanguage == "" {
		d.DefaultLanguage = codes[0]
	}
	found, ok := language.Lookup(d.DefaultLanguage)
	if !ok || !slices.Contains(codes, found.Code) {
		return invalid("defaultLanguage", "must be one of languages")
	}
	d.DefaultLanguage = found.Code
	return nil
}

// NormalizeLanguages are a portal's languages by their codes, each once. The error is
// an errdefs.Invalid.
func NormalizeLanguages(asked []string) ([]string, error) {
	codes := make([]string, len(asked))
	for i, name := range asked {
		found, ok := language.Lookup(name)
		if !ok {
			return nil, invalid(fmt.Sprintf("languages[%d]", i), "is not a language; GET /languages lists them")
		}
		codes[i] = found.Code
	}
	if len(codes) == 0 {
		return nil, invalid("languages", "must hold at least one")
	}
	return once(codes), nil
}

// normalizePages keeps a text for every language that has one; an empty one is none.
func (d *Definition) normalizePages() error {
	for _, t := range []struct {
		field string
		words *language.Words
		most  int
	}{
		{"pages.title", &d.Pages.Title, 120}, {"pages.welcome", &d.Pages.Welcome, 4000}, {"pages.footer", &d.Pages.Footer, 1000},
	} {
		kept := language.Words{}
		for _, code := range slices.Sorted(maps.Keys(*t.words)) {
			text := (*t.words)[code]
			switch found, ok := language.Lookup(code); {
			case !ok:
				return invalid(t.field, "has a key that is not a language; GET /languages lists them")
			case utf8.RuneCountInString(text) > t.most:
				return invalid(t.field+"."+code, "must have at most %d characters", t.most)
			case strings.TrimSpace(text) != "":
				kept[found.Code] = text
			}
		}
		*t.words = kept
	}
	return nil
}

// normalizeOrigins keeps the origins as browsers send them.
func (d *Definition) normalizeOrigins() error {
	origins := make([]string, len(d.AllowedOrigins))
	for i, text := range d.AllowedOrigins {
		origin, ok := widget.ParseOrigin(text)
		if !ok {
			return invalid(fmt.Sprintf("allowedOrigins[%d]", i), "must be an origin such as https://www.example.com or https://*.example.com")
		}
		origins[i] = origin
	}
	d.AllowedOrigins = once(origins)
	return nil
}

func (d *Definition) checkLinks() error {
	for _, link := range []struct {
		field   string
		address *string
	}{{"brand.logoUrl", d.Brand.LogoURL}, {"privacy.privacyUrl", d.Privacy.PrivacyURL}, {"privacy.termsUrl", d.Privacy.TermsURL}} {
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
