package provider

import (
	"context"
	"errors"
)

// existing is the cluster that KUBECONFIG names: used as it is.
type existing struct{ kubeconfig string }

func (e existing) Up(context.Context) error   { return nil }
func (e existing) Down(context.Context) error { return nil }
func (e existing) Kubeconfig() string         { return e.kubeconfig }
func (e existing) Host() string               { return "" }

// Load does not know how images get there.
func (e existing) Load(_ context.Context, archive string) error {
	return errors.New("KUBECONFIG is set: give its cluster the image in " + archive + " yourself, as docs/cluster.md tells")
}
