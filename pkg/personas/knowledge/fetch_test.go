package knowledge_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/text/crawl"
)

// Sites that hang, added or refreshed, hold up an organization's other sites only.
func TestSlowSitesHoldNoDocumentUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.base()
	w.pages["https://refreshed.test/"] = "The museum opens at nine."
	refreshed := w.add(w.address(b, "https://refreshed.test/"))
	w.runDueJobs()
	hanging, release := make(chan struct{}, 10), make(chan struct{})
	w.fetch = func(ctx context.Context, url string, o crawl.Options, each func(crawl.Page) error) error {
		hanging <- struct{}{}
		<-release
		return w.answer(ctx, url, o, each)
	}
	w.readAgain(refreshed)
	for _, url := range []string{"https://one.test/", "https://two.test/"} {
		w.pages[url] = "The museum of " + url
		w.add(w.address(b, url))
	}
	w.clock.Step(time.Second)
	w.runner.Start()
	<-hanging
	<-hanging
	own := w.add(w.text(b, "The cafe closes at five."))
	require.Eventually(t, func() bool { return w.document(own).Status == knowledge.Ready }, 20*time.Second, 5*time.Millisecond)
	require.Empty(t, hanging, "the third site waits for one of the two")
	sites, err := job.List(t.Context(), w.tenants, w.one, job.Filter{Kinds: []job.Kind{job.KnowledgeSync}, States: []job.State{job.Queued}}, id.Job{}, 10)
	require.NoError(t, err)
	require.Len(t, sites, 1)
	close(release)
	<-hanging
	w.runner.Stop()
}
