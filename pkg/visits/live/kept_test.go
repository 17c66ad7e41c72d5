package live_test

import (
	"testing"

	"visavis.dev/pkg/sessions/session"
)

// Who asks what is kept is told what the session's settings say, also of a switch turned meanwhile.
func TestWhatIsKeptIsToldAsItStands(t *testing.T) {
	t.Parallel()
	s := newStage(t, 600)
	p := s.pod()
	defer p.Stop()
	minted, token := s.mint(func(w *session.Session) { w.Brief.RetainDays = new(int64(30)) })
	c := s.connect(p, minted.ID, string(token))
	c.send("client-ready", nil)
	c.hear("Welcome.")
	c.send("user-text", map[string]string{"text": "Is this conversation stored?"})
	c.hear("for 30 days")
	c.hear("may read it")
	c.hear(`"final":true`)
	s.set("privacy.zero_data_retention", "true")
	c.send("user-text", map[string]string{"text": "Do you record this?"})
	c.hear("No words of this conversation are kept.")
}
