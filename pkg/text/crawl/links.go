package crawl

import (
	"bytes"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxLinks bounds the links taken from one page.
const maxLinks = 1000

// maxLink bounds an address, in bytes, as of any that is fetched. A page tells a base once
// for all of its links.
const maxLink = 2048

// linksOf finds where an HTML page leads to, in its order: https addresses in
// canonical form, each once. Links the author marks nofollow are left out.
func linksOf(page *url.URL, data []byte) []*url.URL {
	var out []*url.URL
	base, seen := page, map[string]bool{}
	z := html.NewTokenizer(bytes.NewReader(data))
	z.SetMaxBuf(1 << 20)
	for len(out) < maxLinks {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		token := z.Token()
		attr := attributes(token)
		switch token.DataAtom {
		case atom.Base:
			if u, err := page.Parse(attr["href"]); err == nil && len(attr["href"]) <= maxLink {
				base = u
			}
		case atom.Meta:
			if strings.EqualFold(attr["name"], "robots") && strings.Contains(strings.ToLower(attr["content"]), "nofollow") {
				return nil
			}
		case atom.A, atom.Area:
			u, err := base.Parse(strings.TrimSpace(attr["href"]))
			if err != nil || attr["href"] == "" || len(attr["href"]) > maxLink || strings.Contains(strings.ToLower(attr["rel"]), "nofollow") {
				continue
			}
			if u = canonical(u); u.Scheme == "https" && !seen[u.String()] {
				seen[u.String()] = true
				out = append(out, u)
			}
		}
	}
	return out
}

func attributes(token html.Token) map[string]string {
	out := make(map[string]string, len(token.Attr))
	for _, a := range token.Attr {
		out[a.Key] = a.Val
	}
	return out
}

// canonical writes a URL as all who mean the same document would (RFC 3986,
// section 6.2): small letters and no default port in the host, no dot segments, no
// fragment, escapes in one form.
func canonical(u *url.URL) *url.URL {
	out := *u.ResolveReference(&url.URL{})
	out.Scheme = strings.ToLower(out.Scheme)
	out.Host = strings.TrimSuffix(strings.ToLower(out.Host), ":443")
	out.Fragment, out.RawFragment, out.ForceQuery = "", "", false
	if !strings.Contains(strings.ToLower(out.RawPath), "%2f") { // an escaped slash is no slash
		out.RawPath = ""
	}
	if out.Path == "" {
		out.Path = "/"
	}
	return &out
}
