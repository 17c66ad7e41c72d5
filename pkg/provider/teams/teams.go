// Package teams posts messages into a channel or chat of a customer's Microsoft Teams, by a webhook of the app
// Workflows, or one of the older connectors.
package teams

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"visavis.dev/pkg/provider/card"
	"visavis.dev/pkg/provider/upstream"
)

// Pace is how far apart messages to one webhook are to be. Connectors take four a second, and the action that
// posts a card 300 in five minutes.
const Pace = time.Second

// Hook is a webhook.
type Hook struct {
	// HTTP is a guard's.
	HTTP *http.Client
	// URL is a secret: whoever has it can post.
	URL string
}

// domains are those in which webhooks are: of workflows, of workflows before December 2025, and of connectors.
var domains = []string{".api.powerplatform.com", ".logic.azure.com", ".webhook.office.com"}

// Wrong says in a clause why an address is none of a webhook's, apart from its host; empty for nothing.
func Wrong(u *url.URL) string {
	if len(u.Path) < 2 {
		return "is no address of a webhook, such as https://….api.powerplatform.com/powerautomate/…/triggers/manual/paths/invoke?…"
	}
	return ""
}

// Known says whether a host is one of Microsoft's for webhooks.
func Known(host string) bool {
	for _, d := range domains {
		if strings.HasSuffix(host, d) {
			return true
		}
	}
	return false
}

// Post posts a message. Teams does not know one again that it had before, and a workflow that takes it can still
// fail to show it. The error is an upstream.Error, of code Refused where the webhook is there no more or is not allowed, or context.Canceled.
func (h Hook) Post(ctx context.Context, c card.Card) error {
	body, err := message(c)
	if err != nil {
		return err
	}
	status, answer, err := upstream.PostSecretly(ctx, h.HTTP, h.URL, body)
	off := status == http.StatusBadRequest && bytes.Contains(answer, []byte("NotEnabled")) // such as WorkflowTriggerIsNotEnabled
	if err != nil && (off || status == http.StatusNotFound || status == http.StatusGone) {
		return &upstream.Error{Code: upstream.Refused, Status: status}
	}
	if err != nil || status == http.StatusAccepted {
		return err
	}
	return heard(string(bytes.TrimSpace(answer)))
}

// heard reads the answer of a connector, or of a workflow that answers: a connector says with status 200 that it
// was asked too often.
func heard(answer string) error {
	switch {
	case strings.Contains(answer, "HTTP error 429"):
		return &upstream.Error{Code: upstream.RateLimited, Status: http.StatusTooManyRequests}
	case strings.Contains(answer, "HTTP error 413"):
		return &upstream.Error{Code: upstream.Rejected, Status: http.StatusRequestEntityTooLarge}
	case strings.Contains(answer, "delivery failed"):
		return &upstream.Error{Code: upstream.Unavailable}
	case strings.HasPrefix(answer, "<"):
		return &upstream.Error{Code: upstream.Malformed}
	}
	return nil
}

const (
	// largest bounds a message, in bytes: Teams takes 28 KB with what it adds.
	largest = 20 << 10
	// longest bounds a text before that, in characters.
	longest = 4000
)

// message is a card as an Adaptive Card, with texts as long as there is room for.
func message(c card.Card) ([]byte, error) {
	for most := longest; ; most /= 2 {
		body, err := json.Marshal(envelope(c, most))
		if err != nil || len(body) <= largest || most < 2 {
			return body, err
		}
	}
}

// envelope is the message of one card. A stranger's words are runs of text, in which no markdown is read.
func envelope(c card.Card, most int) map[string]any {
	body := []any{map[string]any{"type": "TextBlock", "text": c.Title, "size": "Large", "weight": "Bolder", "wrap": true}}
	for _, f := range append(append([]card.Fact{}, c.Facts...), c.Texts...) {
		body = append(body, map[string]any{"type": "RichTextBlock", "inlines": []any{
			map[string]any{"type": "TextRun", "text": card.Cut(f.Name, most) + ": ", "weight": "Bolder"},
			map[string]any{"type": "TextRun", "text": card.Cut(f.Value, most)},
		}})
	}
	if c.Note != "" {
		body = append(body, map[string]any{"type": "RichTextBlock", "inlines": []any{map[string]any{"type": "TextRun", "text": c.Note, "size": "Small", "isSubtle": true}}})
	}
	content := map[string]any{
		"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4", "body": body, "msteams": map[string]any{"width": "Full"},
		"fallbackText": c.Title,
	}
	if c.Link != "" {
		content["actions"] = []any{map[string]any{"type": "Action.OpenUrl", "title": "Open", "url": c.Link}}
	}
	return map[string]any{"type": "message", "attachments": []any{map[string]any{
		"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": nil, "content": content,
	}}}
}
