package tenant

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/directory"
)

// State is what a shard allows of an organization (org_fence.state).
type State string

// The states of a fence.
const (
	// Open and Capture let everybody read and write. With Capture writers note what they
	// touched.
	Open    State = "open"
	Capture State = "capture"
	// Fenced lets everybody read, and writers wait.
	Fenced State = "fenced"
	// Moved sends everybody on.
	Moved State = "moved"
	// Deleting is of an organization whose rows are being deleted.
	Deleting State = "deleting"
)

const fenceSQL = `SELECT epoch, state, moved_to FROM org_fence WHERE org_id = $1`

// fence is what a shard says of an organization.
type fence struct {
	epoch   int64
	state   State
	movedTo string
}

// errFenced says that the organization's writes wait for a move to end.
var errFenced = errors.New("the organization is being moved")

// staleRoute says that the organization does not live where the route led.
// next is where it went, if the shard knows.
type staleRoute struct {
	org  id.Org
	next *directory.Route
}

func (e *staleRoute) Error() string {
	return fmt.Sprintf("organization %s does not live here at this epoch", e.org)
}

// read takes the fence from its row and says whether an access is allowed.
func (f *fence) read(row pgx.Row, org id.Org, route directory.Route, allowed ...State) error {
	err := row.Scan(&f.epoch, &f.state, &f.movedTo)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return &staleRoute{org: org}
	case err != nil:
		return err
	case f.state == Deleting:
		return fmt.Errorf("organization %s is deleted: %w", org, directory.ErrUnknown)
	case f.state == Moved:
		return &staleRoute{org: org, next: &directory.Route{Shard: f.movedTo, Epoch: f.epoch}}
	case f.state == Fenced && !slices.Contains(allowed, Fenced):
		return errFenced
	case f.epoch != route.Epoch:
		return &staleRoute{org: org, next: &directory.Route{Shard: route.Shard, Epoch: f.epoch}}
	case !slices.Contains(allowed, f.state):
		return fmt.Errorf("fence of %s is in state %q", org, f.state)
	}
	return nil
}

// lockKey is the organization's advisory lock. Two organizations that share
// one only wait for each other's moves.
func lockKey(org id.Org) int64 {
	hi, lo := binary.BigEndian.Uint64(org[:8]), binary.BigEndian.Uint64(org[8:])
	return int64(hi ^ lo)
}
