package portal_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/visits/live/livetest"
)

// duo makes a duo of Ada and Ben and makes it live.
func (v *visited) duo(interplay map[string]any) (duo, persona string) {
	v.Helper()
	var faces, voices []struct{ ID string }
	v.call(http.MethodGet, "/avatars?limit=2", nil, &faces)
	v.call(http.MethodGet, "/voices?limit=2", nil, &voices)
	var made struct{ ID, PersonaID string }
	v.call(http.MethodPost, "/duos", map[string]any{
		"name": "Ada and Ben", "languages": []string{"en", "de"}, "interplay": interplay, "hosts": []map[string]any{
			{"seat": "right", "role": "partner", "name": "Ben", "avatarId": faces[1].ID, "voiceId": voices[1].ID},
			{"seat": "left", "role": "lead", "name": "Ada", "avatarId": faces[0].ID, "voiceId": voices[0].ID},
		},
	}, &made)
	v.call(http.MethodPatch, "/personas/"+made.PersonaID, map[string]any{
		"greeting": map[string]any{"text": map[string]any{"en": "Ada: Welcome. Ben: Hello.", "de": "Willkommen."}},
	}, nil)
	v.call(http.MethodPost, "/duos/"+made.ID+"/live", nil, nil)
	return made.ID, made.PersonaID
}

// A session of a duo is held by both hosts, and its transcript says who said what, by each contract.
func TestADuoHoldsAConversation(t *testing.T) {
	v := visit(t, clock.RealClock{})
	_, persona := v.duo(map[string]any{"style": "interview", "handover": "natural", "balance": 0.5})
	m := v.invite(map[string]any{"personaId": persona, "channel": "chat"})
	code, told := v.opens(*m.JoinURL)
	require.Equal(t, http.StatusOK, code)
	require.Len(t, told["hosts"], 2)

	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	c, err := livetest.Dial(ctx, strings.Replace(v.origin, "http", "ws", 1)+"/live/v1/"+m.Session.ID, m.Token)
	require.NoError(t, err)
	defer c.Drop()
	require.NoError(t, c.Send(ctx, "client-ready", nil))
	hears := func(host, text string) {
		t.Helper()
		_, err := c.Until(ctx, func(m livetest.Message) bool {
			var d struct{ Host, Name, Text string }
			return m.Type == "bot-text" && json.Unmarshal(m.Data, &d) == nil && d.Host+" "+d.Name == host && strings.Contains(d.Text, text)
		})
		require.NoError(t, err, "%s: %s", host, text)
	}
	hears("left Ada", "Welcome.")
	hears("right Ben", "Hello.")
	require.NoError(t, c.Send(ctx, "user-text", map[string]string{"text": "When was the moon landing?"}))
	hears("right Ben", "know")
	require.NoError(t, c.Send(ctx, "user-text", map[string]string{"text": "Ada, who are you?"}))
	hears("left Ada", "Ada")

	type turn struct {
		Speaker    string
		Host, Name *string
	}
	for _, key := range []string{v.api.Key, v.older} {
		var transcript struct{ Turns []turn }
		require.NoError(t, livetest.API{Base: v.api.Base, Key: key}.Call(ctx, http.MethodGet, "/sessions/"+m.Session.ID+"/transcript", nil, &transcript))
		var said []string
		for _, turn := range transcript.Turns {
			if turn.Speaker != "avatar" {
				require.Nil(t, turn.Host)
				continue
			}
			said = append(said, *turn.Host+" "+*turn.Name)
		}
		require.Equal(t, []string{"left Ada", "right Ben", "right Ben", "left Ada"}, said)
	}
	var text struct{ Content string }
	v.call(http.MethodGet, "/sessions/"+m.Session.ID+"/transcript?format=text", nil, &text)
	require.True(t, strings.HasPrefix(text.Content, "Ada: Welcome.\nBen: Hello.\n"), text.Content)
}

// A portal shows the hosts of the duo who speaks there, as they are called now.
func TestAPortalShowsADuo(t *testing.T) {
	v := visit(t, clock.RealClock{})
	duo, _ := v.duo(map[string]any{})
	v.call(http.MethodPut, v.portal+"/persona", map[string]any{"duoId": duo}, nil)
	v.call(http.MethodPost, v.portal+"/publish", map[string]any{}, nil)
	v.enter("embed", map[string][]string{"token": {v.link("embed-tokens", map[string]any{"externalId": "kim", "name": "Kim"})}})
	shows := func(name string) func() bool {
		return func() bool {
			r, err := http.NewRequestWithContext(v.Context(), http.MethodGet, v.page+"/talk", nil)
			require.NoError(v, err)
			for _, c := range v.cookies {
				r.AddCookie(c)
			}
			answer, err := http.DefaultClient.Do(r)
			require.NoError(v, err)
			defer func() { _ = answer.Body.Close() }()
			text, err := io.ReadAll(answer.Body)
			require.NoError(v, err)
			return strings.Contains(string(text), "data-hosts=") && strings.Contains(string(text), name)
		}
	}
	require.Eventually(t, shows("Ben"), 10*time.Second, 200*time.Millisecond)
	var made struct{ Hosts []map[string]any }
	v.call(http.MethodGet, "/duos/"+duo, nil, &made)
	made.Hosts[0]["name"] = "Benedict"
	v.call(http.MethodPatch, "/duos/"+duo, map[string]any{"hosts": made.Hosts}, nil)
	require.Eventually(t, shows("Benedict"), 10*time.Second, 200*time.Millisecond)
}
