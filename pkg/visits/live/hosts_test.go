package live_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/speech/speaker"
	"visavis.dev/pkg/visits/live/livetest"
)

// twoVoices notes which voice says what.
type twoVoices struct {
	speaker.Speaker
	said chan string
}

func (v twoVoices) Speak(ctx context.Context, r speaker.Request, heard func(speaker.Chunk) error) error {
	v.said <- fmt.Sprintf("%s, %g: %s", r.Voice, r.Speed, r.Text)
	return v.Speaker.Speak(ctx, r, heard)
}

// Both hosts of a duo speak, each with their own voice and in turns of their own, in what a client is told and in what is kept.
func TestDuoSpeaks(t *testing.T) {
	t.Parallel()
	s := speaks(t)
	said := make(chan string, 10)
	s.speaker = twoVoices{s.speaker, said}
	s.change = func(d *persona.Definition) {
		d.Settings.Speed = 1.4
		d.Greeting.Text = map[string]string{"en": "Ada: Welcome. Ben: I am Ben."}
	}
	nora, owen := id.NewVoice(), id.NewVoice()
	s.voices, s.fastest = map[id.Voice]string{nora: "nora", owen: "owen"}, map[string]float64{"owen": 1.2}
	p := s.pod()
	defer p.Stop()
	left, right := id.NewAvatar(), id.NewAvatar()
	minted, c := s.visitor(p, func(w *session.Session) {
		w.Channel, w.Voice, w.Avatar, w.Duo = "voice", nora, left, id.NewDuo()
		w.Brief.Duo = &persona.Cast{
			Hosts: []persona.Host{
				{Seat: "right", Name: "Ben", Avatar: right, Voice: owen, Role: "partner"}, {Seat: "left", Name: "Ada", Avatar: left, Voice: nora, Role: "lead"},
			},
			Interplay: persona.Interplay{Style: "co_host", Handover: "natural", Balance: 0.5},
		}
	})
	require.JSONEq(t, `[
		{"seat":"left","role":"lead","name":"Ada","face":{"avatarId":"`+left.String()+`","assetsUrl":"http://api.example/v1/avatars/`+left.String()+`/face"}},
		{"seat":"right","role":"partner","name":"Ben","face":{"avatarId":"`+right.String()+`","assetsUrl":"http://api.example/v1/avatars/`+right.String()+`/face"}}
	]`, string(c.hosts))
	c.send("client-ready", map[string]any{"audio": []string{"pcm"}})
	var told []string
	heard := c.listens(func(m livetest.Message, h *spoken) bool {
		if m.Type == "bot-text" {
			var d struct {
				Host, Name, Text string
				Final            bool
			}
			require.NoError(t, json.Unmarshal(m.Data, &d))
			told = append(told, d.Host+" "+d.Name+": "+d.Text)
		}
		return len(told) == 4 && untilLast(m, h)
	})
	require.Equal(t, []string{"left Ada: Welcome.", "left Ada: ", "right Ben: I am Ben.", "right Ben: "}, told)
	require.NotEmpty(t, heard.samples)
	require.Equal(t, []string{"nora, 1.4: Welcome.", "owen, 1.2: I am Ben."}, []string{<-said, <-said})
	require.Eventually(t, func() bool {
		turns, err := session.Turns(context.Background(), s.tenants, s.org, minted.ID, 0, 10)
		require.NoError(t, err)
		return len(turns) == 2 && turns[0].Host+turns[0].Name+turns[0].Text == "leftAdaWelcome." && turns[1].Host+turns[1].Name+turns[1].Text == "rightBenI am Ben."
	}, 10*time.Second, 50*time.Millisecond)

	// Who comes again is shown who said what.
	again := s.connect(p, minted.ID, c.resume)
	require.Equal(t, []string{"left Ada Welcome.", "right Ben I am Ben."}, again.saidBy)
}
