package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/hack/receiver/endpoint"
)

// story is an organization with prepaid minutes on processes of every role, and
// what came of its conversation.
type story struct {
	*platform
	t        *testing.T
	receiver *receiver
	// one and two are the API's processes, elsewhere the sockets of the portal
	// that clients are not sent to.
	one, two  caller
	elsewhere string

	base, persona, session string
	documents              []string
	visitor                *visitor
	said                   []string
}

// The hooks' paths: one is sent words, the other is not.
const (
	withWords    = "/with-words"
	withoutWords = "/without-words"
)

func newStory(t *testing.T) *story {
	t.Helper()
	s := &story{t: t, receiver: newReceiver(t), platform: newPlatform(t, newDatabase(t), newDatabase(t))}
	adminTool[shownOrg](t, s.directory, "org", "set-plan", s.org, "business")
	adminTool[shownOrg](t, s.directory, "org", "add-minutes", s.org, "30")
	_, sockets := s.portal(t)
	_, s.elsewhere = s.portal(t)
	flags := append(s.receiver.flags, "--live-url", sockets)
	one, two := s.start(t, flags...), s.start(t, flags...)
	s.work(t, s.receiver.flags...)
	one.await(t)
	two.await(t)
	s.one, s.two = caller{one.url, s.key}, caller{two.url, s.key}
	return s
}

func TestTheWholeStory(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.subscribe(withWords, map[string]any{"events": []string{"*", "transcript.final"}, "includeConversation": true})
	s.subscribe(withoutWords, map[string]any{})
	s.read()
	s.converse()
	s.interrupt()
	s.order()
	s.joinIn()
	s.end()
	s.checkTranscript()
	s.checkFigures()
	s.checkEvents()
}

// subscribe makes a webhook that verifies what it is sent.
func (s *story) subscribe(path string, body map[string]any) {
	s.t.Helper()
	body["url"] = s.receiver.URL(path)
	made := data[shownHook](s.t, post(s.t, s.one.base+"/webhooks", s.key, body))
	s.receiver.Set(path, endpoint.Behaviour{Secret: made.Secret})
}

// read has a pack read three documents, and makes a persona that knows them.
func (s *story) read() {
	s.t.Helper()
	s.base = s.one.makes(s.t, "/knowledge/bases", map[string]any{"name": "Museum"})
	for _, name := range []string{"guide.pdf", "guide.docx", "prices.csv"} {
		s.documents = append(s.documents, s.one.upload(s.t, s.base, filepath.Join("../../pkg/text/extract/testdata", name)))
	}
	for _, d := range s.documents {
		s.two.ready(s.t, d)
	}
	found := data[struct {
		Results  []struct{ DocumentID, Text string }
		Grounded bool
	}](s.t, post(s.t, s.two.base+"/knowledge/bases/"+s.base+"/search", s.key, map[string]any{"query": "Which tram do I take?"}))
	require.True(s.t, found.Grounded)
	require.Equal(s.t, s.documents[0], found.Results[0].DocumentID)
	require.Contains(s.t, found.Results[0].Text, "tram number four")
	s.persona = s.one.persona(s.t, s.base, map[string]any{
		"greeting":     map[string]any{"mode": "fixed", "text": map[string]any{"en": "Welcome to the museum."}},
		"conversation": map[string]any{"interruptible": "high"},
	})
}

// note keeps a turn as it is to stand in the transcript.
func (s *story) note(speaker, text string) { s.said = append(s.said, speaker+": "+text) }

// ask asks a question whose answer says something and names what it rests on.
func (s *story) ask(question, says string, titles ...string) {
	s.t.Helper()
	text, sources := s.visitor.ask(question)
	s.note("user", question)
	s.note("avatar", text)
	require.Contains(s.t, text, says, question)
	require.Equal(s.t, titles, sources, "%s %s", question, text)
}

