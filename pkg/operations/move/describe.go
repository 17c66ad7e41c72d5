package move

import (
	"fmt"

	"visavis.dev/pkg/store/directory"
)

// Switched says that the organization lives on its new shard and everything else is
// cleaning up.
func Switched(m directory.Move) bool {
	return m.Phase == phaseKeep || m.Phase == phaseDelete || m.Phase == directory.Moved
}

// Describe says in a sentence what is being done.
func Describe(m directory.Move) string {
	switch m.Phase {
	case directory.FirstPhase:
		return fmt.Sprintf("It waits to be moved from %s to %s.", m.From, m.To)
	case phaseCapture:
		return fmt.Sprintf("What changes on %s is noted.", m.From)
	case phaseCopy:
		return fmt.Sprintf("Its rows are copied from %s to %s.", m.From, m.To)
	case phaseCatchUp:
		return "What changed since it was copied is copied again."
	case phaseVerify:
		return "The copy is compared."
	case phaseFence:
		return fmt.Sprintf("Its writers wait while it goes from %s to %s.", m.From, m.To)
	case directory.Flipped:
		return fmt.Sprintf("It is opened on %s.", m.To)
	case phaseKeep:
		return fmt.Sprintf("It lives on %s. What it left on %s is kept for a while.", m.To, m.From)
	case phaseDelete:
		return fmt.Sprintf("It lives on %s. What it left on %s is deleted.", m.To, m.From)
	case directory.Moved:
		return fmt.Sprintf("It lives on %s.", m.To)
	case phaseUndo:
		return fmt.Sprintf("What was copied to %s is deleted again.", m.To)
	}
	return fmt.Sprintf("It stays on %s.", m.From)
}
