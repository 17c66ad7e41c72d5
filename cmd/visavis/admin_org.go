package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/managed"
	"visavis.dev/pkg/eventing/usage"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/organization"
)

func (a *admin) orgCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "org", Short: "Organizations"}
	cmd.AddCommand(a.orgCreate(), a.orgDelete(), a.orgList(), a.orgSetPlan(), a.orgSetLimit(), a.orgAddMinutes(), a.orgPause(), a.orgResume(),
		a.orgMove(), a.orgMoveStatus(), a.orgMoveCancel())
	return cmd
}

func (a *admin) orgCreate() *cobra.Command {
	var o directory.Organization
	cmd := a.does(&cobra.Command{Use: "create NAME", Short: "Make an organization", Args: cobra.ExactArgs(1)},
		func(ctx context.Context, cmd *cobra.Command, args []string) error {
			o.ID, o.Name, o.Epoch, o.CreatedAt = id.NewOrg(), args[0], 1, now()
			if o.Slug == "" {
				o.Slug = organization.Slug(o.Name)
			}
			if o.Slug == "" {
				return fmt.Errorf("no slug can be made of %q: give one with --slug", o.Name)
			}
			if _, ok := a.catalogue.Plan(o.Plan); !ok {
				return a.noPlan(o.Plan)
			}
			if o.Shard == "" {
				shard, err := organization.Place(ctx, a.directory)
				if errors.Is(err, organization.ErrNoShard) {
					return fmt.Errorf("%w: make one with visavis admin shard add", err)
				}
				if err != nil {
					return err
				}
				o.Shard = shard
			}
			if err := organization.Create(ctx, a.directory, a.tenants, o); err != nil {
				return err
			}
			return a.print(cmd, o, func(w io.Writer) { fmt.Fprintf(w, "%s is made, on %s\n", o.ID, o.Shard) })
		})
	f := cmd.Flags()
	f.StringVar(&o.Slug, "slug", "", "short name in addresses (of the name unless given)")
	f.StringVar(&o.Plan, "plan", "starter", "plan")
	f.StringVar(&o.Shard, "shard", "", "shard (the shared one with the fewest organizations unless given)")
	f.StringVar(&o.Region, "region", "eu", "region")
	f.StringVar(&o.Timezone, "timezone", "UTC", "time zone")
	return cmd
}

func (a *admin) orgList() *cobra.Command {
	return a.does(&cobra.Command{Use: "list", Short: "List the organizations", Args: cobra.NoArgs},
		func(ctx context.Context, cmd *cobra.Command, _ []string) error {
			orgs, err := a.directory.Organizations(ctx)
			if err != nil {
				return err
			}
			return a.print(cmd, orgs, func(w io.Writer) {
				fmt.Fprintln(w, "ID\tNAME\tSLUG\tSHARD\tPLAN\tPAUSED\tCREATED")
				for _, o := range orgs {
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%v\t%s\n", o.ID, o.Name, o.Slug, o.Shard, o.Plan,
						o.PausedAt != nil, o.CreatedAt.Format(time.DateOnly))
				}
			})
		})
}

func (a *admin) orgSetPlan() *cobra.Command {
	return a.does(&cobra.Command{Use: "set-plan ORG PLAN", Short: "Move an organization to a plan", Args: cobra.ExactArgs(2)},
		func(ctx context.Context, cmd *cobra.Command, args []string) error {
			if _, ok := a.catalogue.Plan(args[1]); !ok {
				return a.noPlan(args[1])
			}
			return a.changeOrg(ctx, cmd, args[0], func(o directory.Organization) error {
				return a.directory.SetPlan(ctx, o.ID, args[1])
			})
		})
}

func (a *admin) noPlan(key string) error {
	var keys []string
	for _, p := range a.catalogue.Plans() {
		keys = append(keys, p.Key)
	}
	return fmt.Errorf("there is no plan %q; the plans are %v", key, keys)
}

func (a *admin) orgSetLimit() *cobra.Command {
	return a.does(&cobra.Command{
		Use:   "set-limit ORG LIMIT VALUE",
		Short: "Give an organization a limit of its own",
		Long: "LIMIT is a limit of the plans, such as customAvatars, or a rate class (read, write, live, heavy, search).\n" +
			"VALUE is a number, unlimited, or plan for the plan's own; for a rate class PER_KEY/PER_ORGANIZATION.",
		Args: cobra.ExactArgs(3),
	}, func(ctx context.Context, cmd *cobra.Command, args []string) error {
		return a.changeOrg(ctx, cmd, args[0], func(o directory.Organization) error {
			if err := o.Overrides.Parse(args[1], args[2]); err != nil {
				return err
			}
			return a.directory.SetOverrides(ctx, o.ID, o.Overrides)
		})
	})
}

func (a *admin) orgAddMinutes() *cobra.Command {
	return a.does(&cobra.Command{Use: "add-minutes ORG MINUTES", Short: "Give an organization prepaid minutes", Args: cobra.ExactArgs(2)},
		func(ctx context.Context, cmd *cobra.Command, args []string) error {
			minutes, err := strconv.ParseInt(args[1], 10, 32)
			if err != nil || minutes < 1 {
				return fmt.Errorf("%q is not a number of minutes", args[1])
			}
			// What was paid for is no part of what a resource declares.
			return a.change(ctx, cmd, args[0], func(o directory.Organization) error {
				return usage.GrantMinutes(ctx, a.tenants, o.ID, uuid.Must(uuid.NewV7()), minutes, now(), nil)
			})
		})
}

func (a *admin) orgPause() *cobra.Command {
	var reason string
	cmd := a.does(&cobra.Command{Use: "pause ORG", Short: "Keep an organization from starting sessions", Args: cobra.ExactArgs(1)},
		func(ctx context.Context, cmd *cobra.Command, args []string) error {
			return a.changeOrg(ctx, cmd, args[0], func(o directory.Organization) error {
				return a.directory.Pause(ctx, o.ID, reason)
			})
		})
	cmd.Flags().StringVar(&reason, "reason", "paused by the operator", "what the organization is told")
	return cmd
}

func (a *admin) orgResume() *cobra.Command {
	return a.does(&cobra.Command{Use: "resume ORG", Short: "End a pause", Args: cobra.ExactArgs(1)},
		func(ctx context.Context, cmd *cobra.Command, args []string) error {
			return a.changeOrg(ctx, cmd, args[0], func(o directory.Organization) error {
				return a.directory.Resume(ctx, o.ID)
			})
		})
}

// changeOrg is change for what a resource that manages the organization declares.
func (a *admin) changeOrg(ctx context.Context, cmd *cobra.Command, arg string, change func(directory.Organization) error) error {
	return a.change(ctx, cmd, arg, func(o directory.Organization) error {
		if err := o.ManagedBy.Check(managed.API, "organization", o.ID.String()); err != nil {
			return fmt.Errorf("%s (%s) is managed by %s: change it there", o.ID, o.Name, o.ManagedBy)
		}
		return change(o)
	})
}

// change changes an organization and shows it as it is then.
func (a *admin) change(ctx context.Context, cmd *cobra.Command, arg string, change func(directory.Organization) error) error {
	o, err := a.organization(ctx, arg)
	if err != nil {
		return err
	}
	if err := change(o); err != nil {
		return err
	}
	if o, err = a.directory.Organization(ctx, o.ID); err != nil {
		return err
	}
	return a.print(cmd, o, func(w io.Writer) { fmt.Fprintf(w, "%s (%s) is changed\n", o.ID, o.Name) })
}

// now is the moment in the microseconds that a database keeps.
func now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }
