package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"visavis.dev/cmd/show"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/delivery"
	"visavis.dev/pkg/operations/overview"
)

// shownDeliveryLine is a delivery as the tool shows it.
type shownDeliveryLine struct {
	ID         id.Delivery    `json:"id"`
	Webhook    id.Webhook     `json:"webhookId"`
	Event      id.Event       `json:"eventId"`
	Type       string         `json:"type"`
	State      delivery.State `json:"state"`
	Attempts   int64          `json:"attempts"`
	Status     *int64         `json:"status"`
	ResponseMs *int64         `json:"responseMs"`
	ErrorCode  *delivery.Code `json:"errorCode"`
	CreatedAt  time.Time      `json:"createdAt"`
	NextAt     *time.Time     `json:"nextAttemptAt"`
}

var deliveryColumns = []column[shownDeliveryLine]{
	{"CREATED", false, func(d shownDeliveryLine) string { return d.CreatedAt.UTC().Format(time.RFC3339) }},
	{"ID", false, func(d shownDeliveryLine) string { return d.ID.String() }},
	{"WEBHOOK", false, func(d shownDeliveryLine) string { return d.Webhook.String() }},
	{"TYPE", false, func(d shownDeliveryLine) string { return d.Type }},
	{"STATE", false, func(d shownDeliveryLine) string { return string(d.State) }},
	{"ATTEMPTS", false, func(d shownDeliveryLine) string { return strconv.FormatInt(d.Attempts, 10) }},
	{"ANSWER", false, deliveryAnswer},
	{"MS", false, func(d shownDeliveryLine) string { return number(d.ResponseMs) }},
	{"NEXT", false, func(d shownDeliveryLine) string { return moment(d.NextAt) }},
	{"EVENT", true, func(d shownDeliveryLine) string { return d.Event.String() }},
}

func deliveryAnswer(d shownDeliveryLine) string {
	if d.ErrorCode != nil && d.Status == nil {
		return string(*d.ErrorCode)
	}
	return number(d.Status)
}

func number(n *int64) string {
	if n == nil {
		return "-"
	}
	return strconv.FormatInt(*n, 10)
}

func showDeliveries(ctx context.Context, v *overview.View, cmd *cobra.Command, args []string) error {
	o, err := v.Organization(ctx, args[0])
	if err != nil {
		return err
	}
	f, err := deliveryFilter(cmd)
	if err != nil {
		return err
	}
	limit, _ := cmd.Flags().GetInt("limit") // defined where the command is
	read := func(ctx context.Context, f delivery.Filter) ([]shownDeliveryLine, error) {
		found, err := delivery.List(ctx, v.Tenants, o.ID, f, delivery.Position{}, limit)
		return shownDeliveries(found), err
	}
	found, err := read(ctx, f)
	if err != nil {
		return err
	}
	if follow, _ := cmd.Flags().GetBool("follow"); !follow {
		return printList(cmd, found, deliveryColumns)
	}
	return followDeliveries(ctx, cmd, found, func(ctx context.Context) ([]shownDeliveryLine, error) {
		f.From = time.Now().Add(-followed)
		return read(ctx, f)
	})
}

func deliveryFilter(cmd *cobra.Command) (f delivery.Filter, err error) {
	which, _ := cmd.Flags().GetString("webhook")
	if which != "" {
		if f.Webhook, err = id.ParseWebhook(which); err != nil {
			return f, fmt.Errorf("%q is not a webhook's id", which)
		}
	}
	states, _ := cmd.Flags().GetStringSlice("state")
	for _, s := range states {
		if !slices.Contains(delivery.States(), delivery.State(s)) {
			return f, fmt.Errorf("state %q: want one of %v", s, delivery.States())
		}
		f.States = append(f.States, delivery.State(s))
	}
	return f, nil
}

// shownDeliveries are deliveries, the oldest first.
func shownDeliveries(found []delivery.Delivery) []shownDeliveryLine {
	lines := make([]shownDeliveryLine, 0, len(found))
	for _, d := range slices.Backward(found) {
		lines = append(lines, shownDeliveryLine{
			d.ID, d.Webhook, d.Event, string(d.Type), d.State, d.Attempts, d.Status, d.ResponseMs, d.Code, d.CreatedAt, d.DueAt,
		})
	}
	return lines
}

const (
	// followed is how old the deliveries are whose attempts are shown.
	followed    = 10 * time.Minute
	followEvery = time.Second
)

// followDeliveries shows deliveries, and then again each whose state or number of
// attempts changed.
func followDeliveries(ctx context.Context, cmd *cobra.Command, found []shownDeliveryLine, read func(context.Context) ([]shownDeliveryLine, error)) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if attached, _ := cmd.Flags().GetBool(show.AttachedFlag); attached {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			stop()
		}()
	}
	type seen struct {
		state    delivery.State
		attempts int64
	}
	known := map[id.Delivery]seen{}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 24, 0, 3, ' ', 0)
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for first := true; ; first = false {
		current := map[id.Delivery]seen{}
		fresh := found[:0]
		for _, d := range found {
			current[d.ID] = seen{d.State, d.Attempts}
			if known[d.ID] != current[d.ID] {
				fresh = append(fresh, d)
			}
		}
		known = current
		if err := printFollowed(cmd, w, fresh, first); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		var err error
		if found, err = read(ctx); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
	}
}

// printFollowed shows what is new, a line or a document each.
func printFollowed(cmd *cobra.Command, w *tabwriter.Writer, fresh []shownDeliveryLine, first bool) error {
	form, err := cmd.Flags().GetString("output")
	if err != nil {
		return err
	}
	switch form {
	case "json":
		e := json.NewEncoder(cmd.OutOrStdout())
		for _, d := range fresh {
			if err := e.Encode(d); err != nil {
				return err
			}
		}
		return nil
	case "yaml":
		for _, d := range fresh {
			text, err := yaml.Marshal(d)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "---\n%s", text)
		}
		return nil
	}
	printRows(w, fresh, deliveryColumns, form == "wide", first)
	return w.Flush()
}
