package embedded

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestServerLogTail(t *testing.T) {
	dir := &directory{path: t.TempDir()}
	path := dir.file("server.log")
	require.NoError(t, os.WriteFile(path, []byte("earlier\n"), 0o600))
	l, err := openServerLog(dir)
	require.NoError(t, err)
	defer l.Close()
	require.Empty(t, l.tail(), "an earlier server's lines are not quoted")

	_, err = l.WriteString(strings.Repeat("line\n", 30) + "last\n")
	require.NoError(t, err)
	lines := strings.Split(l.tail(), "\n")
	require.Len(t, lines, tailLines)
	require.Equal(t, "last", lines[len(lines)-1])
}

func TestServerLogIsTruncated(t *testing.T) {
	dir := &directory{path: t.TempDir()}
	path := dir.file("server.log")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, os.Truncate(path, serverLogLimit))
	for _, want := range []int64{serverLogLimit + 1, 0} {
		l, err := openServerLog(dir)
		require.NoError(t, err)
		if want > 0 {
			_, err = l.WriteString("x")
			require.NoError(t, err)
		}
		require.NoError(t, l.Close())
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, want, info.Size())
	}
}
