package operatortest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"visavis.dev/hack/cluster/binaries"
	"visavis.dev/pkg/base/testcache"
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

// dependOnDefinitions has results forgotten when the definitions change: the server that all
// packages share has them from another program.
func dependOnDefinitions() error {
	folders, err := definitions()
	for _, folder := range folders {
		err = errors.Join(err, testcache.Depends(folder))
	}
	return err
}

// definitions is the repository's folder of custom resource definitions, if it has one.
func definitions() ([]string, error) {
	root, err := binaries.Root()
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
