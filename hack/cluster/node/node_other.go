//go:build !linux

package node

import (
	"context"
	"errors"
)

var errLinux = errors.New("a cluster of its own needs Linux; set KUBECONFIG, or start Docker and put kind on PATH")

// Up says that it cannot.
func (n Node) Up(context.Context) error { return errLinux }

// Load says that it cannot.
func (n Node) Load(context.Context, string) error { return errLinux }

// Down has nothing to stop.
func Down() error { return nil }

// First says that it cannot.
func First(string) error { return errLinux }
