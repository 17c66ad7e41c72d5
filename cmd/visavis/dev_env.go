package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
)

// devEnvCommand prints what a shell needs to call the API of a visavis dev, for eval.
func devEnvCommand() *cobra.Command {
	var dataDir string
	cmd := &cobra.Command{
		Use:   "env",
		Short: "Print the address and a key of a visavis dev, for a shell to eval",
		Long: "Print the address of the API and a key of the first organization as lines that a shell takes:\n\n" +
			"  eval \"$(visavis dev env)\"\n  curl -H \"Authorization: Bearer $VISAVIS_KEY\" \"$VISAVIS_API/me\"",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			path := filepath.Join(dataDir, credentialsFile)
			c, err := readCredentials(path)
			if err != nil {
				return err
			}
			if c == nil || len(c.Organizations) == 0 {
				return errors.New(path + " is not there yet: start visavis dev first, or name its folder with --data-dir")
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "export VISAVIS_API=%s\nexport VISAVIS_KEY=%s\n", c.BaseURL, c.Organizations[0].Keys.New)
			return err
		},
	}
	cmd.Flags().StringVar(&dataDir, "data-dir", defaultDataDir, "`FOLDER` of the visavis dev")
	return cmd
}
