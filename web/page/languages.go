package page

import (
	"net/http"
	"slices"
	"sync"

	"golang.org/x/text/language"

	"visavis.dev/pkg/base/id"
	words "visavis.dev/pkg/base/language"
	"visavis.dev/pkg/portals/portal/published"
)

const (
	languageQuery  = "lang"
	languageCookie = "lang"
)

// choose is the language of a page: the one that was switched to, now or before,
// or else the best of those that the browser asks for. chosen says that it was
// switched to now.
func (h *Handler) choose(r *http.Request, site *published.Site) (code string, chosen bool) {
	d := site.Definition
	if r.URL.RawQuery != "" {
		if asked := words.Key(r.URL.Query().Get(languageQuery)); slices.Contains(d.Languages, asked) {
			return asked, true
		}
	}
	if c, err := r.Cookie(languageCookie); err == nil && slices.Contains(d.Languages, c.Value) {
		return c.Value, false
	}
	wish := wish{site.Portal, site.Stamp, r.Header.Get("Accept-Language")}
	if len(wish.accept) > longestAccept {
		wish.accept = ""
	}
	if known, ok := h.wishes.Get(wish); ok {
		return known, false
	}
	code = match(wish.accept, d.Languages, d.DefaultLanguage)
	h.wishes.Add(wish, code)
	return code, false
}

// wish is what a browser asks a site for: browsers are many, and their wishes few.
type wish struct {
	portal id.Portal
	stamp  published.Stamp
	accept string
}

// longestAccept bounds the work that a browser's wishes make.
const longestAccept = 1000

// match is the best of the languages for a browser's wishes.
func match(accept string, offered []string, otherwise string) string {
	if accept == "" {
		return otherwise
	}
	wanted, _, err := language.ParseAcceptLanguage(accept)
	if err != nil || len(wanted) == 0 {
		return otherwise
	}
	// The first is what the matcher falls back to.
	codes := append([]string{otherwise}, slices.DeleteFunc(slices.Clone(offered), func(c string) bool { return c == otherwise })...)
	tags := make([]language.Tag, 0, len(codes))
	for _, code := range codes {
		tags = append(tags, language.Make(code))
	}
	_, at, confidence := language.NewMatcher(tags).Match(wanted...)
	if confidence == language.No {
		return otherwise
	}
	return codes[at]
}

// direction is how a language is written: rtl or ltr.
func direction(code string) string {
	script, _ := language.Make(code).Script()
	switch script.String() {
	case "Arab", "Hebr", "Thaa", "Syrc", "Nkoo", "Adlm":
		return "rtl"
	}
	return "ltr"
}

// names are the languages' own names, by code.
var names = sync.OnceValue(func() map[string]string {
	byCode := map[string]string{}
	for _, l := range words.Catalogue() {
		byCode[l.Code] = l.NativeName
	}
	return byCode
})
