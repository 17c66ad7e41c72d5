package provider

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// kind is a cluster in Docker.
type kind struct{ folder string }

const kindName = "visavis"

func (k kind) Kubeconfig() string { return filepath.Join(k.folder, "kubeconfig") }

// Host is the gateway of the network that kind's containers are in.
func (k kind) Host() string {
	out, err := exec.Command("docker", "network", "inspect", "kind", "--format", `{{range .IPAM.Config}}{{.Gateway}}{{"\n"}}{{end}}`).Output()
	if err != nil {
		return ""
	}
	return firstIPv4(string(out))
}

// firstIPv4 leaves out the gateway for version 6, which may come first.
func firstIPv4(lines string) string {
	for line := range strings.Lines(lines) {
		if line = strings.TrimSpace(line); strings.Contains(line, ".") {
			return line
		}
	}
	return ""
}

func (k kind) Up(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, "kind", "get", "clusters").Output()
	if err != nil {
		return fmt.Errorf("kind get clusters: %w", err)
	}
	if err := os.MkdirAll(k.folder, 0o755); err != nil {
		return err
	}
	if slices.Contains(strings.Fields(string(out)), kindName) {
		return k.run(ctx, "export", "kubeconfig", "--name", kindName, "--kubeconfig", k.Kubeconfig())
	}
	return k.run(ctx, "create", "cluster", "--name", kindName, "--kubeconfig", k.Kubeconfig(), "--wait", "3m")
}

func (k kind) Down(ctx context.Context) error {
	return k.run(ctx, "delete", "cluster", "--name", kindName, "--kubeconfig", k.Kubeconfig())
}

func (k kind) Load(ctx context.Context, archive string) error {
	return k.run(ctx, "load", "image-archive", archive, "--name", kindName)
}

func (k kind) run(ctx context.Context, arguments ...string) error {
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, "kind", arguments...)
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("kind %s: %w\n%s", arguments[0], err, said.Bytes())
	}
	return nil
}
