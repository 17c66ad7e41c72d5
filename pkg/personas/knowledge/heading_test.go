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
	w.read(b, "# Hours\n\n"+opening)
	w.read(b, "# Öffnungszeiten\n\nDas Museum öffnet um neun Uhr morgens und schließt um sechs Uhr abends, jeden Tag außer am Montag.")
	for language, want := range map[string][]string{
		"en": {"Hours"}, "en-GB": {"Hours"}, "de": {"Öffnungszeiten"}, "fr": {"Hours", "Öffnungszeiten"}, "": {"Hours", "Öffnungszeiten"},
	} {
		found, err := w.searcher.Headings(context.Background(), w.one, []id.KnowledgeBase{b, id.NewKnowledgeBase()}, nil, language)
		require.NoError(t, err)
		require.Equal(t, want, found, language)
	}
	none, err := w.searcher.Headings(context.Background(), w.one, []id.KnowledgeBase{b}, []string{"another"}, "")
	require.NoError(t, err)
	require.Empty(t, none)
}
