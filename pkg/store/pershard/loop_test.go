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
			Run: func(ctx context.Context, shard string) (pershard.Next, error) {
				c.note(shard)
				switch shard {
				case "frozen":
					<-ctx.Done()
					return pershard.Next{}, ctx.Err()
				case "slow":
					<-time.After(2 * time.Second)
				case "dead":
					return pershard.Next{}, errors.New("refused")
				}
				return pershard.Next{}, nil
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
		start(t, pershard.Options{Shards: listOf("a"), Every: time.Hour, Run: func(context.Context, string) (pershard.Next, error) {
			c.note("a")
			left--
			return pershard.Next{More: left > 0}, nil
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
			Run: func(ctx context.Context, shard string) (pershard.Next, error) {
				c.note(shard)
				if shard == "long" {
					<-ctx.Done()
					ended <- shard
				}
				return pershard.Next{}, nil
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

// A shard whose call is under way while it is gone from the list is served again afterwards.
func TestAShardComesBackDuringItsLastCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c calls
		var gone atomic.Bool
		ended := make(chan struct{})
		start(t, pershard.Options{Every: time.Second,
			Shards: func(context.Context) ([]string, error) {
				if gone.Load() {
					return []string{"b"}, nil
				}
				return []string{"a", "b"}, nil
			},
			Run: func(_ context.Context, shard string) (next pershard.Next, err error) {
				c.note(shard)
				if shard == "a" {
					<-ended
				}
				return next, nil
			}})
		pass(time.Second / 2)
		require.Equal(t, 1, c.of("a"))
		gone.Store(true)
		pass(31 * time.Second)
		gone.Store(false)
		pass(31 * time.Second)
		require.Zero(t, c.of("a"), "its last call is under way")
		close(ended)
		pass(31 * time.Second)
		require.Positive(t, c.of("a"))
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
					Run: func(_ context.Context, shard string) (pershard.Next, error) {
						c.note(shard)
						return pershard.Next{}, nil
					}})
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
			Run: func(_ context.Context, shard string) (pershard.Next, error) {
				c.note(shard)
				return pershard.Next{}, nil
			}})
		pass(2*time.Second + time.Millisecond)
		require.Equal(t, 1, c.of("a"), "it is asked again every second")
	})
}

func TestStopEndsWhatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := 0
		l := pershard.New(pershard.Options{Work: "wait", Shards: listOf("a"), Every: time.Second, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler),
			Run: func(ctx context.Context, _ string) (pershard.Next, error) {
				<-ctx.Done()
				ended++
				return pershard.Next{More: true}, ctx.Err()
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
			Run: func(ctx context.Context, _ string) (pershard.Next, error) {
				if ctx.Err() != nil {
					late.Add(1)
				}
				<-ctx.Done()
				return pershard.Next{}, nil
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
			Run: func(context.Context, string) (pershard.Next, error) {
				mu.Lock()
				defer mu.Unlock()
				return pershard.Next{}, fail
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

// What was committed while a call was looking may have come too late for it.
func TestWhoIsWokenWhileItLooksLooksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c calls
		looking := make(chan struct{})
		l := pershard.New(pershard.Options{Work: "look", Shards: listOf("a", "b"), Every: time.Hour, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler),
			Run: func(_ context.Context, shard string) (next pershard.Next, err error) {
				c.note(shard)
				<-looking
				return next, nil
			}})
		l.Start()
		t.Cleanup(l.Stop)
		synctest.Wait()
		for range 100 {
			l.Wake("a")
		}
		l.Wake("nobody's")
		synctest.Wait()
		require.Equal(t, 1, c.of("a"), "one call at a time")
		close(looking)
		pass(20 * time.Millisecond)
		require.Equal(t, 1, c.of("a"), "and one more, however often it was woken")
		require.Equal(t, 1, c.of("b"))
		l.Wake("a")
		synctest.Wait()
		require.Equal(t, 1, c.of("a"), "woken while nothing is under way")
		for range 100 {
			l.Wake("a")
			pass(time.Millisecond)
		}
		require.LessOrEqual(t, c.of("a"), 10, "hints come with every commit, looks do not")
		pass(time.Second)
		c.of("a")
		pass(time.Hour + time.Second)
		require.Equal(t, 1, c.of("a"), "the slow look is an hour after the last one")
	})
}

// A shard that does not answer is not called more often because somebody hints.
func TestAShardThatFailsIsLeftAloneWhoeverWakesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c calls
		l := pershard.New(pershard.Options{
			Work: "look", Shards: listOf("a"), Every: time.Hour, Retry: 100 * time.Millisecond, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler),
			Run: func(_ context.Context, shard string) (next pershard.Next, err error) {
				c.note(shard)
				return next, errors.New("refused")
			},
		})
		l.Start()
		t.Cleanup(l.Stop)
		for range 10_000 {
			l.Wake("a")
			pass(time.Millisecond)
		}
		require.InDelta(t, 13, c.of("a"), 2, "doubling from the first retry to once a second")
	})
}

func TestWhatFallsDueIsThereOnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c calls
		began := time.Now()
		due := []time.Time{began.Add(7 * time.Second), began.Add(8 * time.Second), began.Add(time.Hour)}
		start(t, pershard.Options{Shards: listOf("a"), Every: 5 * time.Second, Run: func(context.Context, string) (pershard.Next, error) {
			c.note("a")
			for len(due) > 0 && !due[0].After(time.Now()) {
				due = due[1:]
			}
			if len(due) == 0 {
				return pershard.Next{}, nil
			}
			return pershard.Next{At: due[0]}, nil
		}})
		for _, want := range []int{1, 0, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 0, 1} { // at 0, 5, 7, 8 and 13 s
			synctest.Wait()
			require.Equal(t, want, c.of("a"), time.Since(began))
			<-time.After(time.Second)
		}
	})
}

func TestManyShardsAreNotCalledAtTheSameMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c calls
		start(t, pershard.Options{Shards: listOf("a", "b", "c"), Every: time.Minute, Spread: time.Second,
			Run: func(_ context.Context, shard string) (next pershard.Next, err error) { c.note(shard); return next, nil }})
		for _, shard := range []string{"a", "b", "c"} {
			synctest.Wait()
			require.Equal(t, 1, c.of(shard))
			<-time.After(time.Second)
		}
		require.Zero(t, c.of("a")+c.of("b")+c.of("c"))
	})
}
