package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/embedded"
)

// defaultDataDir is where dev keeps everything unless it is told otherwise.
const defaultDataDir = ".visavis"

type devSettings struct {
	settings
	dataDir string
	shards  int
	sample  bool
}

func (d *devSettings) define(f *pflag.FlagSet) {
	d.directoryFlag(f)
	d.serving(f)
	d.dnsProof = "off"
	f.Lookup("dns-proof").DefValue = "off"
	d.talking(f)
	d.rtcAddr = "127.0.0.1:0"
	f.Lookup("rtc-addr").DefValue = d.rtcAddr
	f.Lookup("rtc-addr").Usage = "`HOST:PORT` (UDP) where browsers connect over WebRTC; all conversations share it (empty for no WebRTC)"
	d.working(f)
	d.logging(f, "text")
	f.StringVar(&d.dataDir, "data-dir", defaultDataDir, "`FOLDER` for the embedded database, files, credentials and the key that seals stored secrets")
	f.IntVar(&d.shards, "shards", 2, "number of shards")
	f.BoolVar(&d.sample, "sample", false, "make a sample portal once, with an avatar to talk with")
}

func devCommand() *cobra.Command {
	var d devSettings
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Run everything in one process on an embedded database",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return runDev(cmd, &d) },
	}
	d.define(cmd.Flags())
	cmd.AddCommand(devEnvCommand())
	cmd.Flags().Lookup("database").Usage = "`URL` of a server to use instead of an embedded one"
	cmd.Flags().Lookup("master-keys").Usage = "`FILE` of the keys that seal stored secrets, 32 bytes in base64 a line: the first seals, all open (" +
		masterKeyFile + " in data-dir unless given)"
	cmd.Flags().Lookup("mail-url").Usage += "; dev lays mails into " + mailFolder + " in data-dir unless given"
	return cmd
}

func runDev(cmd *cobra.Command, d *devSettings) (err error) {
	ctx := cmd.Context()
	if d.shards < 1 || d.shards > 64 {
		return fmt.Errorf("shards: want 1 to 64, not %d", d.shards)
	}
	log, flush, err := d.logger()
	if err != nil {
		return err
	}
	defer flush()
	if err := os.MkdirAll(d.dataDir, 0o700); err != nil {
		return fmt.Errorf("data-dir: %w", err)
	}
	// Before the database, which takes its time: an address that is in use is told at once.
	front, err := d.listen()
	if err != nil {
		return err
	}
	defer func() { _ = front.Close() }() // which is nothing where it was served
	databases, err := d.start(ctx, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, databases.stop()) }()
	if err := d.prepare(ctx, log, databases); err != nil {
		return err
	}
	if err := d.ensureMasterKey(); err != nil {
		return fmt.Errorf("master key: %w", err)
	}
	if err := d.ensureMail(); err != nil {
		return fmt.Errorf("mail: %w", err)
	}
	p, err := newProcess(ctx, &d.settings, log, duties{api: true, live: true, work: true})
	if err != nil {
		return err
	}
	credentials, err := d.credentials(ctx, p)
	if err != nil {
		p.abort()
		return err
	}
	greet := func(talks bool) { credentials.greet(cmd.OutOrStdout(), d.dataDir, p.admin.Addr().String(), talks) }
	// A database that ends by itself ends the process: there is nothing to serve.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go databases.watch(ctx, cancel)
	if d.sample {
		go func() {
			err := d.ensureSample(ctx, credentials)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				log.Warn("failed to make the sample portal", "error", err)
			}
			greet(err == nil)
		}()
	} else {
		greet(false)
	}
	err = p.run(ctx)
	if cause := context.Cause(ctx); errors.Is(cause, errDatabaseEnded) {
		err = errors.Join(err, cause)
	}
	return err
}

// databases is the server that dev uses: its own, or one it was given.
type databases struct {
	url  func(name string) (string, error)
	make func(ctx context.Context, name string) error
	own  *embedded.Server
}

var errDatabaseEnded = errors.New("the embedded database ended; its log is in the data directory")

func (d *devSettings) start(ctx context.Context, log *slog.Logger) (*databases, error) {
	if d.database != "" {
		return given(d.database), nil
	}
	server, err := embedded.Start(ctx, embedded.Options{Dir: filepath.Join(d.dataDir, "database"), Log: log, Durable: true})
	if err != nil {
		return nil, fmt.Errorf("embedded database: %w", err)
	}
	return &databases{
		url:  func(name string) (string, error) { return server.URL(name), nil },
		make: server.EnsureDatabase,
		own:  server,
	}, nil
}

func (b *databases) watch(ctx context.Context, cancel context.CancelCauseFunc) {
	if b.own == nil {
		return
	}
	select {
	case <-b.own.Done():
		cancel(errDatabaseEnded)
	case <-ctx.Done():
	}
}

func (b *databases) stop() error {
	if b.own == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), embeddedStop)
	defer cancel()
	return b.own.Stop(ctx)
}

// given uses a server by URL: its databases are made beside the one named.
func given(server string) *databases {
	return &databases{
		url: func(name string) (string, error) {
			cfg, err := pgx.ParseConfig(server)
			if err != nil {
				return "", fmt.Errorf("database: %w", err)
			}
			return withDatabase(server, cfg.Database, name)
		},
		make: func(ctx context.Context, name string) error {
			conn, err := pgx.Connect(ctx, server)
			if err != nil {
				return fmt.Errorf("database: %w", err)
			}
			defer conn.Close(ctx)
			if err := database.Create(ctx, conn, name); err != nil && !duplicateDatabase(err) {
				return fmt.Errorf("make database %s: %w", name, err)
			}
			return nil
		},
	}
}

// directoryName and shardName are the databases' names on dev's server.
const directoryName = "visavis_directory"

func shardName(n int) string { return fmt.Sprintf("shard-%d", n) }

func shardDatabase(n int) string {
	return "visavis_" + strings.ReplaceAll(shardName(n), "-", "_")
}
