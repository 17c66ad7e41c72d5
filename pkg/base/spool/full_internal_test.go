package spool

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestADiskThatIsFull(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	f := &File{file: full}
	defer f.Close()
	_, err = f.Write([]byte("x"))
	require.ErrorIs(t, err, ErrDiskFull)
}
