// Package googlecalendar reads and writes calendars of Google (Calendar API v3).
package googlecalendar

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"visavis.dev/pkg/provider/calendars"
	"visavis.dev/pkg/provider/upstream"
)

// DefaultURL is where the service is, and DefaultTokenURL where it gives access tokens.
const (
	DefaultURL      = "https://www.googleapis.com/calendar/v3"
	DefaultTokenURL = "https://oauth2.googleapis.com/token" //nolint:gosec // no secret
)

var _ calendars.Service = (*Client)(nil)

// Client is an account's calendars.
type Client struct {
	// HTTP is a guard's.
	HTTP    *http.Client
	BaseURL string
	// Token gives an access token. Where stale is not empty it is one that is not taken any more.
	Token func(ctx context.Context, stale string) (string, error)
}

// send asks. A token that is not taken any more is replaced once.
func (c *Client) send(ctx context.Context, method, path string, query url.Values, body, answer any) error {
	return c.sendIf(ctx, "", method, path, query, body, answer)
}

// sendIf is send where something is as an ETag says; an empty one says nothing.
func (c *Client) sendIf(ctx context.Context, etag, method, path string, query url.Values, body, answer any) error {
	stale := ""
	for {
		token, err := c.Token(ctx, stale)
		if err != nil {
			return err
		}
		err = c.sendWith(ctx, token, etag, method, path, query, body, answer)
		if upstream.StatusOf(err) != http.StatusUnauthorized || stale != "" {
			return err
		}
		stale = token
	}
}

func (c *Client) sendWith(ctx context.Context, token, etag, method, path string, query url.Values, body, answer any) error {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	address := c.BaseURL + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(text))
	if err != nil {
		return &upstream.Error{Code: upstream.AddressRefused, Err: err}
	}
	req.Header.Set("Authorization", "Bearer "+token)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if etag != "" {
		req.Header.Set("If-Match", etag)
	}
	text, err = c.exchange(req)
	if err != nil || answer == nil {
		return err
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return &upstream.Error{Code: upstream.Malformed, Err: err}
	}
	return nil
}

