package provider

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// Static builds a package of the repository into a program that needs no
// shared library, for an image without any. The same source gives the same
// bytes wherever it is built. As in the Dockerfile, the product is told the
// chart's version.
func Static(ctx context.Context, root, pkg, out string) error {
	version, err := chartVersion(root)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X main.built="+version, "-o", out, pkg)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build %s: %w", pkg, err)
	}
	return nil
}

// chartVersion is the version of the product that the chart installs.
func chartVersion(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, "charts", "visavis", "Chart.yaml"))
	if err != nil {
		return "", err
	}
	var chart struct {
		AppVersion string `json:"appVersion"`
	}
	return chart.AppVersion, yaml.Unmarshal(text, &chart)
}
