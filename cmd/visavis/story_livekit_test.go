package main

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/provider/livekit/livekittest"
	"visavis.dev/pkg/visits/live/livetest"
)

// roomTicket is a ticket whose transport is a media server's room.
type roomTicket struct {
	Session   struct{ ID string }
	Transport struct{ Kind, URL, Token, Room, Identity string }
}

// enterRoom joins a session's room and says that it is ready until the persona hears it.
func enterRoom(t *testing.T, s *livekittest.Server, to roomTicket) *visitor {
	t.Helper()
	require.Equal(t, "livekit", to.Transport.Kind)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c, err := livetest.Join(ctx, s.Guard(), to.Transport.URL, to.Transport.Token)
	require.NoError(t, err)
	t.Cleanup(c.Drop)
	v := &visitor{Client: c, t: t}
	for {
		v.send("client-ready", map[string]any{"audio": []string{"opus"}})
		soon, again := context.WithTimeout(ctx, time.Second)
		m, err := c.UntilType(soon, "session-ready")
		again()
		if err != nil && ctx.Err() == nil {
			continue
		}
		require.NoError(t, err)
		var ready struct{ ResumeToken string }
		require.NoError(t, json.Unmarshal(m.Data, &ready))
		v.resume = ready.ResumeToken
		return v
	}
}

// A conversation on the organization's own LiveKit server, with real processes: one of the
// portals is killed in the middle, and the other goes on in the same room.
func TestTheStoryOverLiveKit(t *testing.T) {
	t.Parallel()
	server := livekittest.Start(t)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Front.Certificate().Raw}), 0o600))
	flags := []string{"--allow-address", "127.0.0.0/8", "--trust-ca", ca}
	p := newPlatform(t, newDatabase(t), newDatabase(t))
	adminTool[shownOrg](t, p.directory, "org", "add-minutes", p.org, "30")
	portal, _ := p.portal(t, flags...)
	api := caller{p.serve(t, flags...).url, p.key}
	p.work(t, flags...)

	media := api.makes(t, "/connections", map[string]any{
		"kind": "media", "provider": "livekit", "name": "Our own", "secret": server.Key.Secret,
		"config": map[string]any{"url": server.URL, "apiKey": server.Key.ID, "roomPrefix": "acme-"},
	})
	tested := data[struct{ Connection struct{ State string } }](t, post(t, api.base+"/connections/"+media+"/test", api.key, nil))
	require.Equal(t, "active", tested.Connection.State)
	base := api.makes(t, "/knowledge/bases", map[string]any{"name": "Museum"})
	for _, name := range []string{"guide.pdf", "guide.docx"} {
		api.ready(t, api.upload(t, base, filepath.Join("../../pkg/text/extract/testdata", name)))
	}
	persona := api.persona(t, base, map[string]any{
		"greeting":     map[string]any{"mode": "fixed", "text": map[string]any{"en": "Welcome to the museum."}},
		"conversation": map[string]any{"interruptible": "high"},
	})
	minted := data[roomTicket](t, post(t, api.base+"/sessions/tokens", api.key, map[string]any{"personaId": persona, "channel": "voice", "transport": "livekit"}))
	require.Equal(t, []string{"acme-" + minted.Session.ID, "visitor"}, []string{minted.Transport.Room, minted.Transport.Identity})

	v := enterRoom(t, server, minted)
	greeting, _ := v.hear()
	require.Equal(t, "Welcome to the museum.", greeting)
	ask := func(question, says string) {
		t.Helper()
		text, _ := v.ask(question)
		require.Contains(t, text, says)
	}
	ask("Which tram do I take?", "tram number four")
	ask("How long is the café in the courtyard open?", "until seven")

	// The portal dies; another, which starts only now, is in the room within the lease.
	portal.kill()
	p.portal(t, flags...)
	v.await("session-ready", nil)
	v.send("client-ready", map[string]any{"audio": []string{"opus"}})
	ask("Which tram goes along the river?", "tram number four")
	ask("Do you sell umbrellas?", "do not know")

	// An answer is broken off.
	v.send("user-text", map[string]string{"text": "What should groups of eight people do?"})
	v.await("bot-text", func(s spoken) bool { return strings.Contains(s.Text, "Groups of more than eight") })
	v.send("interrupt", nil)
	v.await("interrupted", nil)

	// A team member joins the room too.
	invited := data[roomTicket](t, post(t, api.base+"/sessions/"+minted.Session.ID+"/staff-token", api.key, map[string]any{"staffName": "Kim", "mode": "takeover"}))
	kim := enterRoom(t, server, invited)
	kim.send("user-text", map[string]string{"text": "I take the four too."})
	require.Equal(t, "Kim", words(t, v.await("staff-text", nil)).Name)
	kim.Leave()
	v.await("notice", func(s spoken) bool { return s.Kind == "staff_left" })

	// The token opens no other room.
	other := data[roomTicket](t, post(t, api.base+"/sessions/tokens", api.key, map[string]any{"personaId": persona, "channel": "voice", "transport": "livekit"}))
	require.NotEqual(t, minted.Transport.Room, other.Transport.Room)
	require.NotEqual(t, minted.Transport.Token, other.Transport.Token)

	v.send("end", nil)
	require.Equal(t, "ended_by_user", words(t, v.await("session-ended", nil)).EndReason)
	var said []string
	for _, turn := range api.transcript(t, minted.Session.ID) {
		said = append(said, turn.Speaker+": "+turn.Text)
	}
	whole := strings.Join(said, "\n")
	require.Equal(t, 1, strings.Count(whole, "Welcome to the museum."), "greeted once")
	for _, wanted := range []string{"user: How long is the café", "user: Which tram goes along the river?", "staff: I take the four too."} {
		require.Contains(t, whole, wanted)
	}
	require.Eventually(t, func() bool {
		rooms, err := server.API().Rooms(t.Context(), time.Now())
		require.NoError(t, err)
		return len(rooms) == 1 && rooms[0].Name == other.Transport.Room
	}, patience, 50*time.Millisecond, "the room is closed")
}
