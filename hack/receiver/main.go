// Command receiver is a webhook receiver as a process of its own, for programs
// that load or break the service: see package endpoint for what it does. It
// keeps counts only, which its control listener tells.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"visavis.dev/hack/receiver/endpoint"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "receiver:", err)
		os.Exit(1)
	}
}

// settings are the flags.
type settings struct {
	options         endpoint.Options
	endpoints       map[string]endpoint.Behaviour
	caFile, control string
}

// addresses are told in one line of JSON once all of them answer.
type addresses struct {
	URL          string `json:"url"`
	WrongURL     string `json:"wrongUrl"`
	ExpiredURL   string `json:"expiredUrl"`
	UntrustedURL string `json:"untrustedUrl"`
	ControlURL   string `json:"controlUrl"`
}

// run receives until the context ends.
func run(ctx context.Context, args []string, out io.Writer) error {
	set, err := parseFlags(args)
	if err != nil {
		return err
	}
	server, err := endpoint.Start(set.options)
	if err != nil {
		return err
	}
	defer server.Close()
	for path, b := range set.endpoints {
		server.Set(path, b)
	}
	if set.caFile != "" {
		if err := os.WriteFile(set.caFile, server.CA(), 0o644); err != nil {
			return err
		}
	}
	listener, err := net.Listen("tcp", set.control)
	if err != nil {
		return err
	}
	// The listener is open: who reads the line may ask at once.
	err = json.NewEncoder(out).Encode(addresses{
		URL: server.URL(""), WrongURL: server.WrongURL(""), ExpiredURL: server.ExpiredURL(""),
		UntrustedURL: server.UntrustedURL(""), ControlURL: "http://" + listener.Addr().String(),
	})
	if err != nil {
		listener.Close()
		return err
	}
	return serveControl(ctx, listener, control{server, set.options.Default.Secret})
}

func parseFlags(args []string) (settings, error) {
	s := settings{endpoints: map[string]endpoint.Behaviour{}}
	s.options.CountOnly = true
	flags := flag.NewFlagSet("receiver", flag.ContinueOnError)
	flags.StringVar(&s.options.Addr, "addr", "127.0.0.1:0", "host:port to receive on")
	flags.StringVar(&s.options.Default.Secret, "secret", "", "secret of the endpoints that have none of their own")
	flags.StringVar(&s.caFile, "ca-file", "", "file to write the CA to trust to")
	flags.StringVar(&s.control, "control", "127.0.0.1:0", "loopback host:port to be controlled on")
	flags.Func("name", "another host name of the certificate (repeatable)", func(name string) error {
		s.options.Names = append(s.options.Names, name)
		return nil
	})
	flags.Func("endpoint", "/path=behaviour, such as /slow=latency:2s,status:503 (repeatable)", func(text string) error {
		path, behaviour, _ := strings.Cut(text, "=")
		if !strings.HasPrefix(path, "/") {
			return errors.New("a path begins with a slash")
		}
		b, err := parseBehaviour(behaviour)
		s.endpoints[path] = b
		return err
	})
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if flags.NArg() > 0 {
		return s, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	for path, b := range s.endpoints {
		b.Secret = cmp.Or(b.Secret, s.options.Default.Secret)
		s.endpoints[path] = b
	}
	return s, nil
}
