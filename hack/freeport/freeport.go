// Package freeport finds loopback ports for servers that are started, killed
// and started again at one address.
package freeport

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync/atomic"
)

// Ports below the range from which Linux serves outgoing connections: none of
// them takes a server's port between its kill and its next start.
const first, count = 20000, 12000

// Programs that run side by side begin apart.
var begin, given = rand.Uint32N(count), atomic.Uint32{}

// Address is a loopback host:port that nobody listens on. It is not given
// again before all others were.
func Address() (string, error) {
	for range count {
		address := fmt.Sprintf("127.0.0.1:%d", first+(begin+given.Add(1))%count)
		if l, err := net.Listen("tcp", address); err == nil {
			return address, l.Close()
		}
	}
	return "", errors.New("every loopback port that servers use is taken")
}
