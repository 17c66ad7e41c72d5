package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"visavis.dev/hack/cluster/image"
	"visavis.dev/hack/cluster/provider"
)

// load packs a program into an image and gives it to the cluster.
func (r run) load(ctx context.Context, name, source string) error {
	dir, err := r.images()
	if err != nil {
		return err
	}
	archive := filepath.Join(dir, path.Base(source)+".tar")
	if err := r.pack(ctx, archive, name, source); err != nil {
		return err
	}
	return r.cluster.Load(ctx, archive)
}

// pack packs a program into the file of an image.
func (r run) pack(ctx context.Context, archive, name, source string) error {
	binary, err := r.binary(ctx, source)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	certificates, err := trusted()
	if err != nil {
		return err
	}
	file, err := os.Create(archive)
	if err != nil {
		return err
	}
	defer file.Close()
	program := path.Base(source)
	packed := image.Image{
		Name: name, Program: program, Binary: content, Certificates: certificates,
		Labels: map[string]string{"org.opencontainers.image.title": program},
	}
	if err := packed.Write(file); err != nil {
		return err
	}
	return file.Sync()
}

// binary builds a package of the repository, ./cmd/visavis, or finds one of the pinned
// programs by its name.
func (r run) binary(ctx context.Context, source string) (string, error) {
	if !strings.HasPrefix(source, "./") {
		folder, err := r.builder.Folder(ctx, source)
		return filepath.Join(folder, source), err
	}
	dir, err := r.images()
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, path.Base(source))
	return binary, provider.Static(ctx, r.root, source, binary)
}

// images is the folder of what was packed last.
func (r run) images() (string, error) {
	dir := filepath.Join(r.builder.Cache, "images")
	return dir, os.MkdirAll(dir, 0o755)
}

// trusted are the certificates this machine trusts, wherever it keeps them.
func trusted() ([]byte, error) {
	places := []string{"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"}
	for _, place := range places {
		text, err := os.ReadFile(place)
		if !errors.Is(err, fs.ErrNotExist) {
			return text, err
		}
	}
	return nil, errors.New("no certificates on this machine to trust: install ca-certificates")
}
