// Command kubectl-visavis is a plugin of kubectl, `kubectl visavis`: it shows the platform
// that runs in a cluster.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// built is the version that a release is built as, which the linker sets.
var built string

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	// A second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	err := pluginCommand().ExecuteContext(ctx)
	if exit, ok := errors.AsType[*exitError](err); ok {
		return exit.code
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "kubectl-visavis:", err)
		return 1
	}
	return 0
}
