package rtc

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // the scheme of TURN servers is by it
	"encoding/base64"
	"fmt"
	"strings"
	"time"
)

// Relays are the STUN and TURN servers that browsers are told of.
type Relays struct {
	// URLs are of stun:, turn: and turns:.
	URLs []string
	// Secret is what the TURN servers share with us (use-auth-secret of coturn). There are
	// none without it.
	Secret []byte
}

// ICEServer is one of them, as a browser's RTCPeerConnection takes it.
type ICEServer struct {
	URLs       []string `json:"urls"`
	Username   string   `json:"username,omitempty"`
	Credential string   `json:"credential,omitempty"`
}

// credentialFor is how long a TURN server takes a browser's credential: to begin with, for
// what has begun goes on.
const credentialFor = time.Hour

// For are the servers for one browser, with a credential of its own that is good for an hour
// (draft-uberti-behave-turn-rest-00). who names it in the server's log.
func (r Relays) For(who string, now time.Time) []ICEServer {
	servers := make([]ICEServer, 0, len(r.URLs))
	for _, url := range r.URLs {
		s := ICEServer{URLs: []string{url}}
		if len(r.Secret) > 0 && strings.HasPrefix(url, "turn") {
			s.Username = fmt.Sprintf("%d:%s", now.Add(credentialFor).Unix(), who)
			mac := hmac.New(sha1.New, r.Secret)
			mac.Write([]byte(s.Username))
			s.Credential = base64.StdEncoding.EncodeToString(mac.Sum(nil))
		}
		servers = append(servers, s)
	}
	return servers
}

// Check says whether browsers can take them: every URL, and those of TURN servers with a
// credential only.
func (r Relays) Check() error {
	for _, url := range r.URLs {
		if err := CheckURL(url); err != nil {
			return fmt.Errorf("ice-server: %w", err)
		}
		if strings.HasPrefix(url, "turn") && len(r.Secret) == 0 {
			return fmt.Errorf("ice-server: %q needs a turn-secret, since browsers use no TURN server without a credential", url)
		}
	}
	return nil
}

// CheckURL says whether a URL is one of a STUN or TURN server.
func CheckURL(url string) error {
	for _, scheme := range []string{"stun:", "stuns:", "turn:", "turns:"} {
		if rest, ok := strings.CutPrefix(url, scheme); ok && rest != "" {
			return nil
		}
	}
	return fmt.Errorf("%q does not begin with stun:, stuns:, turn: or turns: and name a host", url)
}

// ICEServers are those for one browser.
func (s *Server) ICEServers(who string) []ICEServer { return s.o.Relays.For(who, s.o.Clock.Now()) }
