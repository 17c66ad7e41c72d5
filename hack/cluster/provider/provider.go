// Package provider chooses the Kubernetes that tests run on: the one that the
// person has, else one in Docker, else one of this machine's own.
package provider

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"

	"visavis.dev/hack/cluster/binaries"
	"visavis.dev/hack/cluster/node"
)

// Cluster is a Kubernetes.
type Cluster interface {
	// Up starts it, unless it runs, and answers once it takes pods.
	Up(ctx context.Context) error
	// Down stops what Up started.
	Down(ctx context.Context) error
	// Kubeconfig is the path of its administrator's.
	Kubeconfig() string
	// Load gives it an image, a file in the layout of docker save.
	Load(ctx context.Context, archive string) error
	// Host is this machine's address for its pods, empty where it is not known.
	Host() string
}

// machine is what the choice depends on.
type machine struct {
	// kubeconfig is KUBECONFIG, kinds the one that kind writes for us.
	kubeconfig, kinds string
	// kind tells whether kind is on PATH, and docker whether its daemon answers.
	kind, docker func() bool
}

type choice int

const (
	given choice = iota
	inDocker
	own
)

// choose prefers what the person has. A kubeconfig that env printed is no cluster of
// the person's.
func (m machine) choose() choice {
	switch {
	case m.kubeconfig == node.Kubeconfig():
		return own
	case m.kubeconfig == m.kinds:
		return inDocker
	case m.kubeconfig != "":
		return given
	case m.kind() && m.docker():
		return inDocker
	default:
		return own
	}
}

// Choose is the cluster for this machine; the repository is at root.
func Choose(ctx context.Context, root string, builder *binaries.Builder) Cluster {
	docker := kind{folder: filepath.Join(builder.Cache, "kind")}
	m := machine{
		kubeconfig: os.Getenv("KUBECONFIG"), kinds: docker.Kubeconfig(),
		kind:   func() bool { _, err := exec.LookPath("kind"); return err == nil },
		docker: func() bool { return exec.CommandContext(ctx, "docker", "version").Run() == nil },
	}
	switch m.choose() {
	case given:
		return existing{kubeconfig: m.kubeconfig}
	case inDocker:
		return docker
	default:
		return ownNode{root: root, builder: builder}
	}
}
