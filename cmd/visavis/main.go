// Command visavis is the whole platform in one binary; each role is a
// subcommand in a file of its own.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"visavis.dev/pkg/text/extract/sandbox"
)

func main() {
	sandbox.Become()
	os.Exit(run())
}

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	// A second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	command, err := root().ExecuteContextC(ctx)
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "visavis:", err)
		return statusOf(command, err)
	}
	return 0
}

func root() *cobra.Command {
	cmd := &cobra.Command{
		Use:           "visavis",
		Short:         "Real-time conversational avatars for organizations",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version(),
		// Every setting can come from a flag, the environment or a file.
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return errors.Join(tuneMemory(), resolve(cmd.Flags()))
		},
	}
	cmd.PersistentFlags().String(configFlag, "", "YAML `FILE` with settings, named as the flags are")
	cmd.AddCommand(devCommand(), apiCommand(), workerCommand(), portalCommand(), operatorCommand(), migrateCommand(), adminCommand(), configCommand(), crdsCommand(), probeCommand(), verifyCommand(), handOverCommand())
	return cmd
}
