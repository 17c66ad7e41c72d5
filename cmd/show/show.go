// Package show is the commands that show the platform, their names and flags: `visavis
// admin show` runs them on the databases, and `kubectl visavis` by way of a pod that has
// them.
package show

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// AttachedFlag ends a command that follows when its standard input does: the process
// in a pod is not told otherwise that nobody looks any more.
const AttachedFlag = "attached"

// all bounds a list unless --limit says otherwise.
const all = 500

// Outputs are the forms that lists are shown in, the first one unless another is asked
// for.
var Outputs = []string{"table", "wide", "json", "yaml"}

// Run runs one of the commands, which says by its name which one it is.
type Run func(cmd *cobra.Command, args []string) error

// Commands are the commands.
func Commands(run Run) []*cobra.Command {
	show := func(cmd *cobra.Command) *cobra.Command {
		cmd.RunE = run
		cmd.Flags().StringP("output", "o", Outputs[0], "one of "+strings.Join(Outputs, ", "))
		return cmd
	}
	listed := func(cmd *cobra.Command) *cobra.Command {
		cmd.Flags().StringP("organisation", "O", "", "only those of one organization, by its id or slug")
		cmd.Flags().Int("limit", all, "how many at most")
		return show(cmd)
	}
	webhooks := listed(&cobra.Command{
		Use: "webhooks", Aliases: []string{"webhook", "wh"}, Short: "All webhooks, those made through the API too", Args: cobra.NoArgs,
	})
	webhooks.Flags().Bool("failing", false, "only those that fail or are paused")
	deliveries := show(&cobra.Command{
		Use: "deliveries ORGANISATION", Aliases: []string{"delivery"}, Short: "An organization's latest deliveries", Args: cobra.ExactArgs(1),
	})
	deliveriesFlags(deliveries.Flags())
	return []*cobra.Command{
		show(&cobra.Command{Use: "orgs", Aliases: []string{"org", "organisations"}, Short: "All organizations", Args: cobra.NoArgs}),
		show(&cobra.Command{Use: "shards", Aliases: []string{"shard"}, Short: "All shards, with their load", Args: cobra.NoArgs}),
		webhooks,
		listed(&cobra.Command{Use: "portals", Aliases: []string{"portal"}, Short: "All portals, those made through the API too", Args: cobra.NoArgs}),
		deliveries,
		show(&cobra.Command{Use: "limits ORGANISATION", Aliases: []string{"limit"}, Short: "An organization's limits, and what of them is in use", Args: cobra.ExactArgs(1)}),
	}
}

func deliveriesFlags(f *pflag.FlagSet) {
	f.String("webhook", "", "only those of one webhook, wh_…")
	f.StringSlice("state", nil, "only those in a state: pending, retrying, delivered, failed; repeatable")
	f.Int("limit", 50, "how many at most")
	f.BoolP("follow", "f", false, "go on showing attempts as they are made, until Ctrl-C")
	f.Bool(AttachedFlag, false, "stop following when the standard input ends")
	_ = f.MarkHidden(AttachedFlag) // fails only for a flag that does not exist
}
