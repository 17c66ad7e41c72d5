package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"visavis.dev/pkg/base/managed"
	"visavis.dev/pkg/store/directory"
)

func (a *admin) shardCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "shard", Short: "Shards"}
	cmd.AddCommand(a.shardAdd(), a.shardList())
	return cmd
}

func (a *admin) shardAdd() *cobra.Command {
	s := directory.Shard{ManagedBy: managed.API}
	var tier string
	cmd := a.does(&cobra.Command{Use: "add NAME", Short: "Migrate a database and enter it as a shard", Args: cobra.ExactArgs(1)},
		func(ctx context.Context, cmd *cobra.Command, args []string) error {
			s.Name = args[0]
			switch {
			case strings.EqualFold(tier, string(directory.Shared)):
				s.Tier = directory.Shared
			case strings.EqualFold(tier, string(directory.Dedicated)):
				s.Tier = directory.Dedicated
			default:
				return fmt.Errorf("tier %q: want %s or %s", tier, directory.Shared, directory.Dedicated)
			}
			version, err := migrateShard(ctx, s.URL, slog.New(slog.DiscardHandler))
			if err != nil {
				return err
			}
			if err := a.directory.PutShard(ctx, s); err != nil {
				return fmt.Errorf("shard %s: %w", s.Name, err)
			}
			return a.print(cmd, map[string]any{"name": s.Name, "tier": s.Tier, "version": version}, func(w io.Writer) {
				fmt.Fprintf(w, "shard %s is entered, at version %d\n", s.Name, version)
			})
		})
	f := cmd.Flags()
	f.StringVar(&s.URL, "url", "", "`URL` of the shard's database (postgres://…)")
	f.StringVar(&tier, "tier", string(directory.Shared), "which organizations it takes: any (Shared), or those that name it (Dedicated)")
	_ = cmd.MarkFlagRequired("url") // fails only for a flag that does not exist
	return cmd
}

func (a *admin) shardList() *cobra.Command {
	return a.does(&cobra.Command{Use: "list", Short: "List the shards", Args: cobra.NoArgs},
		func(ctx context.Context, cmd *cobra.Command, _ []string) error {
			shards, err := a.directory.Shards(ctx)
			if err != nil {
				return err
			}
			return a.print(cmd, shards, func(w io.Writer) {
				fmt.Fprintln(w, "NAME\tTIER\tDATABASE\tMANAGED BY\tCREATED")
				for _, s := range shards {
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", s.Name, s.Tier, redact(s.URL), s.ManagedBy, s.CreatedAt.Format(time.DateOnly))
				}
			})
		})
}
