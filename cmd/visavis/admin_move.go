package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"visavis.dev/pkg/base/managed"
	"visavis.dev/pkg/operations/move"
	"visavis.dev/pkg/store/directory"
)

// orgMove writes down that an organization is to live on another shard. A worker carries
// it out.
func (a *admin) orgMove() *cobra.Command {
	var (
		to        string
		wait, yes bool
	)
	cmd := a.does(&cobra.Command{
		Use: "move ORG", Short: "Move an organization to another shard, while it is in use", Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, cmd *cobra.Command, args []string) error {
		o, err := a.organization(ctx, args[0])
		if err != nil {
			return err
		}
		if err := o.ManagedBy.Check(managed.API, "organization", o.ID.String()); err != nil {
			return fmt.Errorf("%s (%s) is managed by %s: change its spec.shard", o.ID, o.Name, o.ManagedBy)
		}
		if !yes && !agreed(cmd, fmt.Sprintf("Move %s (%s) from %s to %s?", o.ID, o.Name, o.Shard, to)) {
			return errors.New("not moved: say yes, or --yes")
		}
		if err := move.Begin(ctx, a.directory, a.tenants, o.ID, to, "admin"); err != nil {
			return err
		}
		if wait {
			return a.watch(ctx, cmd, o)
		}
		return a.showMove(ctx, cmd, o)
	})
	f := cmd.Flags()
	f.StringVar(&to, "to", "", "`SHARD` that it is to live on")
	f.BoolVar(&wait, "wait", false, "wait until it lives there")
	f.BoolVar(&yes, "yes", false, "do not ask")
	_ = cmd.MarkFlagRequired("to") // fails only for a flag that does not exist
	return cmd
}

// agreed asks whoever sits at the terminal.
func agreed(cmd *cobra.Command, question string) bool {
	fmt.Fprintf(cmd.ErrOrStderr(), "%s [y/N] ", question)
	answer, _ := bufio.NewReader(cmd.InOrStdin()).ReadString('\n') // no answer is a no
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}

func (a *admin) orgMoveStatus() *cobra.Command {
	return a.does(&cobra.Command{Use: "move-status [ORG]", Short: "Show the moves under way, or an organization's last", Args: cobra.MaximumNArgs(1)},
		func(ctx context.Context, cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				moves, err := a.directory.Moves(ctx)
				if err != nil {
					return err
				}
				return a.printMoves(cmd, moves)
			}
			o, err := a.organization(ctx, args[0])
			if err != nil {
				return err
			}
			return a.showMove(ctx, cmd, o)
		})
}

func (a *admin) orgMoveCancel() *cobra.Command {
	return a.does(&cobra.Command{Use: "move-cancel ORG", Short: "Undo a move, as long as the organization lives where it did", Args: cobra.ExactArgs(1)},
		func(ctx context.Context, cmd *cobra.Command, args []string) error {
			o, err := a.organization(ctx, args[0])
			if err != nil {
				return err
			}
			if err := a.directory.CancelMove(ctx, o.ID); err != nil {
				return fmt.Errorf("%s (%s): %w", o.ID, o.Name, err)
			}
			return a.showMove(ctx, cmd, o)
		})
}

// watchEvery is how often a move is looked at that is waited for.
const watchEvery = 200 * time.Millisecond

// watch waits until an organization lives on its new shard, telling each phase.
func (a *admin) watch(ctx context.Context, cmd *cobra.Command, o directory.Organization) error {
	var seen directory.Phase
	var problem string
	for {
		m, err := a.directory.MoveOf(ctx, o.ID)
		if err != nil {
			return err
		}
		if m.Phase != seen || m.Problem != problem {
			seen, problem = m.Phase, m.Problem
			fmt.Fprintln(cmd.ErrOrStderr(), strings.TrimSpace(move.Describe(m)+" "+m.Problem))
		}
		switch {
		case m.Phase == directory.Refused || m.Phase == directory.Cancelled:
			return fmt.Errorf("%s was not moved: %s", o.ID, move.Describe(m)+" "+m.Problem)
		case move.Switched(m):
			return a.showMove(ctx, cmd, o)
		}
		select {
		case <-time.After(watchEvery):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (a *admin) showMove(ctx context.Context, cmd *cobra.Command, o directory.Organization) error {
	m, err := a.directory.MoveOf(ctx, o.ID)
	if errors.Is(err, directory.ErrUnknown) {
		return fmt.Errorf("%s (%s) lives on %s and was never moved", o.ID, o.Name, o.Shard)
	}
	if err != nil {
		return err
	}
	return a.printMoves(cmd, []directory.Move{m})
}

// shownMove is a move as JSON.
type shownMove struct {
	directory.Move
	move.Progress
}

func (a *admin) printMoves(cmd *cobra.Command, moves []directory.Move) error {
	shown := make([]shownMove, len(moves))
	for i, m := range moves {
		shown[i] = shownMove{m, move.ProgressOf(m)}
	}
	return a.print(cmd, shown, func(w io.Writer) {
		fmt.Fprintln(w, "ORGANISATION\tFROM\tTO\tPHASE\tSINCE\tROWS\tPROBLEM")
		for _, m := range shown {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%s\n", m.Org, m.From, m.To, m.Phase, m.PhaseAt.Format(time.RFC3339), m.RowsCopied, orDash(m.Problem))
		}
	})
}
