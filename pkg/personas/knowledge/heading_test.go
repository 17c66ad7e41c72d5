package knowledge_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
)

func TestHeadings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.base()
	w.read(b, opening)
	found, err := w.searcher.Headings(context.Background(), w.one, []id.KnowledgeBase{b, id.NewKnowledgeBase()}, nil)
	require.NoError(t, err)
	require.NotEmpty(t, found)
	none, err := w.searcher.Headings(context.Background(), w.one, []id.KnowledgeBase{b}, []string{"another"})
	require.NoError(t, err)
	require.Empty(t, none)
}
