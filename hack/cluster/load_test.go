package main

import (
	"archive/tar"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/hack/cluster/binaries"
)

// taken is a cluster that notes what it was given.
type taken struct {
	place
	archives *[]string
}

func (c taken) Load(_ context.Context, archive string) error {
	*c.archives = append(*c.archives, archive)
	return nil
}

// A program that runs in pods is one for Linux wherever it is built.
func TestAPinnedProgramIsPacked(t *testing.T) {
	var archives []string
	r := run{cluster: taken{archives: &archives}, builder: &binaries.Builder{
		Modules: ".", Cache: t.TempDir(), Log: t.Logf,
		Compile: func(_ context.Context, _ string, source binaries.Source, out string) error {
			require.Equal(t, "linux", source.OS)
			return os.WriteFile(out, []byte(source.Path), 0o600)
		},
	}}
	require.NoError(t, r.load(t.Context(), "traefik:e2e", "traefik"))
	require.Len(t, archives, 1)
	require.Equal(t, []string{"traefik:e2e"}, tags(t, archives[0]))

	file := filepath.Join(t.TempDir(), "traefik.tar")
	require.NoError(t, r.pack(t.Context(), file, "registry.example.com/team/traefik:e2e", "traefik"))
	require.Equal(t, []string{"registry.example.com/team/traefik:e2e"}, tags(t, file))
	require.Len(t, archives, 1, "packed, not given")

	require.EqualError(t, r.load(t.Context(), "x:y", "nginx"), `no program "nginx"`)
}

// tags are the names of the image in a file.
func tags(t *testing.T, archive string) []string {
	t.Helper()
	file, err := os.Open(archive)
	require.NoError(t, err)
	defer file.Close()
	for in := tar.NewReader(file); ; {
		header, err := in.Next()
		require.NoError(t, err)
		if header.Name == "manifest.json" {
			var manifests []struct{ RepoTags []string }
			require.NoError(t, json.NewDecoder(in).Decode(&manifests))
			require.Len(t, manifests, 1)
			return manifests[0].RepoTags
		}
	}
}
