package embedded

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// requireRoot skips what only root needs: anybody else runs the server as
// themselves.
func requireRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root runs the server as another user")
	}
}

// newReachableDir returns a directory for a server below one that every user
// can pass through, which it returns too.
func newReachableDir(t *testing.T) (dir, parent string) {
	t.Helper()
	parent, err := os.MkdirTemp("", "embedded-") //nolint:usetesting // every user must be able to pass through it
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(parent)) })
	require.NoError(t, os.Chmod(parent, 0o755))
	dir = filepath.Join(parent, "data")
	requireNothingLeft(t, dir)
	return dir, parent
}

// requireOwner checks that every file of the cluster belongs to the user.
func requireOwner(t *testing.T, dir string, uid int) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(dir, clusterName), func(path string, _ fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the server removes files as it likes
		}
		require.NoError(t, err)
		owner, _, err := ownerOf(path)
		if !errors.Is(err, fs.ErrNotExist) {
			require.NoError(t, err)
			require.Equal(t, uid, owner, path)
		}
		return nil
	})
	require.NoError(t, err)
}

func processOwner(t *testing.T, s *Server) int {
	t.Helper()
	uid, _, err := ownerOf("/proc/" + strconv.Itoa(s.PID()))
	require.NoError(t, err)
	return uid
}

func TestRootRunsTheServerAsAnotherUser(t *testing.T) {
	requireRoot(t)
	server, err := serverAccount()
	require.NoError(t, err)
	dir, parent := newReachableDir(t)
	o := Options{Dir: dir, Durable: true}

	s := begin(t, o)
	if s.engine.(*postgres).identity.uid == 0 {
		t.Skip("root cannot become another user here")
	}
	require.Equal(t, server.uid, processOwner(t, s))
	requireOwner(t, dir, server.uid)
	writeNote(t, s, "committed")
	end(t, s)
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o710), info.Mode().Perm(), "only the server's group passes")

	t.Run("in a namespace when the directory is closed later", func(t *testing.T) {
		requireNamespaces(t)
		require.NoError(t, os.Chmod(parent, 0o700))
		s := begin(t, o)
		require.Equal(t, 0, processOwner(t, s))
		requireOwner(t, dir, 0)
		requireNote(t, s, "committed")
		end(t, s)
	})
	t.Run("in a namespace still when it is opened again", func(t *testing.T) {
		requireNamespaces(t)
		require.NoError(t, os.Chmod(parent, 0o755))
		s := begin(t, o)
		require.Equal(t, 0, processOwner(t, s))
		requireNote(t, s, "committed")
		end(t, s)
	})
	t.Run("as that user when there are no namespaces any more", func(t *testing.T) {
		as := credentialIdentity(server)
		require.NoError(t, as.own(filepath.Join(dir, clusterName)))
		s := begin(t, o)
		require.Equal(t, server.uid, processOwner(t, s))
		requireOwner(t, dir, server.uid)
		requireNote(t, s, "committed")
		end(t, s)
	})
}

func requireNamespaces(t *testing.T) {
	t.Helper()
	server, err := serverAccount()
	require.NoError(t, err)
	id, supported := namespaceIdentity(server)
	if !supported {
		t.Skip("this system has no user namespaces")
	}
	if err := id.probe(t.Context(), "/bin/true", "/"); err != nil {
		t.Skip("user namespaces are forbidden here:", err)
	}
}

func TestRootRunsTheServerInANamespace(t *testing.T) {
	requireRoot(t)
	requireNamespaces(t)
	s := begin(t, Options{Dir: newDir(t)})
	require.Equal(t, 0, processOwner(t, s), "seen from outside")
	mapping, err := os.ReadFile("/proc/" + strconv.Itoa(s.PID()) + "/uid_map")
	require.NoError(t, err)
	server, err := serverAccount()
	require.NoError(t, err)
	require.Equal(t, []string{strconv.Itoa(server.uid), "0", "1"}, strings.Fields(string(mapping)), "seen from inside")
}

func TestNoIdentityWorks(t *testing.T) {
	requireRoot(t)
	dir := &directory{path: filepath.Join(t.TempDir(), "absent")}
	require.NoError(t, os.Mkdir(dir.path, 0o700))
	_, err := chooseIdentity(t.Context(), dir, dir.file(clusterName), "/absent/postgres")
	require.ErrorContains(t, err, "start this program as another user")
	require.ErrorContains(t, err, "as user ")
}

func TestOwnKeepsInsideTheCluster(t *testing.T) {
	requireRoot(t)
	server, err := serverAccount()
	require.NoError(t, err)
	outside := filepath.Join(t.TempDir(), "outside")
	require.NoError(t, os.Mkdir(outside, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(outside, "file"), nil, 0o600))
	cluster := t.TempDir()
	require.NoError(t, os.Symlink(outside, filepath.Join(cluster, "link")))

	require.NoError(t, credentialIdentity(server).own(cluster))
	for path, want := range map[string]int{cluster: server.uid, outside: 0, filepath.Join(outside, "file"): 0} {
		uid, _, err := ownerOf(path)
		require.NoError(t, err)
		require.Equal(t, want, uid, path)
	}
}

func TestRootLeavesADirectoryToItsOwner(t *testing.T) {
	requireRoot(t)
	owner, err := lookup(user.Lookup("nobody"))
	require.NoError(t, err)
	dir, _ := newReachableDir(t)
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.Chown(dir, owner.uid, owner.gid))
	s := begin(t, Options{Dir: dir})
	if s.engine.(*postgres).identity.uid == 0 {
		t.Skip("root cannot become another user here")
	}
	require.Equal(t, owner.uid, processOwner(t, s))
	requireOwner(t, dir, owner.uid)
	for _, name := range []string{"lock", "password", "port", "server.log"} {
		uid, _, err := ownerOf(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, owner.uid, uid, name)
	}
}

func TestLinksAreNotFollowed(t *testing.T) {
	dir := &directory{path: t.TempDir()}
	outside := filepath.Join(t.TempDir(), "outside")
	require.NoError(t, os.WriteFile(outside, nil, 0o600))
	require.NoError(t, os.Symlink(outside, dir.file("server.log")))
	_, err := openServerLog(dir)
	require.ErrorIs(t, err, syscall.ELOOP)
}
