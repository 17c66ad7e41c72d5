package sweep_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/utils/clock"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/store/sweep"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRounds(t *testing.T) {
	c := clocktest.NewFakeClock(time.Date(2026, 7, 8, 12, 0, 0, 0, time.UTC))
	shards, directory := make(chan string, 10), make(chan string, 10)
	note := func(to chan string) func(context.Context, string) (int, error) {
		return func(_ context.Context, shard string) (int, error) {
			to <- shard
			return 0, errors.New("a task that fails is run again")
		}
	}
	s := &sweep.Sweeper{
		Tasks: []sweep.Task{
			{Name: "rows", Every: time.Second, Run: note(shards)},
			{Name: "addresses", Every: time.Minute, Run: note(directory), Directory: true},
		},
		Shards: func(context.Context) ([]string, error) { return []string{"a", "b"}, nil },
		Clock:  c, Log: slog.New(slog.DiscardHandler),
	}
	s.Start()
	defer s.Stop()
	for round := range 3 {
		require.ElementsMatch(t, []string{"a", "b"}, []string{<-shards, <-shards})
		if round == 0 {
			require.Empty(t, <-directory)
		}
		require.Eventually(t, c.HasWaiters, 20*time.Second, time.Millisecond)
		c.Step(time.Second)
	}
	require.Empty(t, directory, "each in its own rhythm")
}

func TestStopInterruptsAndWaits(t *testing.T) {
	began, ended := make(chan struct{}), false
	s := &sweep.Sweeper{
		Tasks: []sweep.Task{{Every: time.Second, Directory: true, Run: func(ctx context.Context, _ string) (int, error) {
			close(began)
			<-ctx.Done()
			ended = true
			return 0, ctx.Err()
		}}},
		Clock: clocktest.NewFakeClock(time.Now()), Log: slog.New(slog.DiscardHandler),
	}
	s.Start()
	<-began
	s.Stop()
	require.True(t, ended)
}

func TestShardsThatCannotBeListedAreTriedAgain(t *testing.T) {
	c := clocktest.NewFakeClock(time.Now())
	asked, ran := make(chan struct{}, 10), make(chan struct{}, 10)
	away := true
	s := &sweep.Sweeper{
		Tasks: []sweep.Task{{Every: time.Second, Run: func(context.Context, string) (int, error) {
			ran <- struct{}{}
			return 1, nil
		}}},
		Shards: func(context.Context) ([]string, error) {
			defer func() { asked <- struct{}{} }()
			if away {
				away = false
				return nil, errors.New("away")
			}
			return []string{"a"}, nil
		},
		Clock: c, Log: slog.New(slog.DiscardHandler),
	}
	s.Start()
	defer s.Stop()
	<-asked
	require.Empty(t, ran)
	c.Step(time.Second)
	<-ran
}

// A shard that does not answer holds no task of another one up, and no other task.
func TestTasksRunBesideShardsThatDoNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		frozen := false
		ran := map[string]int{}
		s := &sweep.Sweeper{
			Tasks: []sweep.Task{{Name: "sweep", Every: time.Second, Run: func(ctx context.Context, shard string) (int, error) {
				switch shard {
				case "frozen":
					<-ctx.Done()
					return 0, ctx.Err()
				case "dead":
					return 0, errors.New("refused")
				case "slow":
					<-time.After(2 * time.Second)
				case "healthy":
					ran[shard]++ // by one goroutine
				}
				return 0, nil
			}}},
			Shards: func(ctx context.Context) ([]string, error) {
				if frozen {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				frozen = true
				return []string{"dead", "frozen", "slow", "healthy"}, nil
			},
			Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler),
		}
		s.Start()
		<-time.After(10*time.Minute + time.Millisecond)
		s.Stop()
		require.Equal(t, 601, ran["healthy"])
	})
}

func TestAFullBatchIsFollowedByAnother(t *testing.T) {
	left, ran := 25, make(chan int, 10)
	s := &sweep.Sweeper{
		Tasks: []sweep.Task{{Every: time.Hour, Batch: 10, Directory: true, Run: func(context.Context, string) (int, error) {
			n := min(left, 10)
			left -= n
			ran <- n
			return n, nil
		}}},
		Clock: clocktest.NewFakeClock(time.Now()), Log: slog.New(slog.DiscardHandler),
	}
	s.Start()
	defer s.Stop()
	for _, want := range []int{10, 10, 5} {
		require.Equal(t, want, <-ran)
	}
}
