package provider

import (
	"context"
	"os"
	"path/filepath"

	"visavis.dev/hack/cluster/binaries"
	"visavis.dev/hack/cluster/node"
)

// ownNode is a Kubernetes of this machine's own, built from Go modules.
type ownNode struct {
	root    string
	builder *binaries.Builder
}

func (o ownNode) Kubeconfig() string { return node.Kubeconfig() }

func (o ownNode) Host() string { return node.Host }

func (o ownNode) Up(ctx context.Context) error {
	n, err := o.node(ctx)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "visavis-pause-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	n.Pause = filepath.Join(dir, "pause")
	if err := Static(ctx, o.root, "./hack/cluster/pause", n.Pause); err != nil {
		return err
	}
	return n.Up(ctx)
}

func (o ownNode) Down(context.Context) error { return node.Down() }

func (o ownNode) Load(ctx context.Context, archive string) error {
	n, err := o.node(ctx)
	if err != nil {
		return err
	}
	return n.Load(ctx, archive)
}

func (o ownNode) node(ctx context.Context) (node.Node, error) {
	programs, err := o.builder.Folder(ctx, binaries.Node()...)
	return node.Node{Programs: programs}, err
}
