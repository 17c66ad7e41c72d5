package embedded

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestUnfinishedInitIsRedone(t *testing.T) {
	for name, interrupt := range map[string]func(*testing.T, string){
		"after its parent was killed": func(t *testing.T, dir string) {
			parent := asRole(t, "parent", dir)
			require.NoError(t, parent.Start())
			awaitUnfinished(t, dir)
			require.NoError(t, parent.Process.Kill())
			_ = parent.Wait()
		},
		"after it was cancelled": func(t *testing.T, dir string) {
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				defer cancel()
				awaitUnfinished(t, dir)
			}()
			_, err := Start(ctx, Options{Dir: dir})
			require.ErrorIs(t, err, context.Canceled)
			require.Empty(t, unfinished(t, dir), "a cancelled start cleans up")
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newDir(t)
			interrupt(t, dir)
			require.NoDirExists(t, filepath.Join(dir, clusterName))

			writeNote(t, begin(t, Options{Dir: dir}), "made")
			require.Empty(t, unfinished(t, dir))
		})
	}
}

// awaitUnfinished returns when initdb is at work.
func awaitUnfinished(t *testing.T, dir string) {
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) { //nolint:forbidigo // another process is watched from outside
		for _, path := range unfinished(t, dir) {
			if _, err := os.Stat(filepath.Join(path, clusterName, "PG_VERSION")); err == nil {
				return
			}
		}
	}
	t.Error("initdb has not begun")
}

func unfinished(t *testing.T, dir string) []string {
	paths, err := filepath.Glob(filepath.Join(dir, unfinishedPrefix+"*"))
	if err != nil {
		t.Error(err)
	}
	return paths
}

func TestForeignFilesAreNotReplaced(t *testing.T) {
	dir := newDir(t)
	foreign := filepath.Join(dir, clusterName, "notes")
	require.NoError(t, os.MkdirAll(filepath.Dir(foreign), 0o700))
	require.NoError(t, os.WriteFile(foreign, nil, 0o600))
	_, err := attempt(t, Options{Dir: dir})
	require.Error(t, err)
	require.FileExists(t, foreign)
}
