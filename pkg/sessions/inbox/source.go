package inbox

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// longestAddress bounds the address of a page, in bytes, and longestCampaign what is said of a campaign, in characters.
	longestAddress  = 2048
	longestCampaign = 200
)

// Came is where a visitor came from, by the address of the page that they were on and of the one that led there. What is no address of
// a page is left out, and a page of the same site is none that led there. Queries can say who somebody is: of them the campaign alone is kept.
func Came(page, referrer string) (s Source) {
	at := address(page)
	if at != nil {
		s.URL, s.Campaign = new(bare(*at)), campaign(at.Query())
	}
	if from := address(referrer); from != nil && (at == nil || !strings.EqualFold(from.Host, at.Host)) {
		s.Referrer = new(bare(*from))
	}
	return s
}

// address is that of a page; nil for none.
func address(text string) *url.URL {
	if len(text) > longestAddress || !utf8.ValidString(text) {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" {
		return nil
	}
	return u
}

// bare is an address without who asks for it, what they ask, and where on the page they are.
func bare(u url.URL) string {
	u.User, u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = nil, "", false, "", ""
	return u.String()
}

// campaign is what a visitor followed; nil for nothing.
func campaign(query url.Values) *Campaign {
	said := func(name string) *string {
		text := strings.TrimSpace(strings.Map(func(r rune) rune {
			if unicode.IsControl(r) || r == utf8.RuneError {
				return -1
			}
			return r
		}, query.Get(name)))
		if text == "" {
			return nil
		}
		if runes := []rune(text); len(runes) > longestCampaign {
			text = string(runes[:longestCampaign])
		}
		return &text
	}
	c := Campaign{Source: said("utm_source"), Medium: said("utm_medium"), Name: said("utm_campaign"), Term: said("utm_term")}
	if c == (Campaign{}) {
		return nil
	}
	return &c
}
