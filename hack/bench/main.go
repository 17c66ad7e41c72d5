// Command bench prints the figures that the API is held to, each beside its
// floor from the same run, in lines that benchstat reads. It needs a database
// server (hack/withdb gives it one) and runs visavis api as processes of their
// own, as in production.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"visavis.dev/pkg/text/extract/sandbox"
)

func main() {
	sandbox.Become()
	if len(os.Args) == 4 && os.Args[1] == bareRole {
		exit(serveBare(os.Args[2], os.Args[3]))
	}
	if len(os.Args) == 4 && os.Args[1] == staticRole {
		exit(serveStatic(os.Args[2], os.Args[3]))
	}
	if len(os.Args) == 4 && os.Args[1] == speakRole {
		exit(speakBare(os.Args[2], os.Args[3]))
	}
	if len(os.Args) == 4 && os.Args[1] == bareAgentRole {
		exit(serveBareAgent(os.Args[2], os.Args[3]))
	}
	ctrl.SetLogger(logr.Discard())
	exit(run(context.Background()))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run(ctx context.Context) error {
	f, err := newFixture(ctx)
	if err != nil {
		return err
	}
	defer f.close()
	fmt.Println("goos: linux")
	fmt.Println("pkg: visavis.dev/hack/bench")
	for _, m := range measures {
		if len(os.Args) > 1 && !slices.Contains(os.Args[1:], m.name) {
			continue
		}
		if err := m.run(ctx, f); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return nil
}

// measures are what is measured; naming some on the command line leaves out
// the others.
var measures = []struct {
	name string
	run  func(context.Context, *fixture) error
}{
	{"roles", roles},
	{"throughput", throughput},
	{"limit", exactLimit},
	{"memory", memory},
	{"idle", resting},
	{"change", changing},
	{"delivery", delivering},
	{"isolation", isolation},
	{"page", page},
	{"dashboards", boards},
	{"assigning", assigning},
	{"talking", talking},
	{"speaking", speaking},
	{"agents", asking},
	{"knowledge", knowing},
	{"reading", reading},
	{"search", searching},
	{"searchmemory", searchMemory},
	{"move", moving},
	{"operator", operating},
}

// figure is one number with its unit.
type figure struct {
	value float64
	unit  string
}

// report writes one line as go test -bench does.
func report(name string, n int, figures ...figure) {
	fmt.Printf("Benchmark%s\t%8d", name, n)
	for _, f := range figures {
		fmt.Printf("\t%12.3f %s", f.value, f.unit)
	}
	fmt.Println()
}
