package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// configCommand shows the settings of the API, and by a command of its name each
// role's: they have not all the same, nor the same defaults.
func configCommand() *cobra.Command {
	cmd := configOf(apiCommand())
	cmd.Use, cmd.Short = "config", "Show every setting of a role (api unless given), its value and where that came from"
	for _, role := range []*cobra.Command{apiCommand(), devCommand(), operatorCommand(), portalCommand(), workerCommand()} {
		cmd.AddCommand(configOf(role))
	}
	return cmd
}

// configOf shows the settings of a role.
func configOf(role *cobra.Command) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   role.Name(),
		Short: "Show every setting of visavis " + role.Name(),
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return showConfig(cmd, asJSON) },
	}
	cmd.Flags().AddFlagSet(role.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// setting is one line of the answer.
type setting struct {
	Name        string `json:"name"`
	Value       string `json:"value"`
	Source      string `json:"source"`
	Environment string `json:"environment"`
	Meaning     string `json:"meaning"`
}

func showConfig(cmd *cobra.Command, asJSON bool) error {
	var all []setting
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name == "json" || f.Name == "help" {
			return
		}
		_, usage := pflag.UnquoteUsage(f)
		all = append(all, setting{f.Name, redact(f.Value.String()), f.Annotations[sourceAnnotation][0], envName(f.Name), usage})
	})
	if asJSON {
		return printJSON(cmd, all)
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SETTING\tVALUE\tFROM\tENVIRONMENT\tMEANING")
	for _, s := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", s.Name, s.Value, s.Source, s.Environment, s.Meaning)
	}
	return w.Flush()
}

// redact hides the password of a URL.
func redact(value string) string {
	if u, err := url.Parse(value); err == nil && u.User != nil {
		return u.Redacted()
	}
	return value
}

func printJSON(cmd *cobra.Command, v any) error {
	e := json.NewEncoder(cmd.OutOrStdout())
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
