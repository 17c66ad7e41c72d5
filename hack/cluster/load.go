package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"visavis.dev/hack/cluster/image"
	"visavis.dev/hack/cluster/provider"
)

// load packs a package of the repository into an image and gives it to the cluster.
func (r run) load(ctx context.Context, name, pkg string) error {
	dir := filepath.Join(r.builder.Cache, "images")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	program := path.Base(pkg)
	binary := filepath.Join(dir, program)
	if err := provider.Static(ctx, r.root, pkg, binary); err != nil {
		return err
	}
	archive := binary + ".tar"
	if err := pack(archive, binary, name, program); err != nil {
		return err
	}
	return r.cluster.Load(ctx, archive)
}

func pack(archive, binary, name, program string) error {
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
	packed := image.Image{
		Name: name, Program: program, Binary: content, Certificates: certificates,
		Labels: map[string]string{"org.opencontainers.image.title": program},
	}
	if err := packed.Write(file); err != nil {
		return err
	}
	return file.Sync()
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
