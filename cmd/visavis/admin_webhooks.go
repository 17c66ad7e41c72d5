package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/delivery"
	"visavis.dev/pkg/eventing/webhook"
	"visavis.dev/pkg/operations/overview"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/pershard"
	"visavis.dev/pkg/store/tenant"
)

func (a *admin) webhooksCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "webhooks", Aliases: []string{"webhook"}, Short: "Webhooks that fail, and what to do with them"}
	cmd.AddCommand(a.webhooksList(), a.webhooksPause(), a.webhooksResume(), a.webhooksDrain())
	return cmd
}

// answerWithin is how long a shard has to answer a list of all of them.
const answerWithin = 10 * time.Second

func (a *admin) webhooksList() *cobra.Command {
	return a.does(&cobra.Command{
		Use: "list", Short: "List the webhooks that fail or are paused, on every shard", Args: cobra.NoArgs,
	}, func(ctx context.Context, cmd *cobra.Command, _ []string) error {
		shards, err := a.directory.Shards(ctx)
		if err != nil {
			return err
		}
		names := make([]string, len(shards))
		for i, s := range shards {
			names[i] = s.Name
		}
		found, missing := []delivery.Failing{}, overview.Missing{}
		for _, answer := range pershard.Gather(ctx, names, answerWithin, func(ctx context.Context, shard string) ([]delivery.Failing, error) {
			return delivery.ListFailing(ctx, a.tenants, shard)
		}) {
			if answer.Err != nil {
				missing.Add(answer.Shard, answer.Err)
			}
			found = append(found, answer.Value...)
		}
		return errors.Join(missing.Err(), a.print(cmd, found, func(w io.Writer) {
			fmt.Fprintln(w, "SHARD\tORGANISATION\tWEBHOOK\tENDPOINT\tFAILING SINCE\tPAUSED\tWAITING\tLAST ERROR")
			for _, f := range found {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\n", f.Shard, f.Org, f.Webhook, f.Endpoint,
					moment(f.FailingSince), moment(f.PausedAt), f.Waiting, f.LastError)
			}
		}))
	})
}

// moment is a time for a table.
func moment(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}

func (a *admin) webhooksPause() *cobra.Command {
	return a.does(&cobra.Command{
		Use: "pause ORG WEBHOOK", Short: "Deliver nothing until it is resumed, here or by its owner", Args: cobra.ExactArgs(2),
	}, func(ctx context.Context, cmd *cobra.Command, args []string) error {
		return a.changeWebhook(ctx, cmd, args, webhook.Paused, func(w webhook.Webhook) webhook.Webhook {
			at := now()
			w.Active, w.PausedAt = false, &at
			return w
		})
	})
}

func (a *admin) webhooksResume() *cobra.Command {
	return a.does(&cobra.Command{
		Use: "resume ORG WEBHOOK", Short: "Deliver again; its failing run starts afresh", Args: cobra.ExactArgs(2),
	}, func(ctx context.Context, cmd *cobra.Command, args []string) error {
		return a.changeWebhook(ctx, cmd, args, webhook.Resumed, webhook.Webhook.Resumed)
	})
}

// actor is whoever uses the tool, as the activity log has them.
func actor() activity.Actor { return activity.Actor{By: operator, At: now()} }

// changeWebhook changes a webhook and notes it in its organization's log.
func (a *admin) changeWebhook(ctx context.Context, cmd *cobra.Command, args []string, action webhook.Action, change func(webhook.Webhook) webhook.Webhook) error {
	org, which, err := a.webhook(ctx, args)
	if err != nil {
		return err
	}
	var w webhook.Webhook
	if err := a.tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		if w, err = webhook.Lock(ctx, tx, which); err != nil {
			return err
		}
		w = change(w)
		w.UpdatedAt = now()
		return webhook.Update(ctx, tx, w, action, map[string]any{"active": w.Active}, actor())
	}); err != nil {
		return err
	}
	shown := map[string]any{"organizationId": org, "id": which, "active": w.Active, "pausedAt": w.PausedAt, "managedBy": w.ManagedBy.String()}
	return a.print(cmd, shown, func(out io.Writer) {
		fmt.Fprintf(out, "%s: active %v, paused %s\n", which, w.Active, moment(w.PausedAt))
		if _, declared := w.ManagedBy.Resource(); declared {
			fmt.Fprintf(out, "%s declares it. %s\n", w.ManagedBy, declaredNote(w.Active))
		}
	})
}

// declaredNote says how long it lasts what was done by hand to a webhook that a resource
// declares.
func declaredNote(active bool) string {
	if active {
		return "It is switched off again within ten minutes where spec.suspended is set."
	}
	return "A change of what its spec says is sent resumes it, unless that sets spec.suspended."
}

func (a *admin) webhooksDrain() *cobra.Command {
	return a.does(&cobra.Command{
		Use: "drain ORG WEBHOOK", Short: "Close every delivery that waits; POST /webhooks/{id}/recover delivers them again", Args: cobra.ExactArgs(2),
	}, func(ctx context.Context, cmd *cobra.Command, args []string) error {
		org, which, err := a.webhook(ctx, args)
		if err != nil {
			return err
		}
		closed, err := delivery.Drain(ctx, a.tenants, org, which, actor())
		if err != nil {
			return err
		}
		return a.print(cmd, map[string]any{"organizationId": org, "id": which, "closed": closed}, func(out io.Writer) {
			fmt.Fprintf(out, "%s: %d deliveries are closed\n", which, closed)
		})
	})
}

// webhook finds the webhook that two arguments name.
func (a *admin) webhook(ctx context.Context, args []string) (id.Org, id.Webhook, error) {
	o, err := a.organization(ctx, args[0])
	if err != nil {
		return id.Org{}, id.Webhook{}, err
	}
	which, err := id.ParseWebhook(args[1])
	if err != nil {
		return id.Org{}, id.Webhook{}, fmt.Errorf("%q is not a webhook's id", args[1])
	}
	_, err = webhook.Get(ctx, a.tenants, o.ID, which)
	return o.ID, which, err
}