// converse greets and talks five turns.
func (s *story) converse() {
	s.t.Helper()
	ticket := s.one.mint(s.t, s.persona, "voice")
	s.session = ticket.Session.ID
	s.visitor = visit(s.t, ticket.Transport.URL, ticket.Token)
	greeting, _ := s.visitor.hear()
	require.Equal(s.t, "Welcome to the museum.", greeting)
	s.note("avatar", greeting)
	s.ask("Which tram do I take?", "tram number four", "Opening hours")
	s.ask("How long is the café in the courtyard open?", "until seven", "Opening hours")
	s.ask("Should I bring a coat?", "Bring a coat", "Visitor guide")
	s.ask("Is an adult ticket valid all day?", "Valid all day", "prices.csv")
	s.ask("Do you sell umbrellas?", "do not know")
}

// interrupt breaks an answer off: what was heard of it is less than all.
func (s *story) interrupt() {
	s.t.Helper()
	const question = "What should groups of eight people do?"
	s.visitor.send("user-text", map[string]string{"text": question})
	s.note("user", question)
	s.visitor.await("bot-text", func(w spoken) bool { return strings.Contains(w.Text, "Groups of more than eight") })
	s.visitor.send("interrupt", nil)
	heard := words(s.t, s.visitor.await("interrupted", nil))
	// It was played to the third word, as the client alone knows.
	s.visitor.send("playback", map[string]any{"turnId": heard.TurnID, "playedMs": 900})
	s.note("avatar", "Groups of")
}

// order has the avatar say something through the other process of the API.
func (s *story) order() {
	s.t.Helper()
	const news = "The garden closes early today."
	a := post(s.t, s.two.base+"/sessions/"+s.session+"/say", s.key, map[string]any{"text": news})
	require.Equal(s.t, http.StatusAccepted, a.status, "%s", a.body)
	text, _ := s.visitor.hear()
	require.Equal(s.t, news, text)
	s.note("avatar", news)
}

// joinIn has a team member come through the other portal and take over.
func (s *story) joinIn() {
	s.t.Helper()
	invited := data[ticket](s.t, post(s.t, s.two.base+"/sessions/"+s.session+"/staff-token", s.key, map[string]any{"staffName": "Kim", "mode": "takeover"}))
	_, path, _ := strings.Cut(strings.TrimPrefix(invited.Transport.URL, "ws://"), "/")
	kim := visit(s.t, s.elsewhere+"/"+path, invited.Token)
	joined := words(s.t, s.visitor.await("notice", nil))
	require.Equal(s.t, []string{"staff_joined", "Kim", "takeover"}, []string{joined.Kind, joined.Name, joined.Mode})
	s.visitor.send("user-text", map[string]string{"text": "Which tram was it?"})
	s.note("user", "Which tram was it?")
	kim.await("user-transcription", func(w spoken) bool { return w.Final && w.Text == "Which tram was it?" })
	kim.send("user-text", map[string]string{"text": "The four, I take it too."})
	said := words(s.t, s.visitor.await("staff-text", nil))
	require.Equal(s.t, []string{"Kim", "The four, I take it too."}, []string{said.Name, said.Text})
	s.note("Kim", said.Text)
	kim.Leave()
	s.visitor.await("notice", func(w spoken) bool { return w.Kind == "staff_left" })
	s.ask("Which tram goes along the river?", "tram number four", "Opening hours")
}

// end ends the session through the API, with a last word, and rates it.
func (s *story) end() {
	s.t.Helper()
	ended := make(chan answer, 1)
	go func() {
		a, _ := attempt(http.MethodPost, s.two.base+"/sessions/"+s.session+"/end", s.key, map[string]any{"reason": "closing time", "message": "Goodbye."})
		ended <- a
	}()
	s.visitor.await("bot-text", func(w spoken) bool { return w.Text == "Goodbye." })
	s.note("avatar", "Goodbye.")
	require.Equal(s.t, "ended_by_api", s.visitor.ended())
	shown := data[struct{ State, EndReason string }](s.t, <-ended)
	require.Equal(s.t, []string{"ended", "ended_by_api"}, []string{shown.State, shown.EndReason})
	rated, err := attempt(http.MethodPost, s.one.base+"/sessions/"+s.session+"/rating", "", map[string]any{"score": 5, "scale": 5},
		"X-Session-Token", s.visitor.resume)
	require.NoError(s.t, err)
	require.Equal(s.t, http.StatusOK, rated.status, "%s", rated.body)
}
