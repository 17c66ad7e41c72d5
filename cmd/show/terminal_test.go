package show_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/cmd/show"
)

func TestNamesDoNotMoveTheCursor(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	_, err := show.Terminal(&out).Write([]byte("a\tÄ\x1b[2J\u009b0m\r\n汉\n"))
	require.NoError(t, err)
	require.Equal(t, "a\tÄ\ufffd[2J\ufffd0m\ufffd\n汉\n", out.String())
}
