package lti

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"visavis.dev/pkg/provider/upstream"
)

const (
	// MembersScope lets a tool read who is in a course (NRPS 2.0, section 3.1).
	MembersScope = "https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly"
	// MaxMembersPage bounds a page of a list of members, in bytes.
	MaxMembersPage = 4 << 20

	// mostOfPage bounds how many members are on a page.
	mostOfPage     = 5000
	membersType    = "application/vnd.ims.lti-nrps.v2.membershipcontainer+json"
	membersVersion = "2.0"
	// pageOf is how many members a page is asked for; a platform may give others.
	pageOf   = "100"
	testUser = "http://purl.imsglobal.org/vocab/lti/system/person#TestUser"
)

// Course is where a launch comes from (LTI Core 1.3, section 5.4.1).
type Course struct {
	// ID is the platform's name of the course; empty for none.
	ID, Title string
	// Members is where the platform says who is in the course (NRPS 2.0, section 3.6.1.1); empty where it does not.
	Members string
}

// course is what a token says of the course. What of it is not as it should be is left out: a launch does not need it.
func (s *said) course() (c Course) {
	var (
		at struct{ ID, Label, Title string }
		in struct {
			Address  string   `json:"context_memberships_url"`
			Versions []string `json:"service_versions"`
		}
	)
	if json.Unmarshal(s.Context, &at) != nil || at.ID == "" || len(at.ID) > longestName || indistinct(at.ID) {
		return c
	}
	c.ID, c.Title = at.ID, cmp.Or(plain(at.Title), plain(at.Label), plain(at.ID), "Course")
	if json.Unmarshal(s.Members, &in) == nil && (len(in.Versions) == 0 || slices.Contains(in.Versions, membersVersion)) {
		c.Members = webAddress(in.Address)
	}
	return c
}

// indistinct says whether a name has a character that no text is kept with, or one that stands for several that were
// none, so that it would not be one thing's alone.
func indistinct(name string) bool {
	return strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar })
}

// Member is somebody in a course, as its platform says.
type Member struct {
	// User is the platform's own name of the person, as launches have it.
	User string
	// Name is what the person is called; empty where that is not told.
	Name string
	// Active says that they take part in it now.
	Active bool
	// Roles are those that say whether they teach or learn.
	Roles []string
}

// Instructs says whether the member teaches the course.
func (m *Member) Instructs() bool { return has(m.Roles, instructor) }

// Learns says whether the member learns in the course.
func (m *Member) Learns() bool { return has(m.Roles, learner) }

// Members is a page of who is in a course.
type Members struct {
	// Course is the platform's name of the course that it is a list of; empty where the page does not say.
	Course string
	All    []Member
	// Next is where the next page is; empty for none.
	Next string
}

// MembersPage is where the first page of a list is asked for.
func MembersPage(address string) (string, error) {
	at, err := url.Parse(address)
	if err != nil {
		return "", &upstream.Error{Code: upstream.AddressRefused, Err: err}
	}
	q := at.Query()
	if q.Get("limit") == "" {
		q.Set("limit", pageOf)
	}
	at.RawQuery = q.Encode()
	return at.String(), nil
}

// ReadMembers reads a page of a list of members. A next page is only followed on the host of this one. The error is an
// upstream.Error or context.Canceled.
func ReadMembers(ctx context.Context, client *http.Client, token Token, address string) (page Members, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return page, &upstream.Error{Code: upstream.AddressRefused, Err: err}
	}
	req.Header.Set("Authorization", "Bearer "+token.Value)
	req.Header.Set("Accept", membersType)
	err = upstream.Stream(client, req, func(resp *http.Response) error {
		d := json.NewDecoder(resp.Body)
		if err := page.decode(d); err != nil {
			return readingFault(err)
		}
		var err error
		page.Next, err = nextPage(req.URL, resp.Header.Values("Link"))
		return err
	})
	return page, err
}

// errList says that what came is no list of members.
var errList = errors.New("it is no list of members")

// readingFault is what a page that cannot be read amounts to: JSON that is none is malformed, and all else happened on the way.
func readingFault(err error) error {
	var (
		syntax *json.SyntaxError
		kind   *json.UnmarshalTypeError
	)
	if errors.Is(err, errList) || errors.As(err, &syntax) || errors.As(err, &kind) {
		return &upstream.Error{Code: upstream.Malformed, Err: err}
	}
	return upstream.FromBody(err)
}

