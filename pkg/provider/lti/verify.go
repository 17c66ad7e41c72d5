package lti

import (
	"context"
	"crypto/rsa"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/sync/singleflight"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/lru"
	"visavis.dev/pkg/provider/upstream"
)

// Errors of what a platform said.
var (
	// ErrUnreachable says that the platform's keys cannot be had.
	ErrUnreachable = errors.New("the platform's keys cannot be had")
	// ErrToken says that what came is not to be believed.
	ErrToken = errors.New("the platform's token is not good")
)

const (
	// asked is how long keys may take, and longestKeys how many bytes they may be.
	asked       = 5 * time.Second
	longestKeys = 256 << 10
	// known is how long keys are believed without asking, and believed how long while they cannot be
	// read anew. Whoever names one that is not among them has them read again, once in a while.
	known    = 10 * time.Minute
	believed = 24 * time.Hour
	again    = time.Minute
	// failed is how long a platform is left alone that could not be asked.
	failed = 10 * time.Second
	// mostSets bounds the platforms whose keys are remembered, and mostKeys those of one.
	mostSets = 1000
	mostKeys = 100
	// RSA keys have so many bits: fewer are guessed, more take long to check.
	leastBits, mostBits = 2048, 8192
	// skew is how far clocks may be apart, and oldest how old a token may be.
	skew   = time.Minute
	oldest = time.Hour
	// longestName bounds a key's name and a person's at the platform (LTI Core 1.3, 5.3.6).
	longestName = 255
	longestRole = 200
	mostRoles   = 100
)

// Keys are the public keys of platforms. It is safe for concurrent use.
type Keys struct {
	http  *http.Client
	clock clock.PassiveClock
	sets  lru.Cache[string, keySet]
	reads singleflight.Group
}

// keySet is what is known of a platform's keys. What was read once stays until it is read anew.
type keySet struct {
	keys map[string]*rsa.PublicKey
	// read is when the keys were read, and tried when they were asked for last, with its error.
	read, tried time.Time
	err         error
}

// NewKeys makes what finds keys through the guard.
func NewKeys(g *egress.Guard, c clock.PassiveClock) *Keys {
	sets, err := lru.New[string, keySet](mostSets)
	if err != nil {
		panic(err) // the size is good
	}
	return &Keys{http: g.ClientWithin(asked, longestKeys), clock: c, sets: sets}
}

// find is a platform's key with a name. While the keys are fresh, no other name that somebody makes up
// has anybody wait who names one of them.
func (k *Keys) find(ctx context.Context, address, name string) (*rsa.PublicKey, error) {
	set, _ := k.sets.Get(address)
	now := k.clock.Now()
	if set.keys[name] != nil && now.Sub(set.read) < known {
		return set.keys[name], nil
	}
	if now.Sub(set.tried) >= set.pause(name) {
		var err error
		if set, err = k.load(ctx, address, set.tried); err != nil {
			return nil, err
		}
	}
	switch key := set.keys[name]; {
	case key != nil && now.Sub(set.read) < believed:
		return key, nil
	case set.err != nil:
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, set.err)
	}
	return nil, fmt.Errorf("%w: it has no such key", ErrToken)
}

// pause is how long a platform is not asked for keys again for the sake of a name.
func (s keySet) pause(name string) time.Duration {
	if len(s.keys) > 0 && s.keys[name] == nil {
		return again
	}
	return failed
}

// load reads a platform's keys, once for all who know of no try since. The error is that of ctx.
func (k *Keys) load(ctx context.Context, address string, since time.Time) (keySet, error) {
	ask := context.WithoutCancel(ctx) // no single asker's leaving ends what others wait for
	read := k.reads.DoChan(address, func() (any, error) {
		ask, cancel := context.WithTimeout(ask, asked)
		defer cancel()
		set, _ := k.sets.Get(address)
		if !set.tried.Equal(since) {
			return set, nil
		}
		now := k.clock.Now()
		keys, err := ReadKeys(ask, k.http, address)
		if err == nil {
			set.keys, set.read = keys, now
		}
		set.tried, set.err = now, err
		k.sets.Add(address, set)
		return set, nil
	})
	select {
	case r := <-read:
		set, _ := r.Val.(keySet)
		return set, nil
	case <-ctx.Done():
		return keySet{}, ctx.Err()
	}
}

