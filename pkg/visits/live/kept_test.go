package live_test

import (
	"testing"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/session"
)

// Who asks what is kept is told what the session's settings say. Of words that were said before a switch
// was turned, or that are under a hold, nothing is promised.
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
	c.hear("I cannot tell.")

	minted, token = s.mint(nil)
	c = s.connect(p, minted.ID, string(token))
	c.send("client-ready", nil)
	c.hear("Welcome.")
	c.send("user-text", map[string]string{"text": "Do you record this?"})
	c.hear("No words of this conversation are kept here.")
	c.hear("How you can be reached is kept")
	c.hear("may join")
}

func TestNothingIsPromisedOfWhatIsUnderAHold(t *testing.T) {
	t.Parallel()
	s := newStage(t, 600)
	p := s.pod()
	defer p.Stop()
	minted, c := s.greeted(p, func(w *session.Session) { w.Brief.RetainDays = new(int64(30)) })
	s.hold(minted.ID)
	c.send("user-text", map[string]string{"text": "Is this conversation stored?"})
	c.hear("I cannot tell.")
}

// Who was recorded is not told that sound is only recorded if they agree.
func TestWhatWasRecordedIsTold(t *testing.T) {
	t.Parallel()
	s := records(t)
	p := s.pod()
	defer p.Stop()
	minted, c := s.visitor(p, onTape)
	ask := func(want string) {
		t.Helper()
		c.send("user-text", map[string]string{"text": "Is this conversation stored?"})
		c.hear(want)
		c.hear(`"final":true`)
	}
	c.send("client-ready", map[string]any{"audio": []string{"pcm"}})
	c.hear("Welcome.")
	ask("only if you agree")
	c.send("recording", map[string]bool{"agreed": true})
	c.await("recording", nil)
	ask("is being recorded")
	s.hold(minted.ID)
	c.send("recording", map[string]bool{"agreed": false})
	c.await("recording", nil)
	ask("was recorded here")
}

func TestNothingOfWhatWasRefusedIsTold(t *testing.T) {
	t.Parallel()
	s := records(t)
	p := s.pod()
	defer p.Stop()
	_, c := s.visitor(p, onTape)
	for _, agreed := range []bool{true, false} {
		c.send("recording", map[string]bool{"agreed": agreed})
		c.await("recording", nil)
	}
	c.send("client-ready", map[string]any{"audio": []string{"pcm"}})
	c.hear("Welcome.")
	c.send("user-text", map[string]string{"text": "Is this conversation stored?"})
	c.hear("The sound is not recorded here.")
}

// hold has a session kept as it is.
func (s *stage) hold(which id.Session) {
	s.t.Helper()
	s.sql(`UPDATE session SET on_hold = true WHERE org_id = $1 AND id = $2`, which)
}
