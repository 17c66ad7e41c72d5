// Package slack posts messages into a channel of a customer's Slack, by its incoming webhooks.
package slack

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"visavis.dev/pkg/provider/card"
	"visavis.dev/pkg/provider/upstream"
)

// Pace is how far apart messages to one channel are to be (Slack, rate limits: one a second).
const Pace = time.Second

// Hook is an incoming webhook.
type Hook struct {
	// HTTP is a guard's.
	HTTP *http.Client
	// URL is a secret: whoever has it can post.
	URL string
}

// Hosts are where incoming webhooks are.
var hosts = map[string]bool{"hooks.slack.com": true, "hooks.slack-gov.com": true}

// Wrong says in a clause why an address is none of an incoming webhook's, apart from its host; empty for nothing.
func Wrong(u *url.URL) string {
	if !strings.HasPrefix(u.Path, "/services/") || u.RawQuery != "" {
		return "is no address of an incoming webhook, such as https://hooks.slack.com/services/T…/B…/…"
	}
	return ""
}

// Known says whether a host is one of Slack's.
func Known(host string) bool { return hosts[host] }

// Post posts a message. Slack does not know one again that it had before. The error is an upstream.Error, of code
// Refused where the webhook or its channel is there no more, or may not be posted to, or context.Canceled.
func (h Hook) Post(ctx context.Context, c card.Card) error {
	body, err := json.Marshal(message(c))
	if err != nil {
		return err
	}
	_, answer, err := upstream.PostSecretly(ctx, h.HTTP, h.URL, body)
	switch upstream.StatusOf(err) {
	case http.StatusNotFound, http.StatusGone: // no_service, channel_not_found, channel_is_archived
		return &upstream.Error{Code: upstream.Refused, Status: upstream.StatusOf(err)}
	}
	if err == nil && strings.TrimSpace(string(answer)) != "ok" {
		err = &upstream.Error{Code: upstream.Malformed}
	}
	return err
}

// Bounds of Block Kit, in characters.
const (
	longestHeader = 150
	longestText   = 3000
	longestField  = 2000
	mostFields    = 10
)

// message is a card as blocks. A stranger's words link to nothing and call nobody.
func message(c card.Card) map[string]any {
	blocks := []any{map[string]any{"type": "header", "text": map[string]any{"type": "plain_text", "text": card.Cut(c.Title, longestHeader), "emoji": false}}}
	for facts := c.Facts; len(facts) > 0; facts = facts[min(len(facts), mostFields/2):] {
		var fields []any
		for _, f := range facts[:min(len(facts), mostFields/2)] {
			fields = append(fields, named(f), plain(f.Value))
		}
		blocks = append(blocks, map[string]any{"type": "section", "fields": fields})
	}
	for _, f := range c.Texts {
		blocks = append(blocks, map[string]any{"type": "section", "text": named(f), "fields": []any{plain(f.Value)}})
	}
	if c.Link != "" {
		blocks = append(blocks, map[string]any{"type": "section", "text": map[string]any{"type": "mrkdwn", "text": "<" + escape(c.Link, longestText) + "|Open>"}})
	}
	if c.Note != "" {
		blocks = append(blocks, map[string]any{"type": "context", "elements": []any{markdown(escape(c.Note, longestField), longestField)}})
	}
	return map[string]any{"text": escape(c.Line(), longestText), "blocks": blocks, "unfurl_links": false, "unfurl_media": false}
}

// markdown is a text in mrkdwn that is escaped, in which nothing is looked for.
func markdown(text string, most int) map[string]any {
	return map[string]any{"type": "mrkdwn", "text": card.Cut(text, most), "verbatim": true}
}

// named is the name of a fact.
func named(f card.Fact) map[string]any {
	return markdown("*"+escape(strings.Join(strings.Fields(f.Name), " "), longestHeader)+"*", longestField)
}

// plain is a stranger's text, in which nothing is bold or a link.
func plain(text string) map[string]any {
	return map[string]any{"type": "plain_text", "text": escape(text, longestField), "emoji": false}
}

// escapes are the characters that mean something in mrkdwn (Slack, formatting text).
var escapes = map[rune]string{'&': "&amp;", '<': "&lt;", '>': "&gt;"}

// escape escapes a text and bounds what comes of it, in characters, without breaking an escape.
func escape(text string, most int) string {
	var b strings.Builder
	length := 0
	for _, r := range text {
		piece := string(r)
		if escaped, ok := escapes[r]; ok {
			piece = escaped
		}
		size := len([]rune(piece))
		if length+size > most-1 {
			b.WriteRune('…')
			break
		}
		b.WriteString(piece)
		length += size
	}
	return b.String()
}