// ReadKeys reads the RSA keys of a set (RFC 7517), by their names. The error is an upstream.Error
// or context.Canceled.
func ReadKeys(ctx context.Context, client *http.Client, address string) (map[string]*rsa.PublicKey, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, &upstream.Error{Code: upstream.AddressRefused, Err: err}
	}
	req.Header.Set("Accept", "application/json")
	var set struct {
		Keys []struct {
			Type string `json:"kty"`
			Use  string `json:"use"`
			Name string `json:"kid"`
			Alg  string `json:"alg"`
			N    string `json:"n"`
			E    string `json:"e"`
		} `json:"keys"`
	}
	if err := upstream.ExchangeJSON(client, req, &set); err != nil {
		return nil, err
	}
	keys := map[string]*rsa.PublicKey{}
	for _, each := range set.Keys[:min(len(set.Keys), mostKeys)] {
		usable := each.Type == "RSA" && (each.Use == "" || each.Use == "sig") && (each.Alg == "" || each.Alg == algorithm.Alg())
		if !usable || each.Name == "" || len(each.Name) > longestName || len(each.N) > mostBits {
			continue
		}
		n, errN := base64.RawURLEncoding.DecodeString(strings.TrimRight(each.N, "="))
		e, errE := base64.RawURLEncoding.DecodeString(strings.TrimRight(each.E, "="))
		if errN != nil || errE != nil || len(e) > 4 {
			continue
		}
		key := &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(new(big.Int).SetBytes(e).Int64())}
		if bits := key.N.BitLen(); bits >= leastBits && bits <= mostBits && key.E >= 3 && key.E%2 == 1 {
			keys[each.Name] = key
		}
	}
	if len(keys) == 0 {
		return nil, &upstream.Error{Code: upstream.Malformed}
	}
	return keys, nil
}

// said are the claims of a launch (LTI Core 1.3, section 5).
type said struct {
	jwt.RegisteredClaims
	Nonce      string              `json:"nonce"`
	Party      string              `json:"azp"`
	Name       string              `json:"name"`
	Given      string              `json:"given_name"`
	Family     string              `json:"family_name"`
	Email      string              `json:"email"`
	Locale     string              `json:"locale"`
	Message    string              `json:"https://purl.imsglobal.org/spec/lti/claim/message_type"`
	Version    string              `json:"https://purl.imsglobal.org/spec/lti/claim/version"`
	Deployment string              `json:"https://purl.imsglobal.org/spec/lti/claim/deployment_id"`
	Target     string              `json:"https://purl.imsglobal.org/spec/lti/claim/target_link_uri"`
	Roles      []string            `json:"https://purl.imsglobal.org/spec/lti/claim/roles"`
	Custom     map[string]any      `json:"https://purl.imsglobal.org/spec/lti/claim/custom"`
	Link       struct{ ID string } `json:"https://purl.imsglobal.org/spec/lti/claim/resource_link"`
	Context    json.RawMessage     `json:"https://purl.imsglobal.org/spec/lti/claim/context"`
	Members    json.RawMessage     `json:"https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice"`
	Shown      struct {
		ReturnURL string `json:"return_url"`
		Locale    string `json:"locale"`
	} `json:"https://purl.imsglobal.org/spec/lti/claim/launch_presentation"`
	Grades struct {
		Scope    []string `json:"scope"`
		LineItem string   `json:"lineitem"`
	} `json:"https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"`
	Linking struct {
		ReturnURL   string          `json:"deep_link_return_url"`
		AcceptTypes []string        `json:"accept_types"`
		Data        json.RawMessage `json:"data"`
	} `json:"https://purl.imsglobal.org/spec/lti-dl/claim/deep_linking_settings"`
}

