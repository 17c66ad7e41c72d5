package egress

import (
	"context"
	"io"
	"net/http"
)

// Response is what [Guard.Fetch] got.
type Response struct {
	Status      int    // 200 to 299
	ContentType string // the header as sent, unverified; empty if there was none
	Body        []byte // as sent: an encoding the server applied unasked is still on
}

// Fetch gets a URL and its whole body of at most maxBody bytes. The error is an
// [InvalidURLError], [RefusedError], [StatusError] (any status that is neither
// 2xx nor a redirect), [NetworkError], [RedirectError], [ErrTimeout], [ErrTooLarge]
// or [context.Canceled]; the text of each may be shown to the customer.
func (g *Guard) Fetch(ctx context.Context, raw string, maxBody int64) (*Response, error) {
	return g.FetchAs(ctx, userAgent, raw, maxBody)
}

// FetchAs is Fetch under another User-Agent, for those whom servers give rules of
// their own.
func (g *Guard) FetchAs(ctx context.Context, agent, raw string, maxBody int64) (*Response, error) {
	u, err := g.CheckURL(raw)
	if err != nil {
		return nil, err
	}
	req := &http.Request{Method: http.MethodGet, URL: u, Header: http.Header{"User-Agent": {agent}}}
	resp, err := g.transport.send(req.WithContext(ctx), maxBody)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, &StatusError{Code: resp.StatusCode}
	}
	if resp.ContentLength > maxBody {
		return nil, ErrTooLarge // before the first byte, if the server says so itself
	}
	content, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	return &Response{
		Status:      resp.StatusCode,
		ContentType: resp.Header.Get("Content-Type"),
		Body:        content,
	}, nil
}
