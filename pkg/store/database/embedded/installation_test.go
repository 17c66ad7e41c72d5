package embedded

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// newInstallation makes a directory with programs that only tell their version.
func newInstallation(t *testing.T, version string) string {
	t.Helper()
	bin := t.TempDir()
	for _, name := range []string{"postgres", "initdb"} {
		script := "#!/bin/sh\necho '" + name + " (PostgreSQL) " + version + "'\n"
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte(script), 0o700))
	}
	return bin
}

func TestSelectInstallation(t *testing.T) {
	old := newInstallation(t, "13.4")
	supported := newInstallation(t, "15.18 (Debian 15.18-0+deb12u1)")
	newest := newInstallation(t, "18beta1")
	incomplete := t.TempDir()
	found := installations(t.Context(), []string{incomplete, old, supported, newest})
	require.Equal(t, []installation{{old, 13}, {supported, 15}, {newest, 18}}, found)

	for wanted, bin := range map[int]string{0: supported, 18: newest, 13: old} {
		i, err := selectInstallation(found, wanted)
		require.NoError(t, err)
		require.Equal(t, bin, i.bin)
	}
	_, err := selectInstallation(found, 16)
	require.ErrorContains(t, err, "install the package postgresql-16")
	_, err = selectInstallation(found[:1], 0)
	require.ErrorContains(t, err, "too old")
	_, err = selectInstallation(nil, 0)
	require.ErrorContains(t, err, "the package postgresql)")
}

func TestPathComesBeforePackages(t *testing.T) {
	bin := newInstallation(t, "17.0")
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	require.Equal(t, bin, binDirectories()[0])
	i, err := findPostgres(t.Context(), 0)
	require.NoError(t, err)
	require.Equal(t, installation{bin, 17}, i)
}
