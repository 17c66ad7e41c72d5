package image

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

var example = Image{
	Name: "visavis:dev", Program: "visavis", Binary: []byte("program"), Certificates: []byte("certificates"),
	Labels: map[string]string{"org.opencontainers.image.title": "visavis", "a": "b"},
}

func pack(t *testing.T, i Image) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, i.Write(&out))
	return out.Bytes()
}

type entry struct {
	*tar.Header
	content []byte
}

func unpack(t *testing.T, archive []byte) (names []string, entries map[string]entry) {
	t.Helper()
	entries = map[string]entry{}
	for in := tar.NewReader(bytes.NewReader(archive)); ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return names, entries
		}
		require.NoError(t, err)
		content, err := io.ReadAll(in)
		require.NoError(t, err)
		names = append(names, header.Name)
		entries[header.Name] = entry{header, content}
	}
}

func TestLayout(t *testing.T) {
	names, entries := unpack(t, pack(t, example))
	require.Len(t, names, 3)

	var manifests []manifest
	require.NoError(t, json.Unmarshal(entries["manifest.json"].content, &manifests))
	require.Len(t, manifests, 1)
	require.Equal(t, []string{"visavis:dev"}, manifests[0].RepoTags)
	require.Equal(t, []string{"layer.tar"}, manifests[0].Layers)

	// What containerd checks before it runs anything: names are digests.
	configuration := entries[manifests[0].Config]
	require.Equal(t, digest(configuration.content), "sha256:"+manifests[0].Config[:64])
	var c config
	require.NoError(t, json.Unmarshal(configuration.content, &c))
	require.Equal(t, []string{digest(entries["layer.tar"].content)}, c.RootFS.DiffIDs)
	require.Equal(t, "linux", c.OS)
	require.Equal(t, execution{
		User: "65532:65532", Env: []string{"PATH=/"}, Entrypoint: []string{"/visavis"}, WorkingDir: "/",
		Labels: example.Labels,
	}, c.Config)
}

func TestLayer(t *testing.T) {
	_, outer := unpack(t, pack(t, example))
	names, entries := unpack(t, outer["layer.tar"].content)
	require.Equal(t, []string{
		"etc/", "etc/ssl/", "etc/ssl/certs/", "etc/ssl/certs/ca-certificates.crt", "tmp/", "visavis",
	}, names, "folders come before what is in them")
	require.Equal(t, "program", string(entries["visavis"].content))
	require.EqualValues(t, 0o755, entries["visavis"].Mode)
	require.EqualValues(t, 0o1777, entries["tmp/"].Mode)
	require.Equal(t, "certificates", string(entries["etc/ssl/certs/ca-certificates.crt"].content))
	for name, e := range entries {
		require.Zero(t, e.Uid, name)
		require.Zero(t, e.Gid, name)
		require.True(t, e.ModTime.Equal(epoch), name)
	}
}

func TestSameBytes(t *testing.T) {
	first := pack(t, example)
	for range 10 {
		require.Equal(t, digest(first), digest(pack(t, example)))
	}
	other := example
	other.Binary = []byte("newer")
	require.NotEqual(t, digest(first), digest(pack(t, other)))
}

func TestWithoutCertificates(t *testing.T) {
	_, outer := unpack(t, pack(t, Image{Name: "pause:1", Program: "pause", Binary: []byte("p")}))
	names, _ := unpack(t, outer["layer.tar"].content)
	require.Equal(t, []string{"pause", "tmp/"}, names)
}
