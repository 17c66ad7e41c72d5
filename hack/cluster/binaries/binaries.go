// Package binaries builds programs that tests need from Go modules: those of a
// Kubernetes cluster, and a media server.
// Their versions are pinned by the go.mod files beside this package; what was
// built is kept in a folder of the user's and found there the next time.
package binaries

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

// CacheEnv names the folder that keeps what was built. Without it that is
// visavis/cluster in the user's cache folder.
const CacheEnv = "VISAVIS_CLUSTER_CACHE"

// program says where the source of a program is.
type program struct {
	// module is a folder of hack/cluster with a go.mod of its own.
	module string
	// path is the package to build.
	path string
	// version is the module whose version a Kubernetes program tells.
	version string
	// inPod says that it runs in a pod, and is built for Linux wherever it is built.
	inPod bool
}

var programs = map[string]program{
	"containerd":              {module: "containerd", path: "github.com/containerd/containerd/v2/cmd/containerd"},
	"containerd-shim-runc-v2": {module: "containerd", path: "github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2"},
	"coredns":                 {module: "coredns", path: "github.com/coredns/coredns"},
	"ctr":                     {module: "containerd", path: "github.com/containerd/containerd/v2/cmd/ctr"},
	"etcd":                    {module: "etcd", path: "go.etcd.io/etcd/server/v3"},
	"helm":                    {module: "helm", path: "helm.sh/helm/v3/cmd/helm"},
	"kube-apiserver":          kubernetes("kube-apiserver"),
	"kube-controller-manager": kubernetes("kube-controller-manager"),
	"kube-proxy":              kubernetes("kube-proxy"),
	"kube-scheduler":          kubernetes("kube-scheduler"),
	"kubectl":                 kubernetes("kubectl"),
	"kubelet":                 kubernetes("kubelet"),
	"livekit-server":          {module: "livekit", path: "github.com/livekit/livekit-server/cmd/server"},
	"traefik":                 {module: "traefik", path: "github.com/traefik/traefik/v3/cmd/traefik", inPod: true},
}

func kubernetes(name string) program {
	return program{module: "kubernetes", path: "k8s.io/kubernetes/cmd/" + name, version: "k8s.io/kubernetes"}
}

// os is the operating system that a program runs on.
func (p program) os() string {
	if p.inPod {
		return "linux"
	}
	return runtime.GOOS
}

// ControlPlane are the programs an API server for tests needs.
func ControlPlane() []string { return []string{"etcd", "kube-apiserver"} }

// Node are the programs of a whole cluster.
func Node() []string {
	return []string{
		"containerd", "containerd-shim-runc-v2", "coredns", "ctr", "etcd", "kube-apiserver",
		"kube-controller-manager", "kube-proxy", "kube-scheduler", "kubectl", "kubelet",
	}
}

// Builder builds programs and keeps them.
type Builder struct {
	// Modules is the folder with the modules, hack/cluster.
	Modules string
	// Cache is the folder that keeps what was built.
	Cache string
	// Log hears of every program that has to be built, which takes minutes.
	Log func(format string, args ...any)
	// Compile builds a program of a module into a file.
	Compile func(ctx context.Context, dir string, p Source, out string) error
}

// Source is a package to build, the module whose version it tells, if any, and the
// operating system to build it for.
type Source struct{ Path, Version, OS string }

// New is a Builder for the repository at root with the folder of the environment.
func New(root string) (*Builder, error) {
	cache := os.Getenv(CacheEnv)
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("%w; set %s", err, CacheEnv)
		}
		cache = filepath.Join(user, "visavis", "cluster")
	}
	return &Builder{
		Modules: filepath.Join(root, "hack", "cluster"), Cache: cache, Compile: compile,
		Log: func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) },
	}, nil
}

// Folder is a folder that holds these programs under their plain names. Those
// that are not there yet are built; two runs never build at the same time.
func (b *Builder) Folder(ctx context.Context, names ...string) (string, error) {
	names = slices.Sorted(slices.Values(names))
	files := make([]string, len(names))
	for i, name := range names {
		file, err := b.file(name)
		if err != nil {
			return "", err
		}
		files[i] = file
	}
	set := sha256.Sum256([]byte(strings.Join(files, "\n")))
	folder := filepath.Join(b.Cache, "set-"+hex.EncodeToString(set[:6]))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	for i, name := range names {
		if err := b.ensure(ctx, name, files[i]); err != nil {
			return "", fmt.Errorf("build %s: %w", name, err)
		}
		err := os.Symlink(filepath.Join("..", files[i]), filepath.Join(folder, name))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	return folder, nil
}

// file is the name a program is kept under, which follows its whole source:
// the versions of its module and of Go.
func (b *Builder) file(name string) (string, error) {
	p, ok := programs[name]
	if !ok {
		return "", fmt.Errorf("no program %q", name)
	}
	key := sha256.New()
	fmt.Fprintln(key, p.path, runtime.Version(), p.os(), runtime.GOARCH)
	for _, file := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(b.Modules, p.module, file))
		if err != nil {
			return "", err
		}
		key.Write(text)
	}
	return name + "-" + hex.EncodeToString(key.Sum(nil)[:6]), nil
}

func (b *Builder) ensure(ctx context.Context, name, file string) error {
	path := filepath.Join(b.Cache, file)
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	unlock, err := lock(filepath.Join(b.Cache, "lock"))
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	p := programs[name]
	b.Log("building %s from %s, once for its version", name, p.path)
	half := path + ".half"
	if err := b.Compile(ctx, filepath.Join(b.Modules, p.module), Source{Path: p.path, Version: p.version, OS: p.os()}, half); err != nil {
		return err
	}
	return os.Rename(half, path)
}

// lock waits until no other process holds the file's lock.
func lock(path string) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		file.Close()
		return nil, err
	}
	return func() { file.Close() }, nil
}
