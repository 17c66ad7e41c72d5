package room

import (
	"net/netip"
	"strings"

	"github.com/pion/ice/v4"
	"github.com/pion/sdp/v3"

	"visavis.dev/pkg/base/egress"
)

// Bounds of a description and of the candidates of one connection.
const (
	maxDescription = 64 << 10
	maxCandidates  = 64
)

// doors are the addresses that a server says one of its connections is at. They are a customer's
// word: without a check they would lead anywhere in this network.
type doors struct {
	guard *egress.Guard
	seen  int
}

// open says whether a candidate may be tried: its address is written out (a name, and so
// a .local one, would have to be looked up), it is one that the guard lets through, and
// there have not been too many.
func (d *doors) open(candidate string) bool {
	if d.seen++; d.seen > maxCandidates {
		return false
	}
	c, err := ice.UnmarshalCandidate(strings.TrimPrefix(candidate, "candidate:"))
	if err != nil {
		return false
	}
	addr, err := netip.ParseAddr(c.Address())
	return err == nil && d.guard.CheckAddr(addr) == nil
}

// description is a server's description without the candidates that may not be tried.
// It is written anew from what was understood of it, so that nothing in it can be
// understood in another way afterwards.
func (d *doors) description(text string) (string, error) {
	var s sdp.SessionDescription
	if len(text) > maxDescription || s.UnmarshalString(text) != nil {
		return "", errMalformed
	}
	s.Attributes = d.attributes(s.Attributes)
	for _, m := range s.MediaDescriptions {
		m.Attributes = d.attributes(m.Attributes)
	}
	checked, err := s.Marshal()
	return string(checked), err
}

func (d *doors) attributes(all []sdp.Attribute) []sdp.Attribute {
	kept := all[:0]
	for _, a := range all {
		if a.Key != "candidate" || d.open(a.Value) {
			kept = append(kept, a)
		}
	}
	return kept
}
