package job_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/store/sweep"
)

func TestCollect(t *testing.T) {
	voices := job.Background{
		Works: map[job.Kind]job.Work{job.VoiceClone: {}, job.VoiceRemove: {}}, Tasks: []sweep.Task{{Name: "forget voices"}},
	}
	people := job.Background{Steps: map[job.Kind]job.Step{job.Erase: nil}, Tasks: []sweep.Task{{Name: "forget people"}}}
	all := job.Collect(voices, people)
	require.Len(t, all.Works, 2)
	require.Contains(t, all.Steps, job.Erase)
	require.Equal(t, "forget people", all.Tasks[1].Name)

	require.PanicsWithValue(t, "two nouns declare the job erase", func() {
		job.Collect(people, job.Background{Works: map[job.Kind]job.Work{job.Erase: {}}})
	})
	require.PanicsWithValue(t, `two nouns declare the task "forget people"`, func() {
		job.Collect(people, job.Background{Tasks: people.Tasks})
	})
}
