// Command cluster is a Kubernetes for tests: the one KUBECONFIG names, else one
// in Docker by kind, else one built from Go modules on this machine. See
// docs/cluster.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"visavis.dev/hack/cluster/binaries"
	"visavis.dev/hack/cluster/node"
	"visavis.dev/hack/cluster/provider"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command().ExecuteContext(ctx)
	stop()
	if code, ok := errors.AsType[exited](err); ok {
		os.Exit(int(code))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

func command() *cobra.Command {
	root := &cobra.Command{
		Use: "cluster", Short: "A Kubernetes for tests",
		SilenceUsage: true, SilenceErrors: true,
	}
	root.AddCommand(
		&cobra.Command{
			Use: "up", Short: "Start it, unless it runs, and wait until it takes pods", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				r, err := here(cmd.Context())
				if err != nil {
					return err
				}
				return r.cluster.Up(cmd.Context())
			},
		},
		&cobra.Command{
			Use: "down", Short: "Stop what up started", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				r, err := here(cmd.Context())
				if err != nil {
					return err
				}
				return r.cluster.Down(cmd.Context())
			},
		},
		program("kubectl", "Run kubectl as the cluster's administrator"),
		program("helm", "Run helm as the cluster's administrator"),
		imageCommand(),
		&cobra.Command{
			Use: "path PROGRAM", Short: "Print where a pinned program is, which is built unless it is there", Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				r, err := here(cmd.Context())
				if err != nil {
					return err
				}
				folder, err := r.builder.Folder(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(cmd.OutOrStdout(), filepath.Join(folder, args[0]))
				return err
			},
		},
		&cobra.Command{
			Use: "env", Short: "Print what to eval in a shell: KUBECONFIG, PATH", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				r, err := here(cmd.Context())
				if err != nil {
					return err
				}
				return r.env(cmd.Context(), cmd.OutOrStdout())
			},
		},
		&cobra.Command{
			Use: node.FirstCommand, Hidden: true, Args: cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error { return node.First(node.State) },
		},
	)
	return root
}

func imageCommand() *cobra.Command {
	file := ""
	c := &cobra.Command{
		Use: "image [NAME [PROGRAM]]", Args: cobra.MaximumNArgs(2),
		Short: "Pack a package of the repository (./cmd/visavis) or a pinned program (traefik) into an image and load it",
		RunE: func(cmd *cobra.Command, args []string) error {
			name, source := "visavis:dev", "./cmd/visavis"
			if len(args) > 0 {
				name = args[0]
			}
			if len(args) > 1 {
				source = args[1]
			}
			r, err := here(cmd.Context())
			if err != nil {
				return err
			}
			if file != "" {
				return r.pack(cmd.Context(), file, name, source)
			}
			return r.load(cmd.Context(), name, source)
		},
	}
	c.Flags().StringVar(&file, "file", "", "only pack it, into `FILE`")
	return c
}

// run is a use of the cluster.
type run struct {
	root    string
	builder *binaries.Builder
	cluster provider.Cluster
}

// here is a run in the repository that the working folder is of.
func here(ctx context.Context) (run, error) {
	root, err := os.Getwd()
	if err != nil {
		return run{}, err
	}
	if _, err := os.Stat(filepath.Join(root, "hack", "cluster", "kubernetes", "go.mod")); err != nil {
		return run{}, fmt.Errorf("run it from the repository's folder: %w", err)
	}
	builder, err := binaries.New(root)
	if err != nil {
		return run{}, err
	}
	return run{root: root, builder: builder, cluster: provider.Choose(ctx, root, builder)}, nil
}

// program passes all of its arguments on to a pinned program.
func program(name, short string) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short, DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := here(cmd.Context())
			if err != nil {
				return err
			}
			folder, err := r.builder.Folder(cmd.Context(), tools()...)
			if err != nil {
				return err
			}
			child := exec.Command(filepath.Join(folder, name), args...)
			child.Env = append(os.Environ(), "KUBECONFIG="+r.cluster.Kubeconfig())
			child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
			err = child.Run()
			if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() > 0 {
				return exited(exit.ExitCode())
			}
			return err
		},
	}
}

// exited is the failure of a program that has said itself why.
type exited int

func (e exited) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// tools are what a person runs against the cluster.
func tools() []string { return []string{"helm", "kubectl"} }
