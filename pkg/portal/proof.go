package portal

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"visavis.dev/pkg/id"
	"visavis.dev/pkg/tenant"
)

// Resolver looks up the TXT records of a name, as net.Resolver does.
type Resolver interface {
	LookupTXT(ctx context.Context, name string) ([]string, error)
}

// Prover finds out whether who wants a portal at a host has a say over the host's name:
// only they can enter a record under it. What stands in the record nobody else can make.
type Prover struct {
	// Secret is the deployment's.
	Secret   []byte
	Resolver Resolver
}

// Record is what to enter in the DNS.
type Record struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Value string `json:"value"`
}

// Record proves that a host is for a portal of an organisation.
func (p *Prover) Record(org id.Org, portal id.Portal, host string) Record {
	mac := hmac.New(sha256.New, p.Secret)
	mac.Write([]byte("portal host\x00" + org.String() + "\x00" + portal.String() + "\x00" + host))
	return Record{"_visavis." + host, "TXT", "visavis-proof=" + hex.EncodeToString(mac.Sum(nil)[:16])}
}

// lookupFor is how long a lookup may take; a request waits for it.
const lookupFor = 5 * time.Second

// Proves says whether the record of a host is there. A name that cannot be looked up
// proves nothing. Without a Prover everybody is believed: the deployment is its
// operator's own.
func (p *Prover) Proves(ctx context.Context, org id.Org, portal id.Portal, host string) bool {
	if p == nil {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, lookupFor)
	defer cancel()
	r := p.Record(org, portal, host)
	found, err := p.Resolver.LookupTXT(ctx, r.Name+".")
	return err == nil && slices.ContainsFunc(found, func(text string) bool { return strings.TrimSpace(text) == r.Value })
}

// Prove looks once more whether the host of a portal is proven, and serves it from then
// on. It takes the host over from whoever claims it without a proof.
func (a *Addresses) Prove(ctx context.Context, org id.Org, p Portal) error {
	if p.Host == "" || p.HostProvenAt != nil || p.State == Archived || !a.Proof.Proves(ctx, org, p.ID, p.Host) {
		return nil
	}
	if _, err := a.claim(ctx, org, p.ID, hostAddress(p.Host), true); err != nil {
		return err
	}
	return a.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		tx.Touch("portal", p.ID)
		_, err := tx.Exec(ctx, `
			UPDATE portal SET host_proven_at = $4, page_stamp = page_stamp + 1
			WHERE org_id = $1 AND id = $2 AND host = $3 AND host_proven_at IS NULL`, org, p.ID, p.Host, a.Clock.Now().UTC())
		return err
	}, tenant.Idempotent(true))
}
