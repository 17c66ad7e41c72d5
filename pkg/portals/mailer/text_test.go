package mailer

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

// Every language says the same, with the same gaps.
func TestEveryLanguageSaysEverything(t *testing.T) {
	require.Subset(t, keys(phrases), []string{"en", "de", "fr", "es", "ar"})
	for code, s := range phrases {
		for key, text := range phrases[fallback] {
			require.Equal(t, strings.Count(text, "%s"), strings.Count(s[key], "%s"), "%s %s", code, key)
		}
		require.Len(t, s, len(phrases[fallback]), code)
	}
}

func keys(m map[string]map[string]string) (all []string) {
	for k := range m {
		all = append(all, k)
	}
	return all
}

func TestLetters(t *testing.T) {
	p := portal.Portal{Slug: "harbour", Name: "x"}
	v := portal.Version{Name: "Harbour\r\nBcc: eve@example.com <b>", Definition: portal.Definition{DefaultLanguage: "fr"}}
	for k, opens := range map[kind]string{signIn: "member", invitation: "member", ofCase: "case", screening: "invite", decided: "invite"} {
		for code, want := range map[string]string{"de": "de", "ar-EG": "ar", "ja": "fr", "": "fr"} {
			a := addressed{kind: k, to: "kim@example.com", name: "Kim\n<i>", language: code, portal: p, version: v, title: "A door\n%s <u>", opens: opens, token: "t1", expires: tenanttest.Now}
			m, err := a.message(id.NewJob(), "https://portal.example.com")
			require.NoError(t, err)
			require.Equal(t, want, m.Language)
			require.NotContains(t, m.Subject, "\n")
			require.NotContains(t, m.Subject, "\r")
			link := "https://portal.example.com/p/harbour/link#" + opens + "=t1"
			require.Equal(t, 1, strings.Count(m.Text, link))
			require.Equal(t, 2, strings.Count(m.HTML, `href="`+link))
			for _, tag := range []string{"<b>", "<i>", "<u>"} {
				require.NotContains(t, m.HTML, tag)
			}
			for _, text := range []string{m.Subject, m.Text} {
				require.NotContains(t, text, "%!", "a gap is filled wrongly")
			}
			require.Equal(t, want == "ar", strings.Contains(m.HTML, `dir="rtl"`))
		}
	}
	reminder := addressed{kind: assigned, to: "kim@example.com", portal: p, version: v, title: "Knots\r\nBcc: eve <u>", due: "2026-12-01 12:00 UTC"}
	m, err := reminder.message(id.NewJob(), "https://portal.example.com")
	require.NoError(t, err)
	require.NotContains(t, m.Subject+m.Text, "%!")
	require.NotContains(t, m.Subject, "\n")
	require.NotContains(t, m.HTML, "<u>")
	require.Contains(t, m.Text, "2026-12-01 12:00 UTC")
	require.NotContains(t, m.Text, "/link#", "it lets nobody in")
	p.Host = "learn.example.com"
	m, err = (&addressed{kind: signIn, portal: p, version: v, opens: "member", token: "t1"}).message(id.NewJob(), "https://portal.example.com")
	require.NoError(t, err)
	require.Contains(t, m.Text, "https://learn.example.com/link#member=t1")
}
