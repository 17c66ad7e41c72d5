package lti

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNextPage(t *testing.T) {
	of, err := url.Parse("https://moodle.example.com/c/1/members?limit=100")
	require.NoError(t, err)
	const next = "https://moodle.example.com/c/1/members?limit=100&from=100"
	for header, want := range map[string]string{
		"":                                "",
		`<` + next + `>; rel="next"`:      next,
		`<` + next + `>;rel=next`:         next,
		`<` + next + `>; REL="Next last"`: next,
		`<?limit=100&from=100>; title="a, b"; rel="next"`:                                        next,
		`</c/1/members?limit=100&from=100#x>; rel="next"`:                                        next,
		`<https://MOODLE.example.com/c/1/members?a=1,2>; rel="last", <` + next + `>; rel="next"`: next,
		`<` + next + `>; rel="nextish"`:                                                          "",
		`<` + next + `>`:                                                                         "",
		`<` + next:                                                                               "",
		`>>><<<,;`:                                                                               "",
	} {
		found, err := nextPage(of, []string{header})
		require.NoError(t, err, header)
		require.Equal(t, want, found, header)
	}
	for _, bad := range []string{
		"https://elsewhere.example.com/", "//elsewhere.example.com/", "http://moodle.example.com/", "https://moodle.example.com:8443/", "https://a@moodle.example.com/",
		"file:///etc/passwd", "https://moodle.example.com.elsewhere.example.com/", "?limit=100", ":",
	} {
		_, err := nextPage(of, []string{`<` + bad + `>; rel="next"`})
		require.Error(t, err, bad)
	}
}

func FuzzNextPage(f *testing.F) {
	f.Add(`<https://moodle.example.com/2>; rel="next", <b>`)
	f.Fuzz(func(t *testing.T, header string) {
		of, err := url.Parse("https://moodle.example.com/1")
		require.NoError(t, err)
		found, err := nextPage(of, []string{header})
		if err != nil || found == "" {
			return
		}
		to, err := url.Parse(found)
		require.NoError(t, err)
		require.Equal(t, []string{"https", "moodle.example.com"}, []string{to.Scheme, to.Hostname()})
	})
}
