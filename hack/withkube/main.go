// Command withkube runs a command with a Kubernetes API server for tests beside
// it, and stops the server when the command ends. Its programs come from
// KUBEBUILDER_ASSETS, or are built from Go modules the first time.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"visavis.dev/hack/cluster/binaries"
	"visavis.dev/operator/operatortest"
)

func main() {
	ctrl.SetLogger(logr.Discard()) // it speaks by errors; without a logger it prints a stack trace
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "withkube:", err)
		code = 1
	}
	os.Exit(code)
}

func run(args []string) (code int, err error) {
	if len(args) == 0 {
		return 1, errors.New("usage: withkube COMMAND [ARGUMENT…]")
	}
	// The server is stopped on an interrupt too: it would not end by itself.
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := assets(ctx); err != nil {
		return 1, err
	}
	kubeconfig, stop, err := operatortest.Start()
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, stop()) }()

	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), operatortest.Env+"="+kubeconfig)
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// assets sees to it that the environment names the server's programs.
func assets(ctx context.Context) error {
	if os.Getenv(operatortest.AssetsEnv) != "" {
		return nil
	}
	root, err := binaries.Root()
	if err != nil {
		return err
	}
	builder, err := binaries.New(root)
	if err != nil {
		return err
	}
	folder, err := builder.Folder(ctx, binaries.ControlPlane()...)
	if err != nil {
		return err
	}
	return os.Setenv(operatortest.AssetsEnv, folder)
}
