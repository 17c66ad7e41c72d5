package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"visavis.dev/cmd/show"
	"visavis.dev/config"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/rate"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
)

// admin is the hand tool of those who run the platform. It works on the
// databases directly, so it does its work when no API answers.
type admin struct {
	settings
	asJSON bool

	directory *directory.Directory
	tenants   *tenant.Tenants
	keys      *apikey.Store
	catalogue *plan.Catalogue
}

func adminCommand() *cobra.Command {
	var a admin
	cmd := &cobra.Command{Use: "admin", Short: "Work on organizations, keys and shards by hand"}
	a.directoryFlag(cmd.PersistentFlags())
	cmd.PersistentFlags().StringVar(&a.plans, "plans", "", "YAML `FILE` of the plans (built-in plans unless given)")
	cmd.PersistentFlags().BoolVar(&a.asJSON, "json", false, "print JSON")
	cmd.AddCommand(a.orgCommand(), a.keyCommand(), a.shardCommand(), a.showCommand(), a.webhooksCommand())
	return cmd
}

// does makes a command that runs with the databases open.
func (a *admin) does(cmd *cobra.Command, run func(ctx context.Context, cmd *cobra.Command, args []string) error) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.open(); err != nil {
			return err
		}
		defer a.close()
		return run(cmd.Context(), cmd, args)
	}
	return cmd
}

func (a *admin) open() error {
	if a.database == "" {
		return errNoDatabase
	}
	db, err := database.Open(a.database, database.PoolOptions{MaxConns: 2})
	if err != nil {
		return err
	}
	a.directory = directory.New(db, directory.Options{Clock: clock.RealClock{}})
	a.tenants = tenant.New(a.directory, database.PoolOptions{MaxConns: 2})
	a.keys = &apikey.Store{DB: db}
	text := config.Plans
	if a.plans != "" {
		if text, err = os.ReadFile(a.plans); err != nil {
			return fmt.Errorf("plans: %w", err)
		}
	}
	a.catalogue, err = plan.Parse(text, rate.SpecRates())
	return err
}

func (a *admin) close() {
	a.tenants.Close()
	a.directory.DB.Close()
}

// print shows a value as JSON or as a table.
func (a *admin) print(cmd *cobra.Command, v any, table func(w io.Writer)) error {
	if a.asJSON {
		return printJSON(cmd, v)
	}
	w := tabwriter.NewWriter(show.Terminal(cmd.OutOrStdout()), 0, 0, 2, ' ', 0)
	table(w)
	return w.Flush()
}

// organization finds the organization that an argument names, by its id or its slug.
func (a *admin) organization(ctx context.Context, arg string) (directory.Organization, error) {
	if org, err := id.ParseOrg(arg); err == nil {
		return a.directory.Organization(ctx, org)
	}
	return a.directory.OrganizationNamed(ctx, arg)
}
