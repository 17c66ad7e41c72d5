package connection

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/provider/ashby"
	"visavis.dev/pkg/provider/greenhouse"
	"visavis.dev/pkg/provider/upstream"
)

const (
	// shortestKey and longestKey bound what an applicant tracking system proves by who it is. Together
	// with the ids of the connection and the organization it has fewer than the 171 characters that
	// Greenhouse takes.
	shortestKey = 20
	longestKey  = 110
	// candidatePlace stands for a candidate's id in profileUrl.
	candidatePlace = "{candidateId}"
)

// checkApplicants says whether the config of an applicant tracking system makes sense in itself.
func (c Config) checkApplicants() error {
	for i, text := range c.Texts("roles") {
		if _, err := id.ParseRole(text); err != nil {
			return &ConfigError{fmt.Sprintf("roles.%d", i), "is no id of a role"}
		}
	}
	page := c.Text("profileUrl")
	if !strings.Contains(page, candidatePlace) {
		return &ConfigError{"profileUrl", "has no {candidateId}, so that it is one page for all"}
	}
	host, _, _ := strings.Cut(strings.TrimPrefix(page, "https://"), "/")
	if u, err := url.Parse(strings.ReplaceAll(page, candidatePlace, "id")); err != nil || u.Host == "" || u.User != nil || strings.Contains(host, candidatePlace) {
		return &ConfigError{"profileUrl", "is no https address with {candidateId} in its path or query"}
	}
	return nil
}

// Roles are those, each once, that the config of an applicant tracking system names.
func (c Config) Roles() []id.Role {
	var roles []id.Role
	for _, text := range c.Texts("roles") {
		if r, err := id.ParseRole(text); err == nil && !slices.Contains(roles, r) {
			roles = append(roles, r)
		}
	}
	return roles
}

// Whole is a value that is a whole number, or another one where it is missing.
func (c Config) Whole(name string, otherwise int64) int64 {
	switch n := c[name].(type) {
	case float64:
		return int64(n)
	case int64:
		return n
	case int:
		return int64(n)
	}
	return otherwise
}

// ProfileURL is the organization's own page of a candidate.
func (c Config) ProfileURL(of id.Candidate) string {
	return strings.ReplaceAll(c.Text("profileUrl"), candidatePlace, of.String())
}

// CheckSecret says in a clause what is wrong with the form of a secret, whose characters were looked
// at; empty for nothing.
func (o Offer) CheckSecret(s Secret) string {
	if o.Kind == Calendar {
		return o.checkCalendarSecret(s)
	}
	if o.Provider == XAPI && (strings.HasPrefix(string(s), ":") || !strings.Contains(string(s), ":")) {
		return "is no key and secret with a colon between"
	}
	if o.Kind != ATS {
		return ""
	}
	key, theirs, two := s.parts()
	switch {
	case o.Provider == Greenhouse && two:
		return "has a colon, which a user name cannot have"
	case len(key) < shortestKey || len(key) > longestKey:
		return fmt.Sprintf("has a key for the system of less than %d or more than %d characters", shortestKey, longestKey)
	case o.Provider == Ashby && (!two || theirs == ""):
		return "is two keys with a colon between: the one that Ashby sends, and one of Ashby's own"
	}
	return ""
}

// parts are the key that a system sends, and the one that it takes where that is another.
func (s Secret) parts() (sent, taken string, two bool) { return strings.Cut(string(s), ":") }

// Admits says whether a key is the one that an applicant tracking system sends, or the one before
// while that is being replaced. How long it takes says nothing of the key.
func (o Opened) Admits(key string) bool {
	admitted := 0
	given := sha256.Sum256([]byte(key))
	for _, s := range o.Secrets {
		sent, _, _ := s.parts()
		known := sha256.Sum256([]byte(sent))
		admitted |= subtle.ConstantTimeCompare(given[:], known[:])
	}
	return admitted == 1 && key != ""
}

// Greenhouse is the service of a connection of that provider.
func (o Opened) Greenhouse(g *egress.Guard, secret string) greenhouse.Client {
	return greenhouse.Client{HTTP: o.atsClient(g), Key: secret}
}

// Ashby is the service of a connection of that provider.
func (o Opened) Ashby(g *egress.Guard, secret string) ashby.Client {
	_, theirs, _ := Secret(secret).parts()
	return ashby.Client{HTTP: o.atsClient(g), BaseURL: o.Config.BaseURL(o.Provider), Key: theirs}
}

// Calls says whether a system may be called under an address that came with a request: only where the
// connection's own address is, or on Greenhouse's other hosts where that is Greenhouse's usual one.
// The secret goes there.
func (o Opened) Calls(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
		return false
	}
	if origin(address) == o.Address() {
		return true
	}
	return o.Address() == greenhouse.DefaultURL && u.Port() == "" && strings.HasSuffix(strings.ToLower(u.Hostname()), ".greenhouse.io")
}

// tryATS is the request that shows whether an applicant tracking system is there. Greenhouse has nothing that
// could be asked with the key alone. Ashby is told of an assessment that there is not: that it finds none shows that it
// takes the key.
func (o Opened) tryATS(g *egress.Guard, now time.Time) (name string, call func(ctx context.Context, secret string) error) {
	if o.Provider == Greenhouse {
		return "answer", func(ctx context.Context, _ string) error { return o.answers(ctx, o.atsClient(g)) }
	}
	return "assessments", func(ctx context.Context, secret string) error {
		none := uuid.NewString()
		status := ashby.Value{Identifier: "status", Label: "Status", Type: "string", Value: "Test"}
		return taken(o.Ashby(g, secret).Tell(ctx, ashby.Update{Assessment: none, Timestamp: now.UnixMilli(), Status: &status}, none))
	}
}

// answers says whether anything answers under the address, without the secret.
func (o Opened) answers(ctx context.Context, client *http.Client) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, o.Config.BaseURL(o.Provider), http.NoBody)
	if err != nil {
		return &upstream.Error{Code: upstream.AddressRefused, Err: err}
	}
	_, err = upstream.Exchange(client, req)
	if errors.Is(err, upstream.ErrRefused) || errors.Is(err, egress.ErrRedirect) {
		return nil // its page asks who is there
	}
	return taken(err)
}

// taken leaves out that a service did not take what a trial asked for.
func taken(err error) error {
	if errors.Is(err, upstream.ErrRejected) && !errors.Is(err, egress.ErrRedirect) {
		return nil
	}
	return err
}

// maxATS bounds the answer of an applicant tracking system, in bytes.
const maxATS = 1 << 20

func (o Opened) atsClient(g *egress.Guard) *http.Client {
	return o.Kind.Guard(g).ClientWithin(o.Timeout(), maxATS)
}
