package move_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob/memblob"

	"visavis.dev/pkg/base/managed"
	"visavis.dev/pkg/operations/move"
	"visavis.dev/pkg/operations/removal"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/file"
)

// An organization that is deleted leaves nothing behind, wherever a move of it is.
func TestAnOrganizationIsDeletedWhileItMoves(t *testing.T) {
	for _, moment := range []string{"", "FROM setting t", "DELETE FROM move_dirty", "keep"} {
		w := newWorld(t, large, func(o *move.Options) { o.Keep = time.Hour })
		bucket := memblob.OpenBucket(nil)
		t.Cleanup(func() { require.NoError(t, bucket.Close()) })
		remover := removal.Remover{Directory: w.directory, Tenants: w.tenants, Files: file.New(bucket, w.tenants, w.clock), Clock: w.clock}
		org := w.organization("a")
		for _, sql := range w.only("setting", "event") {
			w.fill = []string{sql}
			w.furnish(org, "a", 3)
		}
		w.begin(org, "b")
		remove := func() string {
			left, err := remover.Delete(t.Context(), org, managed.API, 5)
			require.NoError(t, err)
			return left
		}
		switch moment {
		case "":
		case "keep":
			require.NoError(t, w.advance(w.mover))
		default:
			w.before(moment, func() { remove() })
		}
		require.Equal(t, "move", remove(), "it waits for the move's end")
		require.NoError(t, w.advance(w.mover), moment)
		require.Empty(t, remove())
		for _, shard := range []string{"a", "b"} {
			require.Empty(t, w.everything(org, shard), moment)
		}
		_, err := w.directory.Organization(t.Context(), org)
		require.ErrorIs(t, err, directory.ErrUnknown)
	}
}
