package egress

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Bounds that hold where [Options] sets none.
const (
	defaultTimeout        = 10 * time.Second
	defaultMaxBody        = 10 << 20
	defaultRemember       = 2 * time.Second
	defaultMaxIdle        = 100
	defaultMaxIdlePerHost = 2 // customers' hosts are many and each is asked rarely
)

// Resolver finds the addresses of a host. [net.Resolver] is one.
type Resolver interface {
	// LookupNetIP returns the addresses of host; network is always "ip".
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Options configure a [Guard]. The zero value is a guard that lets only public
// addresses through.
type Options struct {
	// Allow are ranges an operator lets through although they are not public, the
	// cloud's metadata endpoint included if they contain it. IPv4 ranges are
	// written as such, not as IPv4-mapped ones.
	Allow []netip.Prefix
	// RootCAs are the authorities trusted for TLS; nil means the system's.
	RootCAs *x509.CertPool
	// Timeout bounds a whole request, from the look-up to the last byte of the
	// body, or of the header for [Target.Post]; zero means 10 s.
	Timeout time.Duration
	// MaxBody bounds the body of a response to [Guard.Client], in bytes; zero
	// means 10 MiB. [Guard.Fetch] has a bound of its own.
	MaxBody int64
	// Resolver finds the addresses of hosts; nil means [net.DefaultResolver].
	Resolver Resolver
	// Remember is how old the resolver's answer may be when [Target.Post] begins;
	// zero means 2 s. A look-up that failed is remembered for 1 s at most. A
	// negative value asks anew for every attempt; only those waiting at the same
	// time share an answer.
	Remember time.Duration
	// MaxIdle bounds the connections kept open for later requests; zero means 100.
	// Those of [Guard.Client] and [Guard.Fetch] are counted apart from those of
	// [Target.Post].
	MaxIdle int
	// MaxIdlePerHost bounds those of one host and port, and for [Target.Post] of one
	// answer of the resolver; zero means 2.
	MaxIdlePerHost int
}

// withDefaults returns the options with every bound set.
func (o Options) withDefaults() Options {
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	o.MaxBody = cmp.Or(o.MaxBody, defaultMaxBody)
	o.Remember = cmp.Or(o.Remember, defaultRemember)
	o.MaxIdle = cmp.Or(o.MaxIdle, defaultMaxIdle)
	o.MaxIdlePerHost = cmp.Or(o.MaxIdlePerHost, defaultMaxIdlePerHost)
	if o.Resolver == nil {
		o.Resolver = net.DefaultResolver
	}
	return o
}

// Guard makes requests to addresses that customers gave. It is safe for
// concurrent use and keeps a pool of connections, so a program makes one and
// keeps it.
type Guard struct {
	allow     []netip.Prefix
	timeout   time.Duration
	maxBody   int64
	resolver  Resolver
	tls       *tls.Config
	lookups   *lookups
	transport *transport      // for Client and Fetch
	posts     *http.Transport // for Target.Post
	// beside is what Beside answers; inside, of one of those, judges what is reached over
	// http, which allowedOnly keeps to the operator's ranges.
	beside, inside *Guard
	allowedOnly    bool
}

// New makes a guard.
func New(o Options) *Guard {
	o = o.withDefaults()
	g := &Guard{
		allow:    slices.Clone(o.Allow),
		timeout:  o.Timeout,
		maxBody:  o.MaxBody,
		resolver: o.Resolver,
		tls:      tlsConfig(o.RootCAs),
	}
	g.lookups = newLookups(g, o.Remember)
	g.transport = newTransport(g, o)
	g.posts = newBase(g, o)
	g.posts.DialTLSContext = g.dialAttempt
	g.beside = newBeside(g, o)
	return g
}

// CheckHost does what CheckURL does for a URL that is parsed already, and then
// resolves the host and classifies every address. It says whether a URL is worth
// storing; it promises nothing about later, when the name may resolve to
// something else, and a request checks again. Besides the errors of CheckURL it
// returns [NetworkError] and [ErrTimeout] for a look-up that failed, and
// [context.Canceled].
func (g *Guard) CheckHost(ctx context.Context, u *url.URL) error {
	checked, err := g.checkForm(u)
	if err != nil {
		return err
	}
	lookup, cancel := context.WithTimeout(ctx, g.timeout)
	defer cancel()
	if _, err := g.of(checked.Scheme).resolve(lookup, checked.Hostname()); err != nil {
		return explain(ctx, err)
	}
	return nil
}

// localDomains are those whose names are never public: RFC 6761, 6762 and 8375, and .internal,
// which is reserved for private use.
var localDomains = []string{"localhost", "local", "internal", "home.arpa"}

// localName says whether a name is one of localDomains, or lies in one.
func localName(host string) bool {
	name := "." + strings.ToLower(strings.TrimSuffix(host, "."))
	return slices.ContainsFunc(localDomains, func(domain string) bool { return strings.HasSuffix(name, "."+domain) })
}

// lookupTimeout bounds the look-up of an address that is about to be stored.
const lookupTimeout = 2 * time.Second

// CheckAddress says whether a URL is worth storing: its form is good, and its host
// is not known to be another than a public one. A host that cannot be found right
// now is let through over https, since a request checks again. The error is an
// [InvalidURLError] or a [RefusedError], or [context.Canceled].
func (g *Guard) CheckAddress(ctx context.Context, raw string) error {
	u, err := g.CheckURL(raw)
	if err != nil {
		return err
	}
	if len(g.allow) == 0 && localName(u.Hostname()) {
		return &InvalidURLError{Reason: "its host is a name for local networks alone"}
	}
	lookup, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	err = g.CheckHost(lookup, u)
	var network *NetworkError
	if errors.As(err, &network) || errors.Is(err, ErrTimeout) {
		if u.Scheme == "http" {
			return &InvalidURLError{Reason: "it does not start with https://, and its host is not known to be one that may be reached without"}
		}
		return nil
	}
	return err
}

// Client returns an HTTP client all of whose requests the guard makes: https
// only, checked addresses only, no redirects, bounded in time and size. Requests
// always ask for an unencoded body, and Host is always the host of the URL.
//
// The client wraps what went wrong in a [url.Error], whose text quotes the URL;
// the error inside it is one of this package or [context.Canceled]. Reading a
// body fails with such errors as well. Any status but a redirect is a response.
//
// Clients of one guard share its connections, and CloseIdleConnections of any
// closes those that are idle, those of [Target.Post] included.
func (g *Guard) Client() *http.Client {
	return &http.Client{Transport: g.transport}
}

// ClientWithin is a Client with bounds of its own, for exchanges that rightly last
// longer than others, such as an answer that is written while it is read: timeout
// is from the look-up to the last byte of the body, and maxBody is in bytes. Making
// a connection is held to [Options.Timeout] all the same.
func (g *Guard) ClientWithin(timeout time.Duration, maxBody int64) *http.Client {
	bounded := *g.transport
	bounded.timeout, bounded.maxBody = timeout, maxBody
	return &http.Client{Transport: &bounded}
}

// check refuses an address that is neither public nor allowed.
func (g *Guard) check(addr netip.Addr) error {
	class := Classify(addr)
	if class == ClassPublic && !g.allowedOnly || g.allows(addr) {
		return nil
	}
	return &RefusedError{Class: class, Addr: addr}
}

// allows never holds for a zoned address, since a range says nothing about
// interfaces.
func (g *Guard) allows(addr netip.Addr) bool {
	return addr.Zone() == "" && slices.ContainsFunc(g.allow, func(p netip.Prefix) bool {
		return p.Contains(addr.Unmap())
	})
}
