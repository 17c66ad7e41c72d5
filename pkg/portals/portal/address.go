package portal

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
)

// ErrTaken says that another portal has an address.
var ErrTaken = errors.New("another portal has this address")

// Addresses hands out the slugs and hosts that portals' pages are found by. They
// are unique in the deployment, while portals live on many shards: an address is
// claimed in the directory first, and then the portal takes it on its shard. A
// claim whose portal does not have the address after a while is free again.
type Addresses struct {
	Directory *directory.Directory
	Tenants   *tenant.Tenants
	Clock     clock.PassiveClock
	// Proof proves whose hosts are; nil believes everybody.
	Proof *Prover
}

// unclaimedAfter is how long a portal may take to have the address that was
// claimed for it: far longer than any request takes.
const unclaimedAfter = 10 * time.Minute

// Held is an address that was claimed.
type Held struct {
	address directory.Address
	claim   directory.Claim
	// fresh says that it was not the portal's before, and from whose it was taken over;
	// nil for nobody's.
	fresh bool
	from  *directory.Claim
	// Proven says of a host that the claimant has a say over it.
	Proven bool
}

func hostAddress(host string) directory.Address {
	return directory.Address{Kind: directory.Host, Name: host}
}

// Claim claims an address for a portal, or makes sure that it stays claimed. The
// error is ErrTaken. A host can be claimed without a proof that it is the claimant's,
// and is lost to who has one; of several, to the newest (Displace).
func (a *Addresses) Claim(ctx context.Context, org id.Org, p id.Portal, kind directory.AddressKind, name string) (Held, error) {
	proven := false
	if kind == directory.Host {
		round, err := a.round(ctx, org, p)
		if err != nil {
			return Held{}, err
		}
		proven = a.Proof.Proves(ctx, org, p, name, round)
	}
	return a.claim(ctx, org, p, directory.Address{Kind: kind, Name: name}, proven)
}

func (a *Addresses) claim(ctx context.Context, org id.Org, p id.Portal, address directory.Address, proven bool) (Held, error) {
	// In the microseconds that the database keeps, to find the claim again.
	h := Held{
		address: address, claim: directory.Claim{Org: org, Portal: p, At: a.Clock.Now().UTC().Truncate(time.Microsecond)}, fresh: true, Proven: proven,
	}
	taken, err := a.Directory.Claim(ctx, h.address, h.claim)
	if err != nil || !taken {
		return h, err
	}
	there, err := a.Directory.Claimed(ctx, h.address)
	if errors.Is(err, directory.ErrUnknown) { // released this very moment
		return h, ErrTaken
	}
	if err != nil {
		return h, err
	}
	switch {
	case there.Org == org && there.Portal == p:
		// Renewed also where another request of the same portal made it: that one
		// cannot release it any more.
		h.fresh = false
	case a.Proof != nil && proven: // whoever has no newer proof has no hold on it
		h.from = &there
	case h.claim.At.Sub(there.At) < unclaimedAfter:
		return h, ErrTaken
	default:
		if has, err := a.has(ctx, there, h.address, org); err != nil || has {
			return h, cmp.Or(err, ErrTaken)
		}
	}
	done, err := a.Directory.TakeOver(ctx, h.address, there, h.claim)
	if err == nil && !done {
		err = ErrTaken
	}
	return h, err
}

// has says whether the portal of a claim has the address on its shard. A slug stays a portal's
// when it has another, and when it is archived, so that links that people keep
// never lead to somebody else; the same organization may use an archived one's
// again. A host is a customer's own, and free with the portal's letting go.
func (a *Addresses) has(ctx context.Context, c directory.Claim, address directory.Address, asking id.Org) (has bool, err error) {
	var one int
	err = a.Tenants.Read(ctx, c.Org, func(r *tenant.Reads) {
		r.QueryRow(&has, []any{&one}, `
			SELECT 1 FROM portal WHERE org_id = $1 AND id = $2 AND (
				$3 = 'slug' AND (slug = $4 OR $4::TEXT = ANY(former_slugs)) AND (archived_at IS NULL OR NOT $5)
				OR $3 = 'host' AND host = $4 AND archived_at IS NULL)`,
			c.Org, c.Portal, string(address.Kind), address.Name, c.Org == asking)
	})
	return has, err
}

// round is how often a portal has lost a host; none for one that is to be made.
func (a *Addresses) round(ctx context.Context, org id.Org, p id.Portal) (round int64, err error) {
	found := false
	err = a.Tenants.Read(ctx, org, func(r *tenant.Reads) {
		r.QueryRow(&found, []any{&round}, `SELECT host_round FROM portal WHERE org_id = $1 AND id = $2`, org, p)
	})
	return round, err
}

// hasProven says whether the portal of a claim has a host on its shard, and proved it.
func (a *Addresses) hasProven(ctx context.Context, c directory.Claim, host string) (has bool, err error) {
	var one int
	err = a.Tenants.Read(ctx, c.Org, func(r *tenant.Reads) {
		r.QueryRow(&has, []any{&one}, `
			SELECT 1 FROM portal WHERE org_id = $1 AND id = $2 AND host = $3 AND host_proven_at IS NOT NULL AND archived_at IS NULL`,
			c.Org, c.Portal, host)
	})
	return has, err
}

// Release takes back what was claimed for something that was refused.
func (a *Addresses) Release(ctx context.Context, held ...Held) error {
	var failed error
	for _, h := range held {
		switch {
		case h.from != nil: // it is theirs again
			_, err := a.Directory.TakeOver(ctx, h.address, h.claim, *h.from)
			failed = errors.Join(failed, err)
		case h.fresh:
			failed = errors.Join(failed, a.Directory.Release(ctx, h.address, h.claim))
		}
	}
	return failed
}

var slugForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$`)

// ParseSlug reads a slug: 3 to 63 letters, digits and hyphens within.
func ParseSlug(text string) (string, bool) {
	slug := strings.ToLower(text)
	return slug, slugForm.MatchString(slug)
}

// NewSlug makes a slug of a name that nobody is likely to have.
func NewSlug(name string) string {
	const most = 40
	var b strings.Builder
	for _, r := range norm.NFKD.String(strings.ToLower(name)) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case unicode.Is(unicode.Mn, r): // what stood over a letter
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	word := strings.Trim(b.String()[:min(b.Len(), most)], "-")
	if word == "" {
		word = "portal"
	}
	return word + "-" + suffix()
}

// suffix is six random characters.
func suffix() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b[:]))[:6]
}

// ParseHost reads the name of a host, such as learn.example.com, in the form that
// browsers send.
func ParseHost(text string) (string, bool) {
	host, err := idna.Lookup.ToASCII(strings.TrimSuffix(text, "."))
	if err != nil || len(host) > 253 || !strings.Contains(host, ".") {
		return "", false
	}
	// A last label of digits makes a browser read an address.
	last := host[strings.LastIndexByte(host, '.')+1:]
	if strings.Trim(last, "0123456789") == "" {
		return "", false
	}
	return host, true
}

// IsHostOf says whether a host, as ParseHost has it, is that of one of some URLs.
func IsHostOf(host string, urls ...string) bool {
	return slices.ContainsFunc(urls, func(text string) bool {
		u, err := url.Parse(text)
		return err == nil && host == strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	})
}