// exchange makes a request. Limits are told by 403 too, for a reason that the answer names.
func (c *Client) exchange(req *http.Request) ([]byte, error) {
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return nil, upstream.FromRequest(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, upstream.FromBody(err)
	}
	err = upstream.CheckStatus(resp)
	if resp.StatusCode != http.StatusForbidden {
		return body, err
	}
	var refused struct {
		Error struct {
			Errors []struct {
				Reason string `json:"reason"`
			} `json:"errors"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &refused) == nil {
		for _, e := range refused.Error.Errors {
			switch e.Reason {
			case "rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded", "dailyLimitExceeded":
				return nil, &upstream.Error{Code: upstream.RateLimited, Status: http.StatusTooManyRequests}
			}
		}
	}
	return nil, err
}

const (
	mostPages     = 40
	mostCalendars = 200
)

// Calendars implements calendars.Service.
func (c *Client) Calendars(ctx context.Context) (all []calendars.Calendar, err error) {
	query := url.Values{"fields": {"nextPageToken,items(id,summary,accessRole)"}, "maxResults": {"250"}}
	for range mostPages {
		var page struct {
			Items []struct {
				ID         string `json:"id"`
				Summary    string `json:"summary"`
				AccessRole string `json:"accessRole"`
			} `json:"items"`
			Next string `json:"nextPageToken"`
		}
		if err := c.send(ctx, http.MethodGet, "/users/me/calendarList", query, nil, &page); err != nil {
			return nil, err
		}
		for _, i := range page.Items {
			if len(all) < mostCalendars && len(i.ID) <= calendars.LongestID {
				all = append(all, calendars.Calendar{ID: i.ID, Name: calendars.NameOf(i.Summary), Writable: i.AccessRole == "owner" || i.AccessRole == "writer"})
			}
		}
		if page.Next == "" {
			break
		}
		query.Set("pageToken", page.Next)
	}
	return all, nil
}

// moment is a time of an event: a date, or a moment.
type moment struct {
	Date     string `json:"date,omitempty"`
	DateTime string `json:"dateTime,omitempty"`
	TimeZone string `json:"timeZone,omitempty"`
}

func (m moment) at(zone *time.Location) (time.Time, bool) {
	if m.Date != "" {
		t, err := time.ParseInLocation(time.DateOnly, m.Date, zone)
		return t, err == nil
	}
	t, err := time.Parse(time.RFC3339, m.DateTime)
	return t, err == nil
}

// item is an event.
type item struct {
	ID           string   `json:"id,omitempty"`
	Status       string   `json:"status,omitempty"`
	Transparency string   `json:"transparency,omitempty"`
	Summary      *string  `json:"summary,omitempty"`
	Description  *string  `json:"description,omitempty"`
	Location     *string  `json:"location,omitempty"`
	Start        moment   `json:"start,omitzero"`
	End          moment   `json:"end,omitzero"`
	Recurrence   []string `json:"recurrence,omitzero"`
	Recurring    string   `json:"recurringEventId,omitempty"`
	Attendees    []struct {
		Self     bool   `json:"self"`
		Response string `json:"responseStatus"`
	} `json:"attendees,omitempty"`
	Extended *extended `json:"extendedProperties,omitempty"`
	ETag     string    `json:"etag,omitempty"`
}

type extended struct {
	Private map[string]string `json:"private"`
}

// sequenceName is the property that says which of our changes an event has.
const sequenceName = "visavisSequence"

// sequence is which of our changes an event has; negative for none.
func (i *item) sequence() int64 {
	if i.Extended == nil {
		return -1
	}
	n, err := strconv.ParseInt(i.Extended.Private[sequenceName], 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// free says whether an event takes no time of the calendar's owner.
func (i *item) free() bool {
	if i.Status == "cancelled" || i.Transparency == "transparent" {
		return true
	}
	for _, a := range i.Attendees {
		if a.Self && a.Response == "declined" {
			return true
		}
	}
	return false
}

func (i *item) span(zone *time.Location) (calendars.Span, bool) {
	from, ok := i.Start.at(zone)
	to, okTo := i.End.at(zone)
	return calendars.Span{From: from, To: to}, ok && okTo
}

// prefix begins the ids of events: they consist of digits and the letters a to v.
const prefix = "vv"

func idOf(k calendars.Key) string { return prefix + string(k) }

func keyOf(id string) (calendars.Key, bool) {
	if len(id) <= len(prefix) || id[:len(prefix)] != prefix {
		return "", false
	}
	k := calendars.Key(id[len(prefix):])
	_, ours := k.Of()
	return k, ours
}

func eventsOf(calendar string) string { return "/calendars/" + url.PathEscape(calendar) + "/events" }

func eventOf(calendar string, k calendars.Key) string { return eventsOf(calendar) + "/" + idOf(k) }

// Read implements calendars.Service. Google works out series itself. Where the account may only see when the calendar is
// busy it is asked for that.
func (c *Client) Read(ctx context.Context, calendar string, within calendars.Span, zone *time.Location) (calendars.Reading, error) {
	query := url.Values{
		"singleEvents": {"true"}, "orderBy": {"startTime"}, "maxResults": {"2500"}, "timeMin": {within.From.UTC().Format(time.RFC3339)}, "timeMax": {within.To.UTC().Format(time.RFC3339)},
		"fields": {"nextPageToken,items(id,status,transparency,start,end,recurringEventId,attendees(self,responseStatus))"}, "maxAttendees": {"1"},
	}
	var busy []calendars.Span
	reading := calendars.Reading{Ours: map[calendars.Key]calendars.Span{}}
	for range mostPages {
		var page struct {
			Items *[]item `json:"items"`
			Next  string  `json:"nextPageToken"`
		}
		if err := c.send(ctx, http.MethodGet, eventsOf(calendar), query, nil, &page); err != nil {
			if status := upstream.StatusOf(err); status == http.StatusForbidden || status == http.StatusNotFound {
				return c.freeBusy(ctx, calendar, within)
			}
			return reading, err
		}
		if page.Items == nil { // it is no list, and no calendar without events
			return reading, &upstream.Error{Code: upstream.Malformed}
		}
		for _, i := range *page.Items {
			s, timed := i.span(zone)
			k, ours := keyOf(i.ID)
			switch {
			case !timed:
			case ours && i.Recurring == "":
				if i.Status != "cancelled" {
					reading.Ours[k] = s
				}
			case !i.free():
				busy = append(busy, s)
			}
		}
		if query.Set("pageToken", page.Next); page.Next == "" {
			reading.Busy, reading.Until = calendars.Merge(busy, within)
			return reading, nil
		}
	}
	return reading, &upstream.Error{Code: upstream.Malformed, Err: calendars.ErrTooMuch}
}

// freeBusy asks when a calendar is busy. An answer is about 50 days at most.
func (c *Client) freeBusy(ctx context.Context, calendar string, within calendars.Span) (calendars.Reading, error) {
	const most = 50 * 24 * time.Hour
	var busy []calendars.Span
	for from := within.From; from.Before(within.To); from = from.Add(most) {
		to := from.Add(most)
		if to.After(within.To) {
			to = within.To
		}
		var answer struct {
			Calendars map[string]struct {
				Errors []struct {
					Reason string `json:"reason"`
				} `json:"errors"`
				Busy []struct {
					Start time.Time `json:"start"`
					End   time.Time `json:"end"`
				} `json:"busy"`
			} `json:"calendars"`
		}
		if err := c.send(ctx, http.MethodPost, "/freeBusy", nil, map[string]any{
			"timeMin": from.UTC().Format(time.RFC3339), "timeMax": to.UTC().Format(time.RFC3339), "items": []any{map[string]any{"id": calendar}},
		}, &answer); err != nil {
			return calendars.Reading{}, err
		}
		of, there := answer.Calendars[calendar]
		if !there || len(of.Errors) > 0 {
			return calendars.Reading{}, &upstream.Error{Code: upstream.Refused, Status: http.StatusNotFound}
		}
		for _, b := range of.Busy {
			busy = append(busy, calendars.Span{From: b.Start, To: b.End})
		}
	}
	merged, until := calendars.Merge(busy, within)
	return calendars.Reading{Busy: merged, Until: until, Merged: true}, nil
}

// get reads an event of ours; nil where it was never there.
func (c *Client) get(ctx context.Context, calendar string, k calendars.Key) (*item, error) {
	var i item
	err := c.send(ctx, http.MethodGet, eventOf(calendar, k), nil, nil, &i)
	if gone(err) {
		return nil, nil
	}
	return &i, err
}

func gone(err error) bool {
	status := upstream.StatusOf(err)
	return status == http.StatusNotFound || status == http.StatusGone
}

// Find implements calendars.Service.
func (c *Client) Find(ctx context.Context, calendar string, k calendars.Key, zone *time.Location) (*calendars.Span, error) {
	i, err := c.get(ctx, calendar, k)
	if err != nil || i == nil || i.Status == "cancelled" {
		return nil, err
	}
	if len(i.Recurrence) > 0 {
		return nil, calendars.ErrUnclear
	}
	s, ok := i.span(zone)
	if !ok {
		return nil, &upstream.Error{Code: upstream.Malformed}
	}
	return &s, nil
}

// written is an event as it is sent.
func written(e calendars.Event) item {
	status := "confirmed"
	if e.Tentative {
		status = "tentative"
	}
	at := func(t time.Time) moment { return moment{DateTime: t.UTC().Format(time.RFC3339), TimeZone: "UTC"} }
	return item{
		Status: status, Transparency: "opaque", Summary: &e.Summary, Location: &e.Location, Start: at(e.Span.From), End: at(e.Span.To),
		Recurrence: []string{}, Extended: &extended{map[string]string{sequenceName: strconv.FormatInt(e.Sequence, 10)}},
	}
}

// mostWrites is how often a write is made again that somebody else's came between.
const mostWrites = 4

// Write implements calendars.Service. The event's id is ours to choose: 409 says that it is there already, as it is after
// a retry, or that it was and was deleted, and then it is changed.
func (c *Client) Write(ctx context.Context, calendar string, e calendars.Event) (newer bool, err error) {
	for try := 0; ; try++ {
		there, err := c.get(ctx, calendar, e.Key)
		if err != nil {
			return false, err
		}
		if there == nil {
			i := written(e)
			i.ID, i.Description = idOf(e.Key), &e.Description
			err = c.send(ctx, http.MethodPost, eventsOf(calendar), url.Values{"sendUpdates": {"none"}, "fields": {"id"}}, i, nil)
		} else {
			if has := there.sequence(); there.Status != "cancelled" && has >= e.Sequence {
				return has > e.Sequence, nil
			}
			// What people wrote beside it stays.
			err = c.sendIf(ctx, there.ETag, http.MethodPatch, eventOf(calendar, e.Key), url.Values{"sendUpdates": {"none"}, "fields": {"id"}}, written(e), nil)
		}
		again := upstream.StatusOf(err) == http.StatusConflict || upstream.StatusOf(err) == http.StatusPreconditionFailed
		if !again || try == mostWrites {
			return false, unwritten(err)
		}
	}
}

// unwritten has a calendar that is gone, or is written by something else, be waited for.
func unwritten(err error) error {
	e, ok := errors.AsType[*upstream.Error](err)
	if !ok {
		return err
	}
	switch e.Status {
	case http.StatusNotFound, http.StatusGone:
		return &upstream.Error{Code: upstream.Malformed, Status: e.Status, Err: err}
	case http.StatusConflict, http.StatusPreconditionFailed:
		return &upstream.Error{Code: upstream.Unavailable, Status: e.Status, Err: err}
	}
	return err
}

// Remove implements calendars.Service. What is taken away is what was read: of a booking that was made anew meanwhile the
// event stays.
func (c *Client) Remove(ctx context.Context, calendar string, k calendars.Key, sequence int64) (newer bool, err error) {
	for try := 0; ; try++ {
		there, err := c.get(ctx, calendar, k)
		if err != nil || there == nil || there.Status == "cancelled" {
			return false, err
		}
		if there.sequence() > sequence {
			return true, nil
		}
		err = c.sendIf(ctx, there.ETag, http.MethodDelete, eventOf(calendar, k), url.Values{"sendUpdates": {"none"}}, nil, nil)
		switch {
		case gone(err):
			return false, nil
		case upstream.StatusOf(err) != http.StatusPreconditionFailed:
			return false, err
		case try == mostWrites:
			return false, unwritten(err)
		}
	}
}
