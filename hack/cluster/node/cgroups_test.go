package node

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCgroups(t *testing.T) {
	for name, test := range map[string]struct{ files, want []string }{
		"version 2": {
			files: []string{"cgroup.controllers", "cgroup.procs", "system.slice/cgroup.procs"},
			want:  []string{"visavis"},
		},
		"version 1": {
			files: []string{"cpu/cgroup.procs", "memory/cgroup.procs"},
			want:  []string{"cpu/visavis", "memory/visavis"},
		},
		"none": {},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for _, file := range test.files {
				require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, file)), 0o755))
				require.NoError(t, os.WriteFile(filepath.Join(root, file), nil, 0o600))
			}
			require.NoError(t, makeCgroups(root))
			require.NoError(t, makeCgroups(root), "those that are there stay")
			for _, folder := range test.want {
				require.DirExists(t, filepath.Join(root, folder))
				require.NoError(t, os.MkdirAll(filepath.Join(root, folder, "kubepods", "pod1"), 0o755))
			}
			require.NoError(t, removeCgroups(root))
			for _, folder := range test.want {
				require.NoDirExists(t, filepath.Join(root, folder))
				require.DirExists(t, filepath.Dir(filepath.Join(root, folder)))
			}
			require.NoError(t, removeCgroups(root))
		})
	}
}