// Verify reads the token that a platform answered with, which is for the nonce (Security
// Framework 1.0, section 5.1.3). That a nonce counts once is the caller's business. The error
// is ErrToken or ErrUnreachable.
func (k *Keys) Verify(ctx context.Context, p Platform, token, nonce string) (Launch, error) {
	var (
		s    said
		away error
	)
	_, err := jwt.ParseWithClaims(token, &s, func(t *jwt.Token) (any, error) {
		name, _ := t.Header["kid"].(string)
		if name == "" || len(name) > longestName {
			return nil, jwt.ErrTokenUnverifiable
		}
		key, err := k.find(ctx, p.KeysURL, name)
		if errors.Is(err, ErrUnreachable) {
			away = err
		}
		return key, err
	}, jwt.WithValidMethods([]string{algorithm.Alg()}), jwt.WithIssuer(p.Issuer), jwt.WithAudience(p.ClientID), jwt.WithExpirationRequired(),
		jwt.WithIssuedAt(), jwt.WithLeeway(skew), jwt.WithTimeFunc(k.clock.Now))
	switch {
	case away != nil:
		return Launch{}, away
	case err != nil:
		return Launch{}, fmt.Errorf("%w: %w", ErrToken, err)
	}
	if err := s.check(&p, nonce, k.clock.Now()); err != nil {
		return Launch{}, fmt.Errorf("%w: %w", ErrToken, err)
	}
	return s.launch(), nil
}

// check refuses what a token says that is signed well.
func (s *said) check(p *Platform, nonce string, now time.Time) error {
	switch {
	case len(s.Audience) > 1 && s.Party == "", s.Party != "" && s.Party != p.ClientID:
		return errors.New("it is another party's")
	case s.IssuedAt == nil || now.Sub(s.IssuedAt.Time) > oldest:
		return errors.New("it is too old")
	case nonce == "" || subtle.ConstantTimeCompare([]byte(s.Nonce), []byte(nonce)) != 1:
		return errors.New("it is of another question")
	case !slices.Contains(p.Deployments, s.Deployment):
		return errors.New("its deployment is not known")
	case s.Version != Version:
		return errors.New("it is of another version")
	case s.unspeakable():
		return errors.New("a character of it is none that can be kept")
	case len(s.Subject) > longestName:
		return errors.New("its person has no name that counts")
	case s.Message == ResourceLink && s.Link.ID == "":
		return errors.New("it has no resource link")
	case s.Message == DeepLink && (webAddress(s.Linking.ReturnURL) == "" || !slices.Contains(s.Linking.AcceptTypes, "ltiResourceLink")):
		return errors.New("it takes no links")
	case s.Message != ResourceLink && s.Message != DeepLink:
		return errors.New("its message is not known")
	}
	return nil
}

// unspeakable says whether what is kept of a token has a character that no text is kept with, or a
// person's name there one that stands for several that were none, so that it would not be theirs alone.
func (s *said) unspeakable() bool {
	texts := []string{
		s.Name, s.Given, s.Family, s.Email, s.Locale, s.Deployment, s.Link.ID, s.Shown.ReturnURL, s.Shown.Locale, s.Grades.LineItem, s.Linking.ReturnURL,
	}
	for name, value := range s.Custom {
		text, _ := value.(string)
		texts = append(texts, name, text)
	}
	return slices.ContainsFunc(append(texts, s.Roles...), func(text string) bool { return strings.ContainsRune(text, 0) }) ||
		indistinct(s.Subject)
}

func (s *said) launch() Launch {
	l := Launch{
		Message: s.Message, Deployment: s.Deployment, User: s.Subject, Name: plain(s.Name), Email: s.Email, Locale: s.Shown.Locale,
		ReturnURL: webAddress(s.Shown.ReturnURL), Custom: map[string]string{}, Course: s.course(),
	}
	if l.Locale == "" {
		l.Locale = s.Locale
	}
	if l.Name == "" {
		l.Name = plain(s.Given + " " + s.Family)
	}
	for _, role := range s.Roles[:min(len(s.Roles), mostRoles)] {
		if len(role) <= longestRole {
			l.Roles = append(l.Roles, role)
		}
	}
	for name, value := range s.Custom {
		if text, ok := value.(string); ok {
			l.Custom[name] = text
		}
	}
	if slices.Contains(s.Grades.Scope, ScoreScope) {
		l.LineItem = webAddress(s.Grades.LineItem)
	}
	if s.Message == DeepLink {
		l.Linking.ReturnURL = s.Linking.ReturnURL
		if json.Unmarshal(s.Linking.Data, &l.Linking.Data) != nil {
			l.Linking.Data = nil // there is none, or it is no text
		}
	}
	return l
}

// longestShown is how long a person's name may be, in characters.
const longestShown = 200

// plain is a name without what is not to be seen.
func plain(name string) string {
	name = strings.ToValidUTF8(strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, name)), " "), "")
	if letters := []rune(name); len(letters) > longestShown {
		name = strings.TrimSpace(string(letters[:longestShown]))
	}
	return name
}
