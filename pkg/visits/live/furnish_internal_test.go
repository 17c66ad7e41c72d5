package live

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/sessions/inbox"
)

func TestARuleAsksForNobody(t *testing.T) {
	t.Parallel()
	for by, want := range map[string]string{inbox.ByVisitor: inbox.ByVisitor, inbox.ByAvatar: inbox.ByAvatar, inbox.ByRule: "", "": ""} {
		require.Equal(t, want, asksForPerson([]inbox.Left{{Kind: inbox.Handoff, RequestedBy: by}}), "%q", by)
	}
	require.Empty(t, asksForPerson([]inbox.Left{{Kind: inbox.Lead}}))
}
