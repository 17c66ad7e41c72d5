package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
)

func apiCommand() *cobra.Command {
	var s settings
	cmd := &cobra.Command{
		Use:   "api",
		Short: "Answer the HTTP API",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return runRole(cmd, &s, duties{api: true}) },
	}
	s.directoryFlag(cmd.Flags())
	s.serving(cmd.Flags())
	s.bucket(cmd.Flags())
	s.logging(cmd.Flags(), "json")
	return cmd
}

func portalCommand() *cobra.Command {
	var s settings
	cmd := &cobra.Command{
		Use:   "portal",
		Short: "Show the portals' pages and hold live conversations",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return runRole(cmd, &s, duties{live: true}) },
	}
	s.directoryFlag(cmd.Flags())
	s.serving(cmd.Flags())
	s.talking(cmd.Flags())
	s.bucket(cmd.Flags())
	s.logging(cmd.Flags(), "json")
	return cmd
}

func workerCommand() *cobra.Command {
	var s settings
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Deliver webhooks, advance jobs and run the recurring tasks",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return runRole(cmd, &s, duties{work: true}) },
	}
	s.directoryFlag(cmd.Flags())
	s.running(cmd.Flags())
	s.working(cmd.Flags())
	cmd.Flags().StringSliceVar(&s.shards, "shard", nil, "`NAME` of a shard to work for; repeatable (every shard unless given)")
	cmd.Flags().StringSliceVar(&s.tasks, "tasks", nil, "what to do, of "+strings.Join(taskNames, ", ")+": deliver webhooks, make jobs and the recurring tasks, or those jobs that read documents and pages (all of it unless given)")
	cmd.Flags().StringVar(&s.dedicated, "dedicated", "", "`ID` of the webhook (wh_…) or organization (org_…) to deliver for alone, doing nothing else")
	s.bucket(cmd.Flags())
	s.logging(cmd.Flags(), "json")
	s.pods, s.addressLimit = 1, 1 // a worker counts no requests
	return cmd
}

// errNoDatabase asks for the one setting that has no default.
var errNoDatabase = errors.New("database is required: --database postgres://… or VISAVIS_DATABASE")

// defaultFiles is where files go unless a bucket is named.
const defaultFiles = "/var/lib/visavis/files"

func runRole(cmd *cobra.Command, s *settings, d duties) error {
	if s.database == "" {
		return errNoDatabase
	}
	if s.files == "" {
		url, err := folderURL(defaultFiles)
		if err != nil {
			return err
		}
		s.files = url
	}
	log, flush, err := s.logger()
	if err != nil {
		return err
	}
	defer flush()
	p, err := newProcess(cmd.Context(), s, log, d)
	if err != nil {
		return err
	}
	return p.run(cmd.Context())
}
