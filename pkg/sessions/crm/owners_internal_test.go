package crm

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
)

// Owners are remembered of so many accounts, and no longer than they are believed.
func TestRememberedOwners(t *testing.T) {
	var r rememberedOwners
	now := time.Now()
	key := func(n int) settled { return settled{of: id.Connection{byte(n)}} }
	for n := range mostOwners + 20 {
		r.put(key(n), readOwners{map[string]string{"71": "ada@example.com"}, now.Add(time.Duration(n) * time.Millisecond)})
	}
	require.Len(t, r.all, mostOwners)
	require.Nil(t, r.get(key(0)).mails, "the oldest are forgotten")
	require.NotNil(t, r.get(key(20)).mails)
	r.put(key(0), readOwners{map[string]string{}, now.Add(2 * ownersFor)})
	require.Len(t, r.all, 1)
}
