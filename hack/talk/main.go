// Command talk lets a person talk with a persona in a terminal. Without a
// persona it makes one that has read this repository's README.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"visavis.dev/pkg/live/livetest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "talk:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	credentials := flag.String("credentials", ".visavis/credentials.json", "`FILE` that visavis dev wrote")
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
	return talk(ctx, client)
}

// talk passes lines to the avatar and its words to the terminal.
func talk(ctx context.Context, client *livetest.Client) error {
	fmt.Println("Type and press Enter. An empty line interrupts; Ctrl-D leaves.")
	lines := make(chan string)
	go func() {
		defer close(lines)
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			lines <- in.Text()
		}
	}()
	for {
		select {
		case line, open := <-lines:
			if !open {
				return nil
			}
			if err := send(ctx, client, strings.TrimSpace(line)); err != nil {
				return err
			}
		case m, open := <-client.Messages():
			if !open {
				fmt.Println("— the conversation is over")
				return nil
			}
			show(m)
		case <-ctx.Done():
			return nil
		}
	}
}

func send(ctx context.Context, client *livetest.Client, line string) error {
	if line == "" {
		return client.Send(ctx, "interrupt", nil)
	}
	return client.Say(ctx, line)
}

// show prints what a person wants to see of a message.
func show(m livetest.Message) {
	var d struct {
		Text, Name, Kind, Code, Message, EndReason, Status, SpokenText string

		Final   bool
		EndsInS int64
		Sources []struct {
			Title string
			Page  *int
		}
		Session struct{ Name string }
	}
	_ = json.Unmarshal(m.Data, &d) // what cannot be read is not shown
	switch m.Type {
	case "session-ready":
		fmt.Printf("— %s is here\n", d.Session.Name)
	case "bot-text":
		if d.Text != "" {
			fmt.Println("  " + d.Text)
		}
		for _, s := range d.Sources {
			fmt.Println("    ↳ " + s.Title)
		}
	case "staff-text":
		fmt.Printf("  %s: %s\n", d.Name, d.Text)
	case "interrupted":
		fmt.Println("— interrupted")
	case "notice":
		fmt.Printf("— %s %s\n", strings.ReplaceAll(d.Kind, "_", " "), d.Text)
	case "tool":
		fmt.Printf("— %s %s\n", d.Name, d.Status)
	case "error":
		fmt.Printf("— %s: %s\n", d.Code, d.Message)
	case "session-ended":
		fmt.Println("— ended: " + d.EndReason)
	}
}
