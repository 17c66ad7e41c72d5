package binaries

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// builder compiles into files that hold their package's path.
func builder(t *testing.T) (b *Builder, built *[]string) {
	t.Helper()
	modules := t.TempDir()
	for _, p := range programs {
		dir := filepath.Join(modules, p.module)
		require.NoError(t, os.MkdirAll(dir, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module "+p.module), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "go.sum"), nil, 0o600))
	}
	built = new([]string)
	var mu sync.Mutex
	return &Builder{
		Modules: modules, Cache: t.TempDir(), Log: t.Logf,
		Compile: func(_ context.Context, _ string, source Source, out string) error {
			mu.Lock()
			defer mu.Unlock()
			*built = append(*built, source.Path)
			return os.WriteFile(out, []byte(source.Path), 0o600)
		},
	}, built
}

func TestFolder(t *testing.T) {
	b, built := builder(t)
	folder, err := b.Folder(t.Context(), ControlPlane()...)
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(folder, "kube-apiserver"))
	require.NoError(t, err)
	require.Equal(t, "k8s.io/kubernetes/cmd/kube-apiserver", string(text))
	require.Len(t, *built, 2)

	again, err := b.Folder(t.Context(), "kube-apiserver", "etcd")
	require.NoError(t, err)
	require.Equal(t, folder, again)
	require.Len(t, *built, 2, "what is there is not built again")

	_, err = b.Folder(t.Context(), Node()...)
	require.NoError(t, err)
	require.Len(t, *built, len(Node()), "the two are shared by both folders")
}

func TestFolderFollowsVersions(t *testing.T) {
	b, built := builder(t)
	before, err := b.Folder(t.Context(), ControlPlane()...)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(b.Modules, "etcd", "go.mod"), []byte("module etcd // newer"), 0o600))

	after, err := b.Folder(t.Context(), ControlPlane()...)
	require.NoError(t, err)
	require.NotEqual(t, before, after)
	require.Equal(t, []string{programs["etcd"].path, programs["kube-apiserver"].path, programs["etcd"].path}, *built)
}

func TestFolderBuildsOnceForTwo(t *testing.T) {
	b, built := builder(t)
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			_, err := b.Folder(context.Background(), Node()...)
			require.NoError(t, err)
		})
	}
	both.Wait()
	require.Len(t, *built, len(Node()))
}

func TestFolderAfterAFailure(t *testing.T) {
	b, built := builder(t)
	compile := b.Compile
	b.Compile = func(_ context.Context, _ string, _ Source, out string) error {
		require.NoError(t, os.WriteFile(out, []byte("half"), 0o600))
		return errors.New("disk full")
	}
	_, err := b.Folder(t.Context(), "etcd")
	require.EqualError(t, err, "build etcd: disk full")

	b.Compile = compile
	_, err = b.Folder(t.Context(), "etcd")
	require.NoError(t, err)
	require.Len(t, *built, 1, "half a program does not count")
}

func TestFolderOfNoProgram(t *testing.T) {
	b, _ := builder(t)
	_, err := b.Folder(t.Context(), "kubelet", "fetch")
	require.EqualError(t, err, `no program "fetch"`)
}

func TestVersionFlags(t *testing.T) {
	require.Contains(t, versionFlags("v1.36.3"), "version.gitVersion=v1.36.3 ")
	require.Contains(t, versionFlags("v1.36.3"), "version.gitMajor=1 ")
	require.Contains(t, versionFlags("v1.36.3"), "version.gitMinor=36")
	require.Empty(t, versionFlags("devel"))
}
