package node

import "path/filepath"

// Node is this machine's.
type Node struct {
	// Programs is a folder with binaries.Node.
	Programs string
	// Pause is a static program that waits, see package pause.
	Pause string
}

// FirstCommand is the argument that makes the running program call First.
const FirstCommand = "first"

// Kubeconfig is of the cluster's administrator, for this machine.
func Kubeconfig() string { return filepath.Join(State, "admin.kubeconfig") }
