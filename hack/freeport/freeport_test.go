package freeport_test

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/hack/freeport"
)

func TestAddressIsFreeAndGivenOnce(t *testing.T) {
	given := map[string]bool{}
	for range 100 {
		address, err := freeport.Address()
		require.NoError(t, err)
		require.False(t, given[address], address)
		given[address] = true
		l, err := net.Listen("tcp", address)
		require.NoError(t, err)
		require.NoError(t, l.Close())
	}
}
