package record

import (
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

const (
	// MaxLeaves is how many records an anchor holds at most.
	MaxLeaves = 2000
	// mostAnchors is how many anchors of a record are read.
	mostAnchors = 10_000
)

// Anchor binds the records of an organization's candidates as they stood at a moment: a signature
// over the root of a Merkle tree of their heads, and over the anchor before. Whoever has an
// exported record can show by it that the record was not written, changed or cut off later.
type Anchor struct {
	Number int64     `json:"number"`
	At     time.Time `json:"at"`
	// Leaves is how many records it holds, and Root that of their tree.
	Leaves int64 `json:"leaves"`
	Root   Hash  `json:"root"`
	// Previous is the hash of the anchor before; empty for the first.
	Previous Hash `json:"previous"`
	// Key is the issuer's key (in its DID document) that signed the anchor's hash, by Ed25519.
	Key       id.IssuerKey `json:"keyId"`
	PublicKey Hash         `json:"publicKey"`
	Signature Hash         `json:"signature"`
}

// Anchored is an anchor with how a candidate's record stands in it.
type Anchored struct {
	Anchor
	// Length is how many entries the record had then, and Path leads from it to the root.
	Length int64  `json:"length"`
	Path   []Step `json:"path"`
}

// sum is the hash of an organization's anchor.
func (a *Anchor) sum(org id.Org) Hash {
	var number, leaves [8]byte
	binary.BigEndian.PutUint64(number[:], uint64(a.Number))
	binary.BigEndian.PutUint64(leaves[:], uint64(a.Leaves))
	return digest("visavis candidate record anchor", []byte(org.String()), number[:], moment(a.At), leaves[:], a.Root, a.Previous)
}

// Signer signs an organization's anchors.
type Signer struct {
	ID      id.IssuerKey
	Private ed25519.PrivateKey
}

// counter counts an organization's anchors; who makes one waits there for who does.
const counter = "record anchors made"

// Seal anchors records as they stand in this transaction: MaxLeaves at most, each once.
func Seal(ctx context.Context, tx *tenant.Tx, chains []Chain, by Signer, at time.Time) (Anchor, error) {
	chains = slices.SortedFunc(slices.Values(chains), byCandidate)
	leaves := make([]Hash, len(chains))
	for i, c := range chains {
		leaves[i] = leaf(c)
	}
	root, paths := tree(leaves)
	a := Anchor{
		At: at.UTC().Truncate(time.Microsecond), Leaves: int64(len(leaves)), Root: root, Previous: Hash{}, Key: by.ID,
		PublicKey: Hash(by.Private.Public().(ed25519.PublicKey)),
	}
	var b pgx.Batch
	tx.QueueIncrement(&b, counter, 0, false, &a.Number)
	if err := tx.SendBatch(ctx, &b).Close(); err != nil {
		return a, err
	}
	if err := a.follow(ctx, tx); err != nil {
		return a, err
	}
	hash := a.sum(tx.Org)
	a.Signature = ed25519.Sign(by.Private, hash)
	return a, a.store(ctx, tx, hash, chains, paths)
}

// follow finds the anchor before. It rides record_anchor_pkey.
func (a *Anchor) follow(ctx context.Context, tx *tenant.Tx) error {
	before, err := tenant.AllIn(ctx, tx, pgx.RowTo[[]byte], `SELECT hash FROM record_anchor WHERE org_id = $1 AND number = $2`, tx.Org, a.Number-1)
	if err == nil && len(before) > 0 {
		a.Previous = before[0]
	}
	return err
}

func (a *Anchor) store(ctx context.Context, tx *tenant.Tx, hash Hash, chains []Chain, paths [][]Step) error {
	var b pgx.Batch
	tx.Touch("record_anchor", number(a.Number))
	b.Queue(`
		INSERT INTO record_anchor (org_id, number, at, leaves, root, previous, hash, key_id, public_key, signature)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		tx.Org, a.Number, a.At, a.Leaves, []byte(a.Root), []byte(a.Previous), []byte(hash), a.Key, []byte(a.PublicKey), []byte(a.Signature))
	candidates, lengths, packed := make([]id.Candidate, len(chains)), make([]int64, len(chains)), make([][]byte, len(chains))
	for i, c := range chains {
		tx.Touch("record_leaf", c.Candidate, number(a.Number))
		candidates[i], lengths[i], packed[i] = c.Candidate, c.Length, pack(paths[i])
	}
	b.Queue(`
		INSERT INTO record_leaf (org_id, candidate_id, number, length, path)
		SELECT $1, l.candidate, $2, l.length, l.path FROM unnest($3::UUID[], $4::BIGINT[], $5::BYTEA[]) AS l (candidate, length, path)`,
		tx.Org, a.Number, candidates, lengths, packed)
	return tx.SendBatch(ctx, &b).Close()
}

func scanAnchored(row pgx.CollectableRow) (a Anchored, err error) {
	var packed []byte
	err = row.Scan(&a.Number, &a.At, &a.Leaves, &a.Root, &a.Previous, &a.Key, &a.PublicKey, &a.Signature, &a.Length, &packed)
	a.At, a.Path = a.At.UTC(), unpack(packed)
	return a, err
}

// Anchors are those that hold a candidate's record, oldest first. It rides record_leaf_pkey and
// record_anchor_pkey.
func Anchors(ctx context.Context, t *tenant.Tenants, org id.Org, c id.Candidate) ([]Anchored, error) {
	return tenant.All(ctx, t, org, scanAnchored, `
		SELECT a.number, a.at, a.leaves, a.root, a.previous, a.key_id, a.public_key, a.signature, l.length, l.path
		FROM record_leaf l JOIN record_anchor a ON a.org_id = l.org_id AND a.number = l.number
		WHERE l.org_id = $1 AND l.candidate_id = $2 ORDER BY l.number LIMIT $3`, org, c, mostAnchors)
}

// clocksApart is how far the clocks of the processes may be apart that write entries and anchors.
const clocksApart = time.Hour

// checkAnchors says whether entries are what anchors of an organization hold. The error is
// ErrBroken, and says where.
func checkAnchors(org id.Org, c id.Candidate, entries []Entry, anchors []Anchored) error {
	last := int64(0)
	for i := range anchors {
		a := &anchors[i]
		if a.Number <= last {
			return broken("anchor %d stands after anchor %d", a.Number, last)
		}
		if err := a.check(org, c, entries); err != nil {
			return err
		}
		last = a.Number
	}
	return nil
}

func (a *Anchored) check(org id.Org, c id.Candidate, entries []Entry) error {
	if a.Length < 1 || a.Length > int64(len(entries)) {
		return broken("anchor %d holds %d entries, and there are %d: the others were cut off", a.Number, a.Length, len(entries))
	}
	held := &entries[a.Length-1]
	switch {
	case !same(climb(leaf(Chain{c, a.Length, held.Hash}), a.Path), a.Root):
		return broken("anchor %d holds other entries", a.Number)
	case len(a.PublicKey) != ed25519.PublicKeySize || !ed25519.Verify(ed25519.PublicKey(a.PublicKey), a.sum(org), a.Signature):
		return broken("anchor %d is not what was signed", a.Number)
	case held.At.After(a.At.Add(clocksApart)):
		return broken("entry %d is dated after anchor %d, which holds it", held.Number, a.Number)
	case a.Length < int64(len(entries)) && entries[a.Length].At.Before(a.At.Add(-clocksApart)):
		return broken("entry %d is dated before anchor %d, which does not hold it", entries[a.Length].Number, a.Number)
	}
	return nil
}
