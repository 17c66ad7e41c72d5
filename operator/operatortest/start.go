package operatortest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// Start runs a server from KUBEBUILDER_ASSETS, with the repository's custom
// resource definitions, until stop is called. It answers the path of a
// kubeconfig of its administrator.
func Start() (kubeconfig string, stop func() error, err error) {
	definitions, err := definitions()
	if err != nil {
		return "", nil, err
	}
	environment := &envtest.Environment{CRDDirectoryPaths: definitions, ErrorIfCRDPathMissing: true}
	// An own kubeconfig or USE_EXISTING_CLUSTER must not lead tests elsewhere.
	existing := false
	environment.UseExistingCluster = &existing
	if _, err := environment.Start(); err != nil {
		return "", nil, errors.Join(err, environment.Stop())
	}
	dir, err := os.MkdirTemp("", "visavis-test-kubernetes-")
	if err != nil {
		return "", nil, errors.Join(err, environment.Stop())
	}
	stop = func() error { return errors.Join(environment.Stop(), os.RemoveAll(dir)) }
	kubeconfig = filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(kubeconfig, environment.KubeConfig, 0o600); err != nil {
		return "", nil, errors.Join(err, stop())
	}
	return kubeconfig, stop, nil
}

// definitions is the repository's folder of custom resource definitions, if it has one.
func definitions() ([]string, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(root, "crds")
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return []string{folder}, nil
}

// Root is the repository's folder, seen from any package's.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("no go.mod above %s", dir)
		}
		dir = parent
	}
}
