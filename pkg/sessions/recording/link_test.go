package recording_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/recording"
)

func TestLinks(t *testing.T) {
	links := recording.Links{Secret: []byte("what the processes share")}
	org, s, now := id.NewOrg(), id.NewSession(), time.Unix(1_800_000_000, 0)
	link := links.Sign(org, s, now.Add(time.Minute))
	gotOrg, got, ok := links.Open(link, now)
	require.True(t, ok)
	require.Equal(t, org, gotOrg)
	require.Equal(t, s, got)
	_, _, ok = links.Open(link, now.Add(time.Minute))
	require.False(t, ok, "its time is over")
	for _, wrong := range []string{"", "x", link + "A", link[:len(link)-1], strings.ToUpper(link), "B" + link[1:]} {
		_, _, ok := links.Open(wrong, now)
		require.False(t, ok, wrong)
	}
	_, _, ok = recording.Links{Secret: []byte("another")}.Open(link, now)
	require.False(t, ok)
}
