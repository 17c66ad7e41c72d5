package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/directory"
)

// embeddedStop is how long the embedded database may take to stop in order.
const embeddedStop = 30 * time.Second

// prepare makes the directory and the shards, at the current schema, and
// points the settings at them. It finds what an earlier start made.
func (d *devSettings) prepare(ctx context.Context, log *slog.Logger, b *databases) error {
	if err := b.make(ctx, directoryName); err != nil {
		return err
	}
	directoryURL, err := b.url(directoryName)
	if err != nil {
		return err
	}
	quiet := slog.New(slog.DiscardHandler)
	if _, err := migrate(ctx, directoryURL, "", quiet); err != nil && !errors.Is(err, ctx.Err()) {
		// A shard of an earlier start may have moved with the server's port;
		// it is entered anew below.
		log.Debug("first migration", "error", err)
	}
	db, err := database.Open(directoryURL, database.PoolOptions{})
	if err != nil {
		return err
	}
	defer db.Close()
	dir := directory.New(db, directory.Options{Clock: clock.RealClock{}})
	for n := 1; n <= d.shards; n++ {
		if err := b.make(ctx, shardDatabase(n)); err != nil {
			return err
		}
		shardURL, err := b.url(shardDatabase(n))
		if err != nil {
			return err
		}
		if _, err := migrateShard(ctx, shardURL, quiet); err != nil {
			return err
		}
		if err := dir.AddShard(ctx, shardName(n), shardURL); err != nil {
			return err
		}
	}
	d.database = directoryURL
	d.files, err = folderURL(filepath.Join(d.dataDir, "files"))
	return err
}

// masterKeyFile is the file in dev's folder with the key that seals stored secrets.
const masterKeyFile = "master.key"

// ensureMasterKey points the settings at dev's own key, unless they name
// others. A file that is there is never replaced: what its key sealed could not
// be opened again.
func (d *devSettings) ensureMasterKey() error {
	if d.masterKeys != "" {
		return nil
	}
	d.masterKeys = filepath.Join(d.dataDir, masterKeyFile)
	_, err := os.Lstat(d.masterKeys)
	if errors.Is(err, fs.ErrNotExist) {
		return writePrivate(d.masterKeys, []byte(base64.StdEncoding.EncodeToString(vault.NewKey())+"\n"))
	}
	return err
}

// mailFolder is the folder in dev's folder that mails are laid into.
const mailFolder = "mail"

// ensureMail lays mails into a folder, unless the settings name a server.
func (d *devSettings) ensureMail() error {
	if d.mailURL != "" {
		return nil
	}
	folder, err := filepath.Abs(filepath.Join(d.dataDir, mailFolder))
	d.mailURL = (&url.URL{Scheme: "file", Path: filepath.ToSlash(folder), RawQuery: url.Values{"from": {"Visavis <visavis@localhost>"}}.Encode()}).String()
	return err
}

// writePrivate replaces a file at once, readable by its owner alone. What it
// wrote outlives a crash of the machine, as what is in the database does.
func writePrivate(path string, text []byte) error {
	temporary := path + ".new"
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(temporary, path); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}

// withDatabase is a server's URL with another database in it.
func withDatabase(server, current, name string) (string, error) {
	u, err := url.Parse(server)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return "", fmt.Errorf("database: want a URL such as postgres://user@host:5432/%s", current)
	}
	u.Path = "/" + name
	return u.String(), nil
}

func duplicateDatabase(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "42P04"
}
