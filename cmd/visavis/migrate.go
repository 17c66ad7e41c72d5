package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/pershard"

	"k8s.io/utils/clock"
)

func migrateCommand() *cobra.Command {
	var (
		s        settings
		shardURL string
		asJSON   bool
	)
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the directory and every shard to the current schema",
		Long: "Every shard is tried. One that fails is an error, but for those that Shard resources declare: the operator\n" +
			"migrates each of these before its pods start, so one that is away holds nothing else up.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if s.database == "" && shardURL == "" {
				return errNoDatabase
			}
			log, flush, err := s.logger()
			if err != nil {
				return err
			}
			defer flush()
			done, err := migrate(cmd.Context(), s.database, shardURL, log)
			if asJSON {
				return errors.Join(err, printJSON(cmd, done))
			}
			for _, d := range done {
				if d.Problem != "" {
					fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s is left to its resource, whose pods wait for it: %s\n", d.Database, d.Problem)
					continue
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s is at version %d\n", d.Database, d.Version)
			}
			return err
		},
	}
	s.directoryFlag(cmd.Flags())
	s.logging(cmd.Flags(), "text")
	cmd.Flags().StringVar(&shardURL, "shard-database", "", "`URL` of the one shard's database to bring up to date, in place of all; the directory is not asked")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// migrated is a database and the version it was brought to.
type migrated struct {
	Database string `json:"database"`
	Version  int64  `json:"version"`
	// Problem is why a shard that a resource declares was left to the operator.
	Problem string `json:"problem,omitempty"`
}

// migrate brings the directory, and every shard it knows, up to date; or else the one
// database of a shard. An error does not keep it from the next shard.
func migrate(ctx context.Context, directoryURL, shardURL string, log *slog.Logger) ([]migrated, error) {
	if shardURL != "" {
		at, err := migrateShard(ctx, shardURL, log)
		if err != nil {
			return nil, err
		}
		return []migrated{{Database: "the shard", Version: at}}, nil
	}
	db, err := database.Open(directoryURL, database.PoolOptions{})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	at, err := migrateOne(ctx, db, database.Directory, log)
	if err != nil {
		return nil, fmt.Errorf("the directory: %w", err)
	}
	done := []migrated{{Database: "directory", Version: at}}
	shards, err := directory.New(db, directory.Options{Clock: clock.RealClock{}}).Shards(ctx)
	if err != nil {
		return done, err
	}
	names := make([]string, len(shards))
	byName := map[string]directory.Shard{}
	for i, shard := range shards {
		names[i], byName[shard.Name] = shard.Name, shard
	}
	var failed []error
	// All at once: one that does not answer keeps no other waiting.
	for _, a := range pershard.Gather(ctx, names, migrateWithin, func(ctx context.Context, shard string) (int64, error) {
		return migrateShard(ctx, byName[shard].URL, log)
	}) {
		shard, err := byName[a.Shard], a.Err
		m := migrated{Database: "shard " + shard.Name, Version: a.Value}
		if err != nil {
			if _, declared := shard.ManagedBy.Resource(); !declared || ctx.Err() != nil {
				failed = append(failed, fmt.Errorf("shard %s: %w", shard.Name, err))
				continue
			}
			m.Problem = err.Error()
		}
		done = append(done, m)
	}
	return done, errors.Join(failed...)
}

// migrateWithin bounds the migration of one shard.
const migrateWithin = time.Hour

func migrateShard(ctx context.Context, url string, log *slog.Logger) (int64, error) {
	db, err := database.Open(url, database.PoolOptions{})
	if err != nil {
		return 0, err
	}
	defer db.Close()
	return migrateOne(ctx, db, database.Shard, log)
}

func migrateOne(ctx context.Context, db *database.DB, schema database.Schema, log *slog.Logger) (int64, error) {
	if err := db.Migrate(ctx, schema, log); err != nil {
		return 0, err
	}
	have, _, err := db.Version(ctx, schema)
	return have, err
}
