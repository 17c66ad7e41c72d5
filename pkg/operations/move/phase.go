package move

import (
	"context"
	"encoding/json"
	"time"

	"visavis.dev/pkg/store/directory"
)

// The phases between the directory's own.
const (
	phaseCapture directory.Phase = "capture"
	phaseCopy    directory.Phase = "copy"
	phaseCatchUp directory.Phase = "catchup"
	phaseVerify  directory.Phase = "verify"
	phaseFence   directory.Phase = "fence"
	phaseKeep    directory.Phase = "keep"
	phaseDelete  directory.Phase = "delete"
	phaseUndo    directory.Phase = "undo"
)

// phases are what is done in each: a piece of work, and what the move is then.
var phases = map[directory.Phase]func(r *run, ctx context.Context) error{
	directory.FirstPhase: (*run).preflight,
	phaseCapture:         (*run).capture,
	phaseCopy:            (*run).copy,
	phaseCatchUp:         (*run).catchUp,
	phaseVerify:          (*run).verify,
	phaseFence:           (*run).fenceOff,
	directory.Flipped:    (*run).openDestination,
	phaseKeep:            (*run).keep,
	phaseDelete:          (*run).remove,
	phaseUndo:            (*run).undo,
}

// flipped says whether the organization lives on its new shard.
func flipped(p directory.Phase) bool {
	return p == directory.Flipped || p == phaseKeep || p == phaseDelete || p == directory.Moved
}

// cursor is how far a move is.
type cursor struct {
	// Large says that it is copied before the fence.
	Large bool `json:"large,omitempty"`
	// Rows that were copied.
	Rows int64 `json:"rows,omitempty"`
	// Table is the place of the table that is being copied or verified, After the last key
	// of it that was, and Last the last key that it had when its turn came: rows behind it
	// are noted by those who write them, who may be faster than the move.
	Table int      `json:"table,omitempty"`
	After []string `json:"after,omitempty"`
	Last  []string `json:"last,omitempty"`
	// Verified says that the copy was compared as a whole, Round how often, and Repaired
	// how many rows were not what they should be.
	Verified bool  `json:"verified,omitempty"`
	Round    int   `json:"round,omitempty"`
	Repaired int64 `json:"repaired,omitempty"`
	// Faults are those of this round.
	Faults int64 `json:"faults,omitempty"`
	// Failures in a row.
	Failures int `json:"failures,omitempty"`
	// Refusal is why it is undone, where nobody cancelled it.
	Refusal string `json:"refusal,omitempty"`
}

// enter makes another phase the next.
func (r *run) enter(p directory.Phase) {
	r.move.Phase, r.move.PhaseAt = p, r.now()
	r.at.Table, r.at.After, r.at.Last = 0, nil, nil
	r.noted = nil
}

// pack writes the cursor into the move.
func (r *run) pack() error {
	var err error
	r.move.Cursor, err = json.Marshal(r.at)
	return err
}

// Progress is how far a move is, for people.
type Progress struct {
	Large        bool  `json:"large"`
	RowsCopied   int64 `json:"rowsCopied"`
	RowsRepaired int64 `json:"rowsRepaired"`
}

// ProgressOf reads how far a move is.
func ProgressOf(m directory.Move) Progress {
	var c cursor
	_ = json.Unmarshal(m.Cursor, &c) // its own form, or the zero one
	return Progress{Large: c.Large, RowsCopied: c.Rows, RowsRepaired: c.Repaired}
}

// backoff is how long to wait after failures in a row: from a second to a minute.
func backoff(failures int) time.Duration {
	return min(time.Second<<min(failures-1, 6), time.Minute)
}
