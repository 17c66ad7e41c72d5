// Command talk lets a person talk with a persona in a terminal. Without a
// persona it makes one that has read this repository's README.
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"visavis.dev/pkg/visits/live/livetest"
)

func main() {
	if err := run(); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "talk:", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	credentials := flag.String("credentials", filepath.Join(cmp.Or(os.Getenv("VISAVIS_DATA_DIR"), ".visavis"), "credentials.json"),
		"`FILE` that visavis dev wrote; the one in VISAVIS_DATA_DIR or .visavis unless given")
	persona := flag.String("persona", "", "`ID` of the persona; the newest, or one made for the purpose, unless given")
	language := flag.String("language", "", "language of the conversation, by `CODE` or name")
	flag.Parse()
	api, err := open(*credentials)
	if err != nil {
		return err
	}
	if *persona == "" {
		if *persona, err = somebody(ctx, api); err != nil {
			return err
		}
	}
	more := map[string]any{}
	if *language != "" {
		more["language"] = *language
	}
	_, client, err := api.Connect(ctx, *persona, more)
	if err != nil {
		return err
	}
	defer client.Leave()
	c := conversation{Client: client, screen: &screen{out: os.Stdout, terminal: typedIn(os.Stdin)}, waits: true}
	return c.run(ctx, os.Stdin)
}

// conversation is a person at a terminal, and a client of a session.
type conversation struct {
	*livetest.Client
	screen *screen
	// waits says that the avatar has the floor. Lines that nobody types wait
	// until it listens.
	waits bool
}

// run passes lines to the avatar and its words to the screen until either
// leaves.
func (c *conversation) run(ctx context.Context, in io.Reader) error {
	c.screen.line("Type and press Enter. An empty line interrupts; Ctrl-D leaves.")
	typed := make(chan string)
	go read(in, typed)
	var patience <-chan time.Time
	for {
		lines := typed
		if c.waits && !c.screen.terminal {
			lines = nil
		}
		select {
		case line, open := <-lines:
			if open {
				c.screen.entered()
				if err := c.enter(ctx, strings.TrimSpace(line)); err != nil {
					return err
				}
				continue
			}
			c.screen.endLine()
			typed, patience = nil, time.After(farewell)
			if err := c.Send(ctx, "end", nil); err != nil {
				return err
			}
		case m, open := <-c.Messages():
			if !open {
				return nil
			}
			c.take(m)
		case <-patience:
			return nil
		case <-ctx.Done():
			c.screen.endLine()
			return nil
		}
	}
}

// farewell is how long the end may take that the person asked for.
const farewell = 5 * time.Second

func read(in io.Reader, lines chan<- string) {
	defer close(lines)
	for scanner := bufio.NewScanner(in); scanner.Scan(); {
		lines <- scanner.Text()
	}
}

// enter takes a line that was typed.
func (c *conversation) enter(ctx context.Context, line string) error {
	if line == "" {
		c.screen.prompt()
		return c.Send(ctx, "interrupt", nil)
	}
	c.waits = true
	return c.Say(ctx, line)
}

// take takes what the server sent.
func (c *conversation) take(m livetest.Message) {
	var d received
	_ = json.Unmarshal(m.Data, &d) // what cannot be read is not shown
	c.screen.show(m.Type, d)
	if m.Type == "state" {
		c.waits = d.State != "listening" && d.State != "idle"
	}
}
