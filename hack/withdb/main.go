// Command withdb runs a command with a database server for tests beside it,
// and stops the server when the command ends. With -durable the server syncs
// what it commits, as in production; tests do without.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"visavis.dev/pkg/store/database/databasetest"
)

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "withdb:", err)
		code = 1
	}
	os.Exit(code)
}

func run(args []string) (code int, err error) {
	durable := len(args) > 0 && args[0] == "-durable"
	if durable {
		args = args[1:]
	}
	if len(args) == 0 {
		return 1, errors.New("usage: withdb [-durable] COMMAND [ARGUMENT…]")
	}
	url, stop, err := databasetest.Start(context.Background(), durable)
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), databasetest.Env+"="+url)
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	return 0, err
}
