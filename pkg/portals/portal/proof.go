package portal

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
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

// Record proves that a host is for a portal of an organization. round is how often the
// portal has lost a host (Portal.HostRound): a record that was left in the DNS brings none
// back.
func (p *Prover) Record(org id.Org, portal id.Portal, host string, round int64) Record {
	text := "portal host\x00" + org.String() + "\x00" + portal.String() + "\x00" + host
	if round > 0 {
		text += "\x00" + strconv.FormatInt(round, 10)
	}
	mac := hmac.New(sha256.New, p.Secret)
	mac.Write([]byte(text))
	return Record{"_visavis." + host, "TXT", "visavis-proof=" + hex.EncodeToString(mac.Sum(nil)[:16])}
}

// lookupFor is how long a lookup may take; a request waits for it.
const lookupFor = 5 * time.Second

// Proves says whether the record of a host is there. A name that cannot be looked up
// proves nothing. Without a Prover everybody is believed: the deployment is its
// operator's own.
func (p *Prover) Proves(ctx context.Context, org id.Org, portal id.Portal, host string, round int64) bool {
	if p == nil {
		return true
	}
	proven, _ := p.look(ctx, org, portal, host, round)
	return proven
}

// look looks the record of a host up. answered is false where the DNS did not say whether
// it is there.
func (p *Prover) look(ctx context.Context, org id.Org, portal id.Portal, host string, round int64) (proven, answered bool) {
	ctx, cancel := context.WithTimeout(ctx, lookupFor)
	defer cancel()
	r := p.Record(org, portal, host, round)
	found, err := p.Resolver.LookupTXT(ctx, r.Name+".")
	if refusal, ok := errors.AsType[*net.DNSError](err); ok && refusal.IsNotFound {
		return false, true
	}
	return err == nil && slices.ContainsFunc(found, func(text string) bool { return strings.TrimSpace(text) == r.Value }), err == nil
}

// Prove looks once more whether the host of a portal is proven, and serves it from then
// on. It takes the host over from whoever claims it, also from one who proved it before:
// the newest proof counts. The error is ErrTaken where another did so meanwhile.
func (a *Addresses) Prove(ctx context.Context, org id.Org, p Portal) error {
	if p.Host == "" || p.HostProvenAt != nil || p.State == Archived || !a.Proof.Proves(ctx, org, p.ID, p.Host, p.HostRound) {
		return nil
	}
	held, err := a.claim(ctx, org, p.ID, hostAddress(p.Host), true)
	if err != nil {
		return err
	}
	if err := a.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		tx.Touch("portal", p.ID)
		now := a.Clock.Now().UTC()
		_, err := tx.Exec(ctx, `
			UPDATE portal SET host_proven_at = $4, page_stamp = page_stamp + 1,
				host_checked_at = $4, host_misses = 0, host_missed_at = NULL, host_lost = ''
			WHERE org_id = $1 AND id = $2 AND host = $3 AND host_proven_at IS NULL AND host_round = $5`, org, p.ID, p.Host, now, p.HostRound)
		return err
	}, tenant.Idempotent(true)); err != nil {
		return err
	}
	a.Displace(ctx, held)
	return nil
}
