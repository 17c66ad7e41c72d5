package binaries

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// compile builds a static program with the versions its module pins.
func compile(ctx context.Context, dir string, source Source, out string) error {
	flags := "-s -w"
	if source.Version != "" {
		version, err := versionOf(ctx, dir, source.Version)
		if err != nil {
			return err
		}
		flags += versionFlags(version)
	}
	cmd := exec.CommandContext(ctx, "go", "-C", dir, "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", out, source.Path)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS="+source.OS)
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

func versionOf(ctx context.Context, dir, module string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "-C", dir, "list", "-m", "-f", "{{.Version}}", module)
	cmd.Env = append(os.Environ(), "GOFLAGS=")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// versionFlags tell a Kubernetes program its version, which its own makefiles
// write at link time. Without it a kubelet calls itself v0.0.0.
func versionFlags(version string) string {
	var major, minor int
	if _, err := fmt.Sscanf(version, "v%d.%d.", &major, &minor); err != nil {
		return ""
	}
	const variable = " -X k8s.io/component-base/version."
	return fmt.Sprintf(variable+"gitVersion=%s"+variable+"gitMajor=%d"+variable+"gitMinor=%d", version, major, minor)
}
