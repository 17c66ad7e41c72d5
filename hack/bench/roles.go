package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// roles measures what the programs weigh, and what the roles take that do nothing: the
// memory of each, and what of it is its own: the rest are pages of the program's file, which
// the processes of a machine share, and as many as the kernel maps at once.
func roles(ctx context.Context, f *fixture) error {
	if err := sizes(ctx, f); err != nil {
		return err
	}
	for _, role := range []struct {
		name  string
		start func(...string) (*process, error)
	}{{"api", f.startAPI}, {"portal", f.startPortal}, {"worker", f.startWorker}} {
		p, err := role.start()
		if err != nil {
			return err
		}
		resident, err := p.resident()
		if err != nil {
			return err
		}
		private, err := p.status("RssAnon")
		if err != nil {
			return err
		}
		report("Idle/"+role.name, 1, figure{resident, "MiB"}, figure{private, "MiB-private"})
		if err := p.stop(); err != nil {
			return err
		}
	}
	return nil
}

// sizes measures the programs as images and releases have them.
func sizes(ctx context.Context, f *fixture) error {
	for _, program := range []string{"visavis", "kubectl-visavis", "visavis-speech"} {
		path := filepath.Join(f.folder, program+"-stripped")
		build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", path, "./cmd/"+program)
		build.Env, build.Stderr = append(os.Environ(), "CGO_ENABLED=0"), os.Stderr
		if err := build.Run(); err != nil {
			return fmt.Errorf("build %s: %w", program, err)
		}
		made, err := os.Stat(path)
		if err != nil {
			return err
		}
		report("Size/"+program, 1, figure{float64(made.Size()) / 1e6, "MB"})
	}
	return nil
}
