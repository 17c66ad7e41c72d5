package datauri_test

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/datauri"
)

// A stream is read as the whole text is.
func FuzzOpen(f *testing.F) {
	f.Add("data:image/png;base64,aGVsbG8=")
	f.Add("data:image/png;base64,aGVsbG8=aGVs")
	f.Add("data:image/png;base64,aGVs\nbG8=\r\n")
	f.Add("data:image/png;base64,aGVsbG9=")
	f.Add("data:;base64,")
	f.Add("data:a/b;base64," + strings.Repeat("QUJD", 5000) + "QQ==")
	f.Add("data:a/b;base64," + strings.Repeat("QUJD", 2047) + "QQ==QUJD")
	f.Fuzz(func(t *testing.T, text string) {
		wantType, want, wantErr := datauri.Parse(text, 1<<20)
		gotType, r, err := datauri.Open(iotest.HalfReader(strings.NewReader(text)))
		var got []byte
		if err == nil {
			got, err = io.ReadAll(r)
		}
		if head, _, _ := strings.Cut(text, ","); len(head) > 1000 {
			return // longer than what is read of it
		}
		if wantErr != nil {
			require.ErrorIs(t, err, datauri.ErrMalformed)
			return
		}
		require.NoError(t, err)
		require.Equal(t, wantType, gotType)
		require.Equal(t, string(want), string(got))
	})
}
