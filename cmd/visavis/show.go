package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"visavis.dev/cmd/show"
	"visavis.dev/pkg/operations/overview"
)

// showing shows something of the platform.
type showing func(ctx context.Context, v *overview.View, cmd *cobra.Command, args []string) error

// showings are what the commands show, by their names.
var showings = map[string]showing{
	"orgs": showOrganizations, "shards": showShards, "webhooks": showWebhooks, "portals": showPortals, "deliveries": showDeliveries, "limits": showLimits,
}

// showCommand shows the platform from its databases.
func (a *admin) showCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "show", Short: "Show what there is, on every shard"}
	cmd.AddCommand(show.Commands(func(cmd *cobra.Command, args []string) error {
		if err := a.open(); err != nil {
			return err
		}
		defer a.close()
		return showings[cmd.Name()](cmd.Context(), &overview.View{Directory: a.directory, Tenants: a.tenants, Catalogue: a.catalogue}, cmd, args)
	})...)
	return cmd
}

// among are the organizations that --organization names, or all.
func among(ctx context.Context, v *overview.View, cmd *cobra.Command) ([]overview.Organization, error) {
	name, err := cmd.Flags().GetString("organisation")
	if err != nil || name == "" {
		return v.Organizations(ctx)
	}
	o, err := v.Organization(ctx, name)
	return []overview.Organization{o}, err
}

func showOrganizations(ctx context.Context, v *overview.View, cmd *cobra.Command, _ []string) error {
	found, err := v.Organizations(ctx)
	if err != nil {
		return err
	}
	return printList(cmd, found, []column[overview.Organization]{
		{"ORGANISATION", false, func(o overview.Organization) string { return o.Slug }},
		{"ID", false, func(o overview.Organization) string { return o.ID.String() }},
		{"PLAN", false, func(o overview.Organization) string { return o.Plan }},
		{"SHARD", false, func(o overview.Organization) string { return o.Shard }},
		{"PAUSED", false, func(o overview.Organization) string { return strconv.FormatBool(o.PausedAt != nil) }},
		{"MANAGED BY", false, func(o overview.Organization) string { return o.ManagedBy.String() }},
		{"NAME", true, func(o overview.Organization) string { return o.Name }},
		{"REGION", true, func(o overview.Organization) string { return o.Region }},
		{"AGE", false, func(o overview.Organization) string { return age(o.CreatedAt) }},
	})
}

func showShards(ctx context.Context, v *overview.View, cmd *cobra.Command, _ []string) error {
	found, err := v.Shards(ctx)
	if err != nil {
		return err
	}
	figure := func(s overview.Shard, text string) string {
		if s.Problem != "" {
			return "-"
		}
		return text
	}
	return printList(cmd, found, []column[overview.Shard]{
		{"SHARD", false, func(s overview.Shard) string { return s.Name }},
		{"TIER", false, func(s overview.Shard) string { return s.Tier }},
		{"ORGANISATIONS", false, func(s overview.Shard) string { return strconv.FormatInt(s.Organizations, 10) }},
		{"SESSIONS", false, func(s overview.Shard) string { return figure(s, strconv.FormatInt(s.LiveSessions, 10)) }},
		{"BACKLOG", false, func(s overview.Shard) string { return figure(s, fmt.Sprintf("%.0fs", s.BacklogAgeS)) }},
		{"SCHEMA", false, func(s overview.Shard) string {
			return figure(s, fmt.Sprintf("%d/%d", s.SchemaVersion, s.SchemaWanted))
		}},
		{"PROBLEM", false, func(s overview.Shard) string { return orDash(s.Problem) }},
		{"DATABASE", true, func(s overview.Shard) string { return s.Database }},
		{"MANAGED BY", false, func(s overview.Shard) string { return s.ManagedBy.String() }},
		{"AGE", false, func(s overview.Shard) string { return age(s.CreatedAt) }},
	})
}

