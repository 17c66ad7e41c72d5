package page_test

import (
	"html"
	"net/http"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/portals/portal/published"
)

var metaTag = regexp.MustCompile(`<meta (?:name|property)="([^"]*)" content="([^"]*)">`)

// previewOf is what a page says of itself to who shows it elsewhere, by name.
func previewOf(body string) map[string]string {
	found := map[string]string{}
	for _, tag := range metaTag.FindAllStringSubmatch(body, -1) {
		found[tag[1]] = html.UnescapeString(tag[2])
	}
	return found
}

func TestPreviews(t *testing.T) {
	b := setup(t, func(s *published.Site) {
		s.Host = "harbour.example.com"
		s.Definition.Pages.Welcome = language.Words{"en": "**Learn** the \"ropes\" <here>.", "de": "Lerne die [Leinen](https://example.com)."}
	})
	knots := b.site.Subjects[0]
	for name, c := range map[string]struct {
		at, language, title, description, address string
	}{
		"the first page": {home, "en", "Harbour school", `Learn the "ropes" .`, home},
		"in German":      {home, "de", "Hafenschule", "Lerne die Leinen.", home},
		"on its own host": {
			"https://harbour.example.com/", "en", "Harbour school", `Learn the "ropes" .`, "https://harbour.example.com",
		},
		"a subject": {
			home + "/s/" + knots.ID.String(), "en", "Knots that hold", "Three knots are enough for most of what happens between a boat and a pier.",
			home + "/s/" + knots.ID.String(),
		},
	} {
		t.Run(name, func(t *testing.T) {
			body := b.get(c.at, "Accept-Language: "+c.language).Body.String()
			p := previewOf(body)
			require.Equal(t, c.description, p["description"])
			require.Equal(t, c.description, p["og:description"])
			require.Equal(t, c.title, p["og:title"])
			require.Equal(t, c.address, p["og:url"])
			require.Contains(t, body, `<link rel="canonical" href="`+c.address+`">`)
			require.NotContains(t, p, "robots")
			picture := b.get(p["og:image"])
			require.Equal(t, http.StatusOK, picture.Code, p["og:image"])
			require.Equal(t, "image/png", picture.Header().Get("Content-Type"))
		})
	}
}

// What is for one person or one moment is nothing to share.
func TestPagesThatAreNotShown(t *testing.T) {
	b := setup(t)
	for _, at := range []string{home + "/sign-in", home + "/enter", home + "/nothing", "https://portal.example.com/p/nobody"} {
		require.Equal(t, "noindex", previewOf(b.get(at).Body.String())["robots"], at)
	}
}

// Where there is no portal, the page says at least whose it is.
func TestAPageOfNoPortalHasABrand(t *testing.T) {
	b := setup(t)
	require.Contains(t, b.get("https://portal.example.com/p/nobody").Body.String(), "<span>Visavis</span>")
	require.Contains(t, b.get(home+"/nothing").Body.String(), "<span>Harbour school</span>")
}
