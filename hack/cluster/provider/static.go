package provider

import (
	"context"
	"os"
	"os/exec"
)

// Static builds a package of the repository into a program that needs no
// shared library, for an image without any. The same source gives the same
// bytes wherever it is built.
func Static(ctx context.Context, root, pkg, out string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", out, pkg)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	return cmd.Run()
}
