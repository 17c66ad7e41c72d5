// Package image packs a static program into a container image without Docker:
// a tar in the layout of docker save, which containerd, kind and Docker load.
// The same content gives the same bytes.
package image

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"path"
	"slices"
	"strings"
	"time"
)

// User runs the program: no name, no home, not root.
const User = 65532

// Image is what goes into one.
type Image struct {
	// Name is what pods call it, with its tag: visavis:dev.
	Name string
	// Program is the file's name at the image's root, which is its entrypoint.
	Program string
	// Binary is the program, which must need no shared library.
	Binary []byte
	// Certificates are what the program trusts, as PEM; none where empty.
	Certificates []byte
	Labels       map[string]string
}

// epoch is every time in an image, so that building again changes nothing.
var epoch = time.Unix(0, 0).UTC()

// Write packs the image.
func (i Image) Write(w io.Writer) error {
	layer, err := i.layer()
	if err != nil {
		return err
	}
	config, err := json.Marshal(i.config(digest(layer)))
	if err != nil {
		return err
	}
	configName := strings.TrimPrefix(digest(config), "sha256:") + ".json"
	manifest, err := json.Marshal([]manifest{{Config: configName, RepoTags: []string{i.Name}, Layers: []string{"layer.tar"}}})
	if err != nil {
		return err
	}
	out := tar.NewWriter(w)
	for _, file := range []file{
		{name: configName, mode: 0o644, content: config},
		{name: "layer.tar", mode: 0o644, content: layer},
		{name: "manifest.json", mode: 0o644, content: manifest},
	} {
		if err := file.write(out); err != nil {
			return err
		}
	}
	return out.Close()
}

// layer is the image's only one: its root folder.
func (i Image) layer() ([]byte, error) {
	files := []file{
		{name: "tmp/", mode: 0o1777},
		{name: i.Program, mode: 0o755, content: i.Binary},
	}
	if len(i.Certificates) > 0 {
		// Where Go and OpenSSL look on Debian.
		name := "etc/ssl/certs/ca-certificates.crt"
		files = append(files, folders(name)...)
		files = append(files, file{name: name, mode: 0o644, content: i.Certificates})
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	var buffer bytes.Buffer
	out := tar.NewWriter(&buffer)
	for _, file := range files {
		if err := file.write(out); err != nil {
			return nil, err
		}
	}
	err := out.Close()
	return buffer.Bytes(), err
}

// file is an entry of a tar; a folder's name ends in a slash.
type file struct {
	name    string
	mode    int64
	content []byte
}

func (f file) write(out *tar.Writer) error {
	header := &tar.Header{
		Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.content)),
		ModTime: epoch, Format: tar.FormatUSTAR,
	}
	if strings.HasSuffix(f.name, "/") {
		header.Typeflag = tar.TypeDir
	}
	if err := out.WriteHeader(header); err != nil {
		return err
	}
	_, err := out.Write(f.content)
	return err
}

// folders are those a file is in.
func folders(name string) []file {
	var all []file
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		all = append(all, file{name: dir + "/", mode: 0o755})
	}
	return all
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}
