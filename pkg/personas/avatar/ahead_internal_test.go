package avatar

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
)

func TestFacesAreDrawnAhead(t *testing.T) {
	l := NewLibrary()
	worn := l.Faces()[7].ID
	l.Ahead(id.NewAvatar(), 64)
	require.Empty(t, l.warming, "an own face is not drawn")

	l.livingMu.Lock() // somebody draws another face in layers
	l.Ahead(worn, 64)
	l.Ahead(l.Faces()[8].ID, 64)
	_, err := l.Picture(worn, 96)
	l.livingMu.Unlock()
	require.NoError(t, err, "a picture waits for no layers")
	require.Eventually(t, func() bool { return len(l.warming) == 0 }, time.Minute, 5*time.Millisecond)
	require.True(t, l.drawn.Contains(fmt.Sprint(worn, 64)))
	for _, side := range LivingSides {
		require.True(t, l.living.Contains(fmt.Sprint(worn, side)), side)
	}
	require.False(t, l.drawn.Contains(fmt.Sprint(l.Faces()[8].ID, 64)), "one at a time")
}
