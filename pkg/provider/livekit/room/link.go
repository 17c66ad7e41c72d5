package room

import (
	"net"
	"net/netip"

	"github.com/pion/ice/v4"
	"github.com/pion/webrtc/v4"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/soundtrack"
)

// link is a WebRTC connection to the server: the one that this side offers, for what it
// says, and, with a token that may subscribe, one that the server offers, for what it
// hears. The reader owns what is not the connection's own.
type link struct {
	*webrtc.PeerConnection
	doors *doors
	// early are candidates that came before the server's description, and described says
	// that this came.
	early     []webrtc.ICECandidateInit
	described bool
}

// newLink makes a connection that is lost for the reasons that lost is told.
//
// No description of this side names an address of it: they are nobody's business, and a
// server learns the one that matters when it is called. No STUN or TURN server is asked
// either: a server that is public is reached without, over UDP or TCP.
func newLink(g *egress.Guard, tracks []webrtc.TrackLocal, lost func(error)) (*link, error) {
	var s webrtc.SettingEngine
	s.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	s.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4, webrtc.NetworkTypeUDP6, webrtc.NetworkTypeTCP4, webrtc.NetworkTypeTCP6})
	s.SetIncludeLoopbackCandidate(allows(g, net.IPv4(127, 0, 0, 1)))
	// The last check, which holds for addresses that turn up while it connects too.
	s.SetRemoteIPFilter(func(ip net.IP) bool { return allows(g, ip) })
	many := soundtrack.Streams{Most: maxStreams, Flooded: func() { lost(errFlood) }}
	s.BufferFactory = many.Buffer
	codecs, err := soundtrack.NewMedia()
	if err != nil {
		return nil, err
	}
	for _, track := range tracks {
		if track.Kind() == webrtc.RTPCodecTypeVideo {
			err = codecs.RegisterCodec(pictures, webrtc.RTPCodecTypeVideo)
		}
	}
	if err != nil {
		return nil, err
	}
	media, err := webrtc.NewAPI(webrtc.WithMediaEngine(codecs), webrtc.WithSettingEngine(s)).NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		return nil, err
	}
	for _, track := range tracks {
		if _, err := media.AddTransceiverFromTrack(track, webrtc.RTPTransceiverInit{Direction: webrtc.RTPTransceiverDirectionSendonly}); err != nil {
			_ = media.Close()
			return nil, err
		}
	}
	media.OnConnectionStateChange(func(now webrtc.PeerConnectionState) {
		switch now {
		case webrtc.PeerConnectionStateFailed:
			lost(errStalled)
		case webrtc.PeerConnectionStateClosed:
			lost(errClosed)
		}
	})
	return &link{PeerConnection: media, doors: &doors{guard: g}}, nil
}

// pictures is the codec of pictures that are sent.
var pictures = webrtc.RTPCodecParameters{
	RTPCodecCapability: webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeVP8, ClockRate: 90000}, PayloadType: 96,
}

func allows(g *egress.Guard, ip net.IP) bool {
	addr, ok := netip.AddrFromSlice(ip)
	return ok && g.CheckAddr(addr.Unmap()) == nil
}

// describe takes the server's description, and the candidates that came before it.
func (l *link) describe(d webrtc.SessionDescription) (err error) {
	if d.SDP, err = l.doors.description(d.SDP); err != nil {
		return err
	}
	if l.SetRemoteDescription(d) != nil {
		return errMalformed
	}
	l.described = true
	for _, c := range l.early {
		if l.AddICECandidate(c) != nil {
			return errMalformed
		}
	}
	l.early = nil
	return nil
}

// try takes a candidate. One that may not be tried is as if it had not come.
func (l *link) try(c webrtc.ICECandidateInit) error {
	switch {
	case c.Candidate == "", !l.doors.open(c.Candidate):
		return nil
	case !l.described:
		l.early = append(l.early, c)
		return nil
	}
	if l.AddICECandidate(c) != nil {
		return errMalformed
	}
	return nil
}
