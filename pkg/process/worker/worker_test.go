package worker_test

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	_ "gocloud.dev/blob/memblob"
	"k8s.io/utils/clock"

	"visavis.dev/config"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/process/backend"
	"visavis.dev/pkg/process/worker"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

func open(t *testing.T) *backend.Backend {
	t.Helper()
	b, err := backend.Open(t.Context(), backend.Options{
		DirectoryURL: databasetest.URL(t, database.Directory), FilesURL: "mem://", PlansText: config.Plans,
		Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	t.Cleanup(b.Close)
	return b
}

// A kind that no noun declares would wait for ever.
func TestNounsDeclareEveryKindOfJob(t *testing.T) {
	b := open(t)
	all := worker.Background(b, b.NewMinds(), worker.Options{})
	var declared []job.Kind
	for kind := range all.Steps {
		require.False(t, kind.Heavy(), kind)
		declared = append(declared, kind)
	}
	for kind := range all.Works {
		declared = append(declared, kind)
	}
	require.ElementsMatch(t, slices.Concat(job.Kinds(), job.QuietKinds()), declared)
	for _, task := range all.Tasks {
		require.GreaterOrEqual(t, task.Every, time.Second, task.Name)
	}
}

// Every recurring task runs on an empty shard, or on the directory.
func TestTasksRun(t *testing.T) {
	b := open(t)
	require.NoError(t, b.Directory.AddShard(t.Context(), "shard-1", databasetest.URL(t, database.Shard)))
	for _, task := range worker.Background(b, b.NewMinds(), worker.Options{}).Tasks {
		n, err := task.Run(t.Context(), "shard-1")
		require.NoError(t, err, task.Name)
		require.Zero(t, n, task.Name)
	}
}

// A worker does what it is told to, and ends before its backend.
func TestAWorkerOfEachTaskEnds(t *testing.T) {
	for _, tasks := range []worker.Tasks{worker.EveryTask(), {Deliver: true}, {Jobs: true}, {Read: true}} {
		b := open(t)
		w := worker.New(b, b.NewMinds(), worker.Options{Tasks: tasks})
		w.Start()
		w.Stop()
		_, err := b.Directory.ShardNames(t.Context())
		require.NoError(t, err)
	}
}
