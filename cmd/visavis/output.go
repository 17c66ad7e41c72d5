package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/yaml"

	"visavis.dev/cmd/show"
)

// column is one column of a list; wide ones are shown when asked for.
type column[T any] struct {
	head string
	wide bool
	cell func(T) string
}

// printList shows a list as --output has it.
func printList[T any](cmd *cobra.Command, list []T, columns []column[T]) error {
	form, err := cmd.Flags().GetString("output")
	if err != nil {
		return err
	}
	switch form {
	case "json":
		return printJSON(cmd, list)
	case "yaml":
		text, err := yaml.Marshal(list)
		if err != nil {
			return err
		}
		_, err = cmd.OutOrStdout().Write(text)
		return err
	case "table", "wide":
		w := tabwriter.NewWriter(show.Terminal(cmd.OutOrStdout()), 0, 0, 3, ' ', 0)
		printRows(w, list, columns, form == "wide", true)
		return w.Flush()
	}
	return fmt.Errorf("output %q: want one of %s", form, strings.Join(show.Outputs, ", "))
}

// printRows writes rows, and the names of the columns before them.
func printRows[T any](w *tabwriter.Writer, list []T, columns []column[T], wide, heads bool) {
	shown := slices.DeleteFunc(slices.Clone(columns), func(c column[T]) bool { return c.wide && !wide })
	line := func(cell func(column[T]) string) {
		cells := make([]string, len(shown))
		for i, c := range shown {
			cells[i] = cell(c)
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	if heads {
		line(func(c column[T]) string { return c.head })
	}
	for _, v := range list {
		line(func(c column[T]) string { return c.cell(v) })
	}
}

// shortDuration is a time span as kubectl says it: 12d, 3h4m.
func shortDuration(d time.Duration) string { return duration.HumanDuration(d) }
