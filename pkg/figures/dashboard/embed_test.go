package dashboard_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/figures/dashboard"
)

func TestEmbeds(t *testing.T) {
	t.Parallel()
	links, now := dashboard.Embeds{Secret: []byte("what the processes share")}, time.Unix(1_800_000_000, 0).UTC()
	for _, k := range dashboard.Keys() {
		want := dashboard.Embed{Org: id.NewOrg(), Key: k, Portal: id.NewPortal(), By: id.NewKey(), Until: now.Add(time.Minute)}
		link := links.Sign(want)
		got, ok := links.Open(link, now)
		require.True(t, ok)
		require.Equal(t, want, got)
		_, ok = links.Open(link, now.Add(time.Minute))
		require.False(t, ok, "its time is over")
		for _, wrong := range []string{"", "x", link + "A", link[:len(link)-1], strings.ToUpper(link), "B" + link[1:]} {
			_, ok := links.Open(wrong, now)
			require.False(t, ok, wrong)
		}
		_, ok = dashboard.Embeds{Secret: []byte("another")}.Open(link, now)
		require.False(t, ok)
	}
}
