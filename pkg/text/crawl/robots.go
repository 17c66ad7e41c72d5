package crawl

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/temoto/robotstxt"

	"visavis.dev/pkg/base/egress"
)

const (
	// robotsName is what robots.txt calls us.
	robotsName = "VisavisBot"
	// maxRobots is how much of a robots.txt is heeded; RFC 9309 asks for 500 KiB.
	maxRobots = 512 << 10
	// maxRobotsBody is how large a robots.txt may be at all, in bytes.
	maxRobotsBody = 4 << 20
	// maxDelay bounds what a host may ask for between two requests.
	maxDelay = 10 * time.Second
)

// rules are what one host forbids.
type rules struct {
	group *robotstxt.Group // nil: nothing
	err   error            // why nothing may be fetched at all
}

// rulesOf gets the rules of a URL's host, once for a crawl.
func (w *walk) rulesOf(ctx context.Context, u *url.URL) rules {
	if known, ok := w.robots[u.Host]; ok {
		return known
	}
	made := w.fetchRules(ctx, &url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/robots.txt"})
	if ctx.Err() == nil {
		w.robots[u.Host] = made
	}
	return made
}

// fetchRules reads a robots.txt as RFC 9309, section 2.3.1, says: one that is not
// there forbids nothing, and one that cannot be had forbids everything. Where the
// host cannot be had either, that is the reason given.
func (w *walk) fetchRules(ctx context.Context, u *url.URL) rules {
	for range maxRedirects + 1 {
		response, err := w.request(ctx, u, maxRobotsBody)
		var (
			status   *egress.StatusError
			redirect *egress.RedirectError
		)
		switch {
		case err == nil:
			return parseRules(response.Body)
		case errors.As(err, &redirect):
			next, err := u.Parse(redirect.Location)
			if err != nil {
				return rules{}
			}
			u = next
			continue
		case errors.As(err, &status) && status.Code >= 400 && status.Code < 500:
			return rules{}
		case errors.As(err, &status), errors.Is(err, egress.ErrTooLarge):
			return rules{err: &Error{Code: CodeBlocked, Retryable: true, Err: errRobotsDown}}
		}
		return rules{err: explain(err)}
	}
	return rules{} // "more than five redirects: unavailable", which forbids nothing
}

func parseRules(body []byte) rules {
	data, err := robotstxt.FromBytes(body[:min(len(body), maxRobots)])
	if err != nil {
		return rules{} // what cannot be parsed is ignored
	}
	return rules{group: data.FindGroup(robotsName)}
}

// allow says whether a URL may be fetched.
func (r rules) allow(u *url.URL) error {
	target := u.EscapedPath()
	if u.RawQuery != "" {
		target += "?" + u.RawQuery
	}
	if r.err == nil && r.group != nil && !r.group.Test(target) {
		return &Error{Code: CodeBlocked, Err: ErrBlocked}
	}
	return r.err
}

// delay is how long the host wants to be left alone after a request.
func (r rules) delay() time.Duration {
	if r.group == nil {
		return 0
	}
	return min(max(r.group.CrawlDelay, 0), maxDelay)
}
