package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
	_ "gocloud.dev/blob/memblob"
	"k8s.io/utils/clock"

	"visavis.dev/config"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/process/backend"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/organization"
)

// fixture is a directory and a shard, a backend to fill them with, and the
// binary to measure.
type fixture struct {
	directoryURL, shardURL string
	backend                *backend.Backend
	binary, folder         string
}

func newFixture(ctx context.Context) (f *fixture, err error) {
	admin := os.Getenv(databasetest.Env)
	if admin == "" {
		return nil, fmt.Errorf("%s names no database server; run make bench", databasetest.Env)
	}
	f = &fixture{}
	if f.folder, err = os.MkdirTemp("", "visavis-bench-"); err != nil {
		return nil, err
	}
	f.binary = filepath.Join(f.folder, "visavis")
	build := exec.Command("go", "build", "-trimpath", "-o", f.binary, "./cmd/visavis")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("build: %w", err)
	}
	if f.directoryURL, err = makeDatabase(ctx, admin, "bench_directory", database.Directory); err != nil {
		return nil, err
	}
	if f.shardURL, err = makeDatabase(ctx, admin, "bench_shard", database.Shard); err != nil {
		return nil, err
	}
	f.backend, err = backend.Open(ctx, backend.Options{
		DirectoryURL: f.directoryURL, FilesURL: "mem://", PlansText: config.Plans,
		Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, err
	}
	return f, f.backend.Directory.AddShard(ctx, "shard-1", f.shardURL)
}

func (f *fixture) close() {
	f.backend.Close()
	_ = os.RemoveAll(f.folder)
}

// makeDatabase makes a database afresh, with a schema.
func makeDatabase(ctx context.Context, admin, name string, schema database.Schema) (string, error) {
	conn, err := pgx.Connect(ctx, admin)
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	if err := errors.Join(database.Drop(ctx, conn, name), database.Create(ctx, conn, name)); err != nil {
		return "", err
	}
	u, err := url.Parse(admin)
	if err != nil {
		return "", err
	}
	u.Path = "/" + name
	db, err := database.Open(u.String(), database.PoolOptions{})
	if err != nil {
		return "", err
	}
	defer db.Close()
	return u.String(), db.Migrate(ctx, schema, slog.New(slog.DiscardHandler))
}

// newOrg makes an organization with a key of full access.
func (f *fixture) newOrg(ctx context.Context, name string) (id.Org, apikey.Secret, error) {
	now := time.Now().UTC().Truncate(time.Microsecond)
	o := directory.Organization{
		ID: id.NewOrg(), Name: name, Slug: organization.Slug(name), Region: "eu", Timezone: "UTC", Shard: "shard-1",
		Epoch: 1, Plan: "enterprise", CreatedAt: now,
	}
	if err := organization.Create(ctx, f.backend.Directory, f.backend.Tenants, o); err != nil {
		return o.ID, "", err
	}
	secret, err := f.newKey(ctx, o.ID)
	return o.ID, secret, err
}

// newKey makes a key of full access.
func (f *fixture) newKey(ctx context.Context, org id.Org) (apikey.Secret, error) {
	secret := apikey.NewSecret(apikey.Live)
	return secret, f.backend.Keys.Insert(ctx, apikey.Key{
		ID: id.NewKey(), Org: org, Name: "bench", Last4: secret.Last4(), Scopes: []scope.Scope{}, FullAccess: true,
		Contract: contract.Latest, Environment: apikey.Live, CreatedBy: "bench", CreatedAt: time.Now().UTC().Truncate(time.Microsecond),
	}, secret.Hash())
}
