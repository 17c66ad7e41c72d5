package inbox_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/sessions/inbox"
)

// Of addresses nothing is kept that says who somebody is, and of what is none nothing at all.
func TestCame(t *testing.T) {
	came := inbox.Came("https://user:pw@shop.example/tours/?token=secret&utm_source=news&utm_medium=mail&utm_campaign=Spring%00%0a+tours&utm_term=guide#me",
		"https://search.example/find?q=kim+lee")
	require.Equal(t, inbox.Source{
		URL: new("https://shop.example/tours/"), Referrer: new("https://search.example/find"),
		Campaign: &inbox.Campaign{Source: new("news"), Medium: new("mail"), Name: new("Spring tours"), Term: new("guide")},
	}, came)
	require.Equal(t, inbox.Source{URL: new("https://shop.example/b")}, inbox.Came("https://shop.example/b?utm_source=", "https://SHOP.example/a"))
	require.Equal(t, inbox.Source{Referrer: new("http://a.example")}, inbox.Came("", "http://a.example"))
	for _, none := range []string{"", "/tours", "javascript:alert(1)", "data:text/html,x", "https://", "https://a.example/\x00", "https://a.example/\xff", "about:blank",
		"https://a.example/" + strings.Repeat("x", 2048)} {
		require.Equal(t, inbox.Source{}, inbox.Came(none, none), none)
	}
	long := inbox.Came("https://a.example/?utm_campaign="+strings.Repeat("x", 500), "")
	require.Len(t, *long.Campaign.Name, 200)
}