// decode reads a container (NRPS 2.0, section 2.2) member by member: a page takes no more memory than what is kept of
// its members.
func (p *Members) decode(d *json.Decoder) error {
	if err := opens(d, '{'); err != nil {
		return err
	}
	listed := false
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		switch name {
		case "context":
			var at struct {
				ID string `json:"id"`
			}
			if err := d.Decode(&at); err != nil {
				return err
			}
			p.Course = at.ID
		case "members":
			if listed {
				return errList
			}
			listed = true
			if err := p.members(d); err != nil {
				return err
			}
		default:
			var other json.RawMessage
			if err := d.Decode(&other); err != nil {
				return err
			}
		}
	}
	if !listed {
		return errList
	}
	_, err := d.Token()
	return err
}

func opens(d *json.Decoder, with json.Delim) error {
	t, err := d.Token()
	if err == nil && t != with {
		err = errList
	}
	return err
}

func (p *Members) members(d *json.Decoder) error {
	if err := opens(d, '['); err != nil {
		return err
	}
	for n := 0; d.More(); n++ {
		if n == mostOfPage {
			return errList
		}
		var m struct {
			User   string   `json:"user_id"`
			Status string   `json:"status"`
			Name   string   `json:"name"`
			Given  string   `json:"given_name"`
			Family string   `json:"family_name"`
			Roles  []string `json:"roles"`
		}
		if err := d.Decode(&m); err != nil {
			return err
		}
		if m.User == "" || len(m.User) > longestName || indistinct(m.User) || slices.Contains(m.Roles, testUser) {
			continue // nobody who could come
		}
		kept := Member{User: m.User, Name: plain(m.Name), Active: m.Status == "" || m.Status == "Active", Roles: coreRoles(m.Roles)}
		if kept.Name == "" {
			kept.Name = plain(m.Given + " " + m.Family)
		}
		p.All = append(p.All, kept)
	}
	_, err := d.Token()
	return err
}

// nextPage is where the next page is, by the Link headers of a page (RFC 8288); empty for none. It must be on the
// same host as the page, and another one.
func nextPage(of *url.URL, links []string) (string, error) {
	for _, header := range links {
		for _, link := range splitLinks(header) {
			target, params, ok := strings.Cut(strings.TrimPrefix(link, "<"), ">")
			if !ok || !strings.HasPrefix(link, "<") || !isNext(params) {
				continue
			}
			to, err := of.Parse(target)
			if err != nil || to.Scheme != of.Scheme || !strings.EqualFold(to.Host, of.Host) || to.User != nil || len(to.String()) > longest {
				return "", &upstream.Error{Code: upstream.AddressRefused, Err: errors.New("the next page is elsewhere")}
			}
			if to.Fragment = ""; to.String() == of.String() {
				return "", &upstream.Error{Code: upstream.Malformed, Err: errors.New("a page is next to itself")}
			}
			return to.String(), nil
		}
	}
	return "", nil
}

// splitLinks are the links of a header. Commas are in addresses and in quotes too.
func splitLinks(header string) (links []string) {
	begins, address, quoted := 0, false, false
	for i, r := range header {
		switch {
		case quoted:
			quoted = r != '"'
		case address:
			address = r != '>'
		case r == '<':
			address = true
		case r == '"':
			quoted = true
		case r == ',':
			links, begins = append(links, strings.TrimSpace(header[begins:i])), i+1
		}
	}
	return append(links, strings.TrimSpace(header[begins:]))
}

// isNext says whether the parameters of a link have next among its relations.
func isNext(params string) bool {
	for p := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		if strings.EqualFold(strings.TrimSpace(name), "rel") {
			return slices.ContainsFunc(strings.Fields(strings.Trim(strings.TrimSpace(value), `"`)), func(rel string) bool { return strings.EqualFold(rel, "next") })
		}
	}
	return false
}

// coreRoles are those of roles that are looked at.
func coreRoles(roles []string) (kept []string) {
	for _, role := range []string{instructor, learner} {
		if has(roles, role) {
			kept = append(kept, role)
		}
	}
	return kept
}
