package hint

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
)

// CheckTargets says whether each target of a Sender is HOST:PORT.
func CheckTargets(targets []string) error {
	for _, target := range targets {
		host, port, err := net.SplitHostPort(target)
		if n, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || n == 0 || host == "" {
			return fmt.Errorf("%q is not HOST:PORT", target)
		}
	}
	return nil
}

// lookUp finds the addresses of a target.
func lookUp(ctx context.Context, r Resolver, target string) ([]netip.AddrPort, error) {
	host, text, err := net.SplitHostPort(target)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, resolveWithin)
	defer cancel()
	addresses := make([]netip.Addr, 1)
	if addresses[0], err = netip.ParseAddr(host); err != nil {
		if addresses, err = r.LookupNetIP(ctx, "ip", host); err != nil {
			return nil, err
		}
	}
	all := make([]netip.AddrPort, len(addresses))
	for i, a := range addresses {
		all[i] = netip.AddrPortFrom(a.Unmap(), uint16(port))
	}
	return all, nil
}
