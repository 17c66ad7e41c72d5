// Pages shows the portal pages with made-up data, without a database, for who
// works on their look: go run ./hack/pages, then /p/harbour. The avatar says the
// same few things to everybody.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/coder/websocket"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/portals/portal/published"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/web/page"
	"visavis.dev/web/page/pagetest"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8085", "where to listen")
	flag.Parse()
	library := avatar.NewLibrary()
	site := pagetest.Sample(library)
	strict := pagetest.Sample(library)
	strict.Slug = "strict"
	strict.Doors = map[string]published.Door{
		page.DoorVisitors: pagetest.Open(page.DoorVisitors, "name", "email", "consent"), page.DoorJoinCode: pagetest.Open(page.DoorJoinCode),
	}
	strict.Definition.MinAge = new(int64(16))
	h, err := page.New(page.Options{
		Sites: pagetest.Sites{
			{Kind: directory.Slug, Name: "harbour"}: site,
			{Kind: directory.Slug, Name: "strict"}:  strict,
		},
		Doors:         &pagetest.Doors{Code: "ANCHOR", Tokens: map[string]page.Visit{"token": {Name: "Nora"}}},
		Conversations: &pagetest.Conversations{URL: "ws://" + *addr + "/live"}, Portraits: pagetest.Portraits{Library: library},
		PortalURL: "http://" + *addr, LiveURL: "ws://" + *addr, Address: pagetest.Address, Log: slog.Default(),
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "pages:", err)
		os.Exit(1)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/live", talk)
	mux.Handle("/", h)
	fmt.Printf("http://%s/p/harbour\nhttp://%s/p/strict\n", *addr, *addr)
	server := &http.Server{Addr: *addr, Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	fmt.Fprintln(os.Stderr, "pages:", server.ListenAndServe())
}

// talk is a socket whose avatar says the same to everybody.
func talk(w http.ResponseWriter, r *http.Request) {
	socket, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"visavis.v1"}})
	if err != nil {
		return
	}
	defer func() { _ = socket.CloseNow() }()
	ctx := r.Context()
	send := func(kind string, data any) {
		text, err := json.Marshal(map[string]any{"id": "1", "type": kind, "data": data, "t": time.Now().UnixMilli()})
		if err == nil {
			err = socket.Write(ctx, websocket.MessageText, text)
		}
		if err != nil {
			slog.Warn("the avatar falls silent", "error", err)
		}
	}
	send("session-ready", map[string]any{"session": map[string]any{"id": id.NewSession(), "language": "en"}, "resumeToken": "again", "turns": []any{}})
	say(send, nil, "Welcome aboard.", "What would you like to know?")
	for {
		m, err := receive(ctx, socket)
		switch {
		case err != nil:
			return
		case m.Type == "end":
			send("session-ended", map[string]any{"endReason": "ended_by_user", "ratingAllowed": true})
			_ = socket.Close(websocket.StatusNormalClosure, "")
			return
		case m.Type == "user-text":
			send("user-transcription", map[string]any{"turnId": id.NewTurn(), "text": m.Data.Text, "final": true})
			say(send, []any{map[string]any{"title": "Handbook of the harbour", "page": 12, "url": "https://example.com/handbook"}},
				"A bowline makes a loop that does not slip.", "Lay a small loop, bring the end up through it, around behind, and down again.")
		}
	}
}

type message struct {
	Type string
	Data struct{ Text string }
}

func receive(ctx context.Context, socket *websocket.Conn) (m message, err error) {
	_, text, err := socket.Read(ctx)
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	return m, err
}

func say(send func(string, any), sources []any, sentences ...string) {
	turn := id.NewTurn()
	send("state", map[string]any{"state": "speaking"})
	for _, s := range sentences {
		send("bot-text", map[string]any{"turnId": turn, "text": s, "final": false})
	}
	send("bot-text", map[string]any{"turnId": turn, "text": "", "final": true, "sources": sources})
	send("state", map[string]any{"state": "listening"})
}
