package live_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/operations/move"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
)

// A conversation goes on while its organization moves: the process that holds it is
// known on every shard, what it writes goes to the new one, and so does what it is asked.
func TestAConversationGoesOnThroughAMove(t *testing.T) {
	t.Parallel()
	for name, small := range map[string]int{"small": 0, "large": -1} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, 600)
			require.NoError(t, s.directory.AddShard(t.Context(), "b", databasetest.URL(t, database.Shard)))
			s.shards = append(s.shards, "b")
			p := s.pod()
			defer p.Stop()
			minted, c := s.greeted(p, nil)
			c.ask()

			require.NoError(t, move.Begin(t.Context(), s.directory, s.tenants, s.org, "b", "test"))
			m := move.New(move.Options{
				Directory: s.directory, Tenants: s.tenants, Clock: s.clock, Log: slog.New(slog.DiscardHandler), Small: small, Keep: -1,
			})
			found, err := m.Advance(t.Context())
			require.NoError(t, err)
			require.True(t, found)
			end, err := s.directory.MoveOf(t.Context(), s.org)
			require.NoError(t, err)
			require.Equal(t, directory.Moved, end.Phase, end.Problem)

			c.ask()
			require.NoError(t, s.tenants.InTx(t.Context(), s.org, func(ctx context.Context, tx *tenant.Tx) error {
				held, err := session.Lock(ctx, tx, minted.ID)
				if err != nil {
					return err
				}
				return session.Order(ctx, tx, held, session.Command{ID: id.NewTurn(), Kind: session.SayIt, Text: "We moved.", Record: true})
			}))
			c.hear("We moved.")
			require.Equal(t, 1, p.Live())
			c.send("end", nil)
			c.ended()
			there, err := s.tenants.Shard(t.Context(), "b")
			require.NoError(t, err)
			var turns int
			require.NoError(t, there.QueryRow(t.Context(), `SELECT count(*) FROM turn WHERE org_id = $1`, s.org).Scan(&turns))
			require.GreaterOrEqual(t, turns, 6, "the greeting, two questions with answers, and what it was told to say")
		})
	}
}
