package rtc

import (
	"fmt"
	"net/netip"
	"strconv"

	"github.com/pion/sdp/v3"
)

// maxOffer bounds an offer, in bytes.
const maxOffer = 16 << 10

// checkOffer is an offer without its candidates: one section of sound and one of data. It is
// written anew from what was understood of it, so that nothing in it can be understood in
// another way afterwards.
func checkOffer(text string) (string, error) {
	var s sdp.SessionDescription
	if len(text) > maxOffer {
		return "", fmt.Errorf("%w: it is longer than %d bytes", ErrOffer, maxOffer)
	}
	if err := s.UnmarshalString(text); err != nil {
		return "", fmt.Errorf("%w: %w", ErrOffer, err)
	}
	has := map[string]int{}
	s.Attributes = without(s.Attributes, "candidate")
	for _, m := range s.MediaDescriptions {
		has[m.MediaName.Media]++
		m.Attributes = without(m.Attributes, "candidate")
	}
	if len(s.MediaDescriptions) != 2 || has["audio"] != 1 || has["application"] != 1 {
		return "", fmt.Errorf("%w: it is to have one section of audio and one of data", ErrOffer)
	}
	checked, err := s.Marshal()
	return string(checked), err
}

func without(all []sdp.Attribute, key string) []sdp.Attribute {
	kept := make([]sdp.Attribute, 0, len(all))
	for _, a := range all {
		if a.Key != key {
			kept = append(kept, a)
		}
	}
	return kept
}

// announce puts the addresses at which the port is reached into an answer, in the place of
// those that it has here.
func (s *Server) announce(text string) (string, error) {
	if len(s.tells) == 0 {
		return text, nil
	}
	var d sdp.SessionDescription
	if err := d.UnmarshalString(text); err != nil {
		return "", err
	}
	for i, m := range d.MediaDescriptions {
		m.Attributes = without(without(m.Attributes, "candidate"), "end-of-candidates")
		if i > 0 {
			continue // they share the first one's
		}
		for n, a := range s.tells {
			m.Attributes = append(m.Attributes, sdp.Attribute{Key: "candidate", Value: candidate(n, a)})
		}
		m.Attributes = append(m.Attributes, sdp.Attribute{Key: "end-of-candidates"})
	}
	told, err := d.Marshal()
	return string(told), err
}

// candidate is the n-th address of the port, by RFC 8839, section 5.1.
func candidate(n int, a netip.AddrPort) string {
	const host, component = 126 << 24, 1
	priority := host | (65535-n)<<8 | (256 - component)
	return fmt.Sprintf("%d 1 udp %d %s %s typ host", n+1, priority, a.Addr().Unmap(), strconv.Itoa(int(a.Port())))
}
