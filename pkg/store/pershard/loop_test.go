package pershard_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/store/pershard"
)

// calls counts the calls by shard.
type calls struct {
	mu sync.Mutex
	by map[string]int
}

func (c *calls) note(shard string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[string]int{}
	}
	c.by[shard]++
}

// of is the number of calls since it was asked last.
func (c *calls) of(shard string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.by[shard]
	delete(c.by, shard)
	return n
}

func listOf(names ...string) pershard.Lister {
	return func(context.Context) ([]string, error) { return names, nil }
}

// start starts a loop, and stops it with the test's bubble.
func start(t *testing.T, o pershard.Options) {
	t.Helper()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Work, o.Clock = "count", clock.RealClock{}
	l := pershard.New(o)
	l.Start()
	t.Cleanup(l.Stop)
}

// pass lets a while pass in the test's bubble.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestEachShardHasItsOwnPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c calls
		start(t, pershard.Options{Shards: listOf("healthy", "frozen", "slow", "dead"), Every: 100 * time.Millisecond, Timeout: 5 * time.Second,
			Run: func(ctx context.Context, shard string) (bool, error) {
				c.note(shard)
				switch shard {
				case "frozen":
					<-ctx.Done()
					return false, ctx.Err()
				case "slow":
					<-time.After(2 * time.Second)
				case "dead":
					return false, errors.New("refused")
				}
				return false, nil
			}})
		pass(20*time.Second + time.Millisecond)
		require.Equal(t, 201, c.of("healthy"))
		require.InDelta(t, 10, c.of("slow"), 1, "the next call follows at once")
		require.InDelta(t, 4, c.of("frozen"), 1, "ended by its deadline")
		require.InDelta(t, 24, c.of("dead"), 3, "down to once a second")
	})
}

func TestMoreIsDoneAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c calls
		left := 5
		start(t, pershard.Options{Shards: listOf("a"), Every: time.Hour, Run: func(context.Context, string) (bool, error) {
			c.note("a")
			left--
			return left > 0, nil
		}})
		pass(time.Second)
		require.Equal(t, 5, c.of("a"))
	})
}

func TestShardsComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c calls
		var mu sync.Mutex
		names := []string{"a"}
		set := func(now ...string) {
			mu.Lock()
			defer mu.Unlock()
			names = now
		}
		ended := make(chan string, 10)
		start(t, pershard.Options{Every: time.Second,
			Shards: func(context.Context) ([]string, error) {
				mu.Lock()
				defer mu.Unlock()
				return names, nil
			},
			Run: func(ctx context.Context, shard string) (bool, error) {
				c.note(shard)
				if shard == "long" {
					<-ctx.Done()
					ended <- shard
				}
				return false, nil
			}})
		pass(time.Second / 2)
		require.Equal(t, 1, c.of("a"), "the first call is made at once")
		set("b", "long")
		pass(31 * time.Second)
		c.of("a")
		require.Positive(t, c.of("b"))
		pass(time.Minute)
		require.Zero(t, c.of("a"), "a shard that was removed is left alone")
		require.Equal(t, 1, c.of("long"))
		set("a", "b")
		pass(31 * time.Second)
		require.Equal(t, "long", <-ended, "what is under way for one that was removed ends")
		require.Positive(t, c.of("a"), "one that came back is served again")
	})
}

func TestAFrozenDirectoryLeavesTheLastKnownList(t *testing.T) {
	for name, away := range map[string]func(context.Context) ([]string, error){
		"frozen": func(ctx context.Context) ([]string, error) { <-ctx.Done(); return nil, ctx.Err() },
		"dead":   func(context.Context) ([]string, error) { return nil, errors.New("refused") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var c calls
				asked := 0
				start(t, pershard.Options{Every: time.Second,
					Shards: func(ctx context.Context) ([]string, error) {
						if asked++; asked == 2 || asked > 4 {
							return away(ctx)
						}
						return []string{"a"}, nil
					},
					Run: func(_ context.Context, shard string) (bool, error) { c.note(shard); return false, nil }})
				pass(10*time.Minute + time.Millisecond)
				require.Equal(t, 601, c.of("a"))
			})
		})
	}
}

func TestADirectoryThatIsAwayAtFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c calls
		asked := 0
		start(t, pershard.Options{Every: time.Second,
			Shards: func(context.Context) ([]string, error) {
				if asked++; asked < 3 {
					return nil, errors.New("away")
				}
				return []string{"a"}, nil
			},
			Run: func(_ context.Context, shard string) (bool, error) { c.note(shard); return false, nil }})
		pass(2*time.Second + time.Millisecond)
		require.Equal(t, 1, c.of("a"), "it is asked again every second")
	})
}

func TestStopEndsWhatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := 0
		l := pershard.New(pershard.Options{Work: "wait", Shards: listOf("a"), Every: time.Second, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler),
			Run: func(ctx context.Context, _ string) (bool, error) {
				<-ctx.Done()
				ended++
				return true, ctx.Err()
			}})
		l.Start()
		synctest.Wait()
		l.Stop()
		require.Equal(t, 1, ended)
	})
}

// No call begins after the end, although a tick waits for it then.
func TestNothingBeginsAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		names := make([]string, 50) // select takes either of what is ready by chance
		for i := range names {
			names[i] = strconv.Itoa(i)
		}
		var late atomic.Int64
		l := pershard.New(pershard.Options{
			Work: "count", Shards: listOf(names...), Every: time.Second, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler),
			Run: func(ctx context.Context, _ string) (bool, error) {
				if ctx.Err() != nil {
					late.Add(1)
				}
				<-ctx.Done()
				return false, nil
			},
		})
		l.Start()
		<-time.After(3 * time.Second)
		l.Stop()
		require.Zero(t, late.Load())
	})
}

func TestSilenceIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var (
			text bytes.Buffer
			mu   sync.Mutex
			fail error
		)
		set := func(err error) {
			mu.Lock()
			defer mu.Unlock()
			fail = err
		}
		registry := prometheus.NewRegistry()
		o := pershard.Options{Shards: listOf("a"), Every: time.Second, Metrics: registry, Log: slog.New(slog.NewTextHandler(&text, nil)),
			Run: func(context.Context, string) (bool, error) {
				mu.Lock()
				defer mu.Unlock()
				return false, fail
			}}
		set(context.DeadlineExceeded)
		start(t, o)
		pass(10 * time.Second)
		require.Equal(t, 1, strings.Count(text.String(), "shard does not answer"), text.String())
		set(nil)
		pass(10 * time.Second)
		require.Equal(t, 1, strings.Count(text.String(), "shard answers again"), text.String())
		set(errors.New("a fault of ours"))
		pass(3 * time.Second)
		require.Equal(t, 3, strings.Count(text.String(), "failed to count"), text.String())
		count, err := testutil.GatherAndCount(registry, "visavis_shard_failures_total")
		require.NoError(t, err)
		require.Equal(t, 1, count)

		other := o
		other.Log = nil
		start(t, other) // a second loop of the process shares the counter
	})
}

func TestGatherWaitsForNobodyLongerThanTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		answers := pershard.Gather(t.Context(), []string{"frozen", "a", "dead", "b"}, 5*time.Second, func(ctx context.Context, shard string) (string, error) {
			switch shard {
			case "frozen":
				<-ctx.Done()
				return "", ctx.Err()
			case "dead":
				return "", errors.New("refused")
			}
			return "from " + shard, nil
		})
		require.Equal(t, 5*time.Second, time.Since(began))
		require.Len(t, answers, 4)
		require.ErrorIs(t, answers[0].Err, context.DeadlineExceeded)
		require.Equal(t, pershard.Answer[string]{Shard: "a", Value: "from a"}, answers[1])
		require.Error(t, answers[2].Err)
		require.Equal(t, "from b", answers[3].Value)
	})
}

func TestAListIsSharedAndKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		frozen := false
		list := pershard.NewList(func(ctx context.Context) ([]string, error) {
			asked.Add(1)
			if frozen {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return []string{"a"}, nil
		}, clock.RealClock{})
		names := func() []string {
			got, err := list.Names(t.Context())
			require.NoError(t, err)
			return got
		}
		for range 10 {
			require.Equal(t, []string{"a"}, names())
		}
		require.EqualValues(t, 1, asked.Load())
		frozen = true
		for range 100 {
			pass(time.Second)
			began := time.Now()
			require.Equal(t, []string{"a"}, names())
			require.Zero(t, time.Since(began), "nobody waits for a directory that is frozen")
		}
		require.Greater(t, asked.Load(), int32(10))
		pass(time.Minute)
	})
}