func showWebhooks(ctx context.Context, v *overview.View, cmd *cobra.Command, _ []string) error {
	orgs, err := among(ctx, v, cmd)
	if err != nil {
		return err
	}
	failing, _ := cmd.Flags().GetBool("failing") // defined where the command is
	limit, _ := cmd.Flags().GetInt("limit")
	found, err := v.Webhooks(ctx, orgs, failing, limit)
	if !answered(err) {
		return err
	}
	noteMore(cmd, len(found), limit)
	return errors.Join(err, printList(cmd, found, []column[overview.Webhook]{
		{"ORGANISATION", false, func(w overview.Webhook) string { return w.Slug }},
		{"ID", false, func(w overview.Webhook) string { return w.ID.String() }},
		{"ENDPOINT", false, func(w overview.Webhook) string { return w.Endpoint }},
		{"STATE", false, webhookState},
		{"WAITING", false, func(w overview.Webhook) string { return strconv.FormatInt(w.Waiting, 10) }},
		{"MANAGED BY", false, func(w overview.Webhook) string { return w.ManagedBy.String() }},
		{"SHARD", true, func(w overview.Webhook) string { return w.Shard }},
		{"EVENTS", true, func(w overview.Webhook) string { return strings.Join(w.Events, ",") }},
		{"FAILING SINCE", true, func(w overview.Webhook) string { return moment(w.FailingSince) }},
		{"AGE", false, func(w overview.Webhook) string { return age(w.CreatedAt) }},
	}))
}

func webhookState(w overview.Webhook) string {
	switch {
	case w.PausedAt != nil:
		return "paused"
	case !w.Active:
		return "off"
	case w.FailingSince != nil:
		return "failing"
	}
	return "active"
}

func showPortals(ctx context.Context, v *overview.View, cmd *cobra.Command, _ []string) error {
	orgs, err := among(ctx, v, cmd)
	if err != nil {
		return err
	}
	limit, _ := cmd.Flags().GetInt("limit")
	found, err := v.Portals(ctx, orgs, limit)
	if !answered(err) {
		return err
	}
	noteMore(cmd, len(found), limit)
	return errors.Join(err, printList(cmd, found, []column[overview.Portal]{
		{"ORGANISATION", false, func(p overview.Portal) string { return p.Owner.Slug }},
		{"ID", false, func(p overview.Portal) string { return p.ID.String() }},
		{"SLUG", false, func(p overview.Portal) string { return p.Slug }},
		{"HOST", false, func(p overview.Portal) string { return orDash(p.Host) }},
		{"STATE", false, func(p overview.Portal) string { return p.State }},
		{"VERSION", false, func(p overview.Portal) string {
			if p.PublishedVersion == nil {
				return "-"
			}
			return strconv.FormatInt(*p.PublishedVersion, 10)
		}},
		{"MANAGED BY", false, func(p overview.Portal) string { return p.ManagedBy.String() }},
		{"NAME", true, func(p overview.Portal) string { return p.Name }},
		{"SHARD", true, func(p overview.Portal) string { return p.Shard }},
		{"AGE", false, func(p overview.Portal) string { return age(p.CreatedAt) }},
	}))
}

func showLimits(ctx context.Context, v *overview.View, cmd *cobra.Command, args []string) error {
	o, err := v.Organization(ctx, args[0])
	if err != nil {
		return err
	}
	found, err := v.Limits(ctx, o)
	if err != nil {
		return err
	}
	bound := func(n *int64) string {
		if n == nil {
			return "unlimited"
		}
		return strconv.FormatInt(*n, 10)
	}
	return printList(cmd, found, []column[overview.Limit]{
		{"LIMIT", false, func(l overview.Limit) string { return l.Name }},
		{"USED", false, func(l overview.Limit) string {
			if l.Used == nil {
				return "-"
			}
			return strconv.FormatInt(*l.Used, 10)
		}},
		{"VALUE", false, func(l overview.Limit) string { return bound(l.Value) }},
		{"FROM", false, func(l overview.Limit) string {
			if l.Own {
				return "organisation"
			}
			return "plan " + o.Plan
		}},
		{"PLAN'S", true, func(l overview.Limit) string { return bound(l.Plan) }},
	})
}

// answered says whether there is something to show: everything, or what the shards have
// that did answer. The others are told of after it, by the command's error.
func answered(err error) bool {
	_, partly := errors.AsType[*overview.Missing](err)
	return err == nil || partly
}

// noteMore says that there may be more than was shown.
func noteMore(cmd *cobra.Command, found, limit int) {
	if found >= limit {
		fmt.Fprintf(cmd.ErrOrStderr(), "There may be more than these %d: see --limit.\n", limit)
	}
}

// age is how long something has been there, as kubectl says it.
func age(since time.Time) string { return shortDuration(time.Since(since)) }

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
