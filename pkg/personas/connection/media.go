package connection

import (
	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/provider/livekit"
)

// MediaURL is where clients reach the server of a media connection: wss://…
func (o Opened) MediaURL() string { return o.Config.Text("url") }

// MediaRoom is the name of a session's room on the server.
func (o Opened) MediaRoom(s id.Session) string {
	return livekit.RoomName(o.Config.Text("roomPrefix"), s)
}

// MediaKey is the server's key with the secret to sign with; while that is being replaced,
// the new one.
func (o Opened) MediaKey() livekit.Key {
	secret := ""
	if len(o.Secrets) > 0 {
		secret = string(o.Secrets[0])
	}
	return o.mediaKey(secret)
}

func (o Opened) mediaKey(secret string) livekit.Key {
	return livekit.Key{ID: o.Config.Text("apiKey"), Secret: secret}
}

// WithMedia does something with the server by the first secret that is not refused.
func (o Opened) WithMedia(g *egress.Guard, do func(livekit.Server) error) error {
	return o.WithSecret(func(secret string) error {
		return do(livekit.Server{HTTP: g.ClientWithin(o.Timeout(), maxStream), URL: o.MediaURL(), Key: o.mediaKey(secret)})
	})
}
