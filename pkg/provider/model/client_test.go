package model_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/provider/model"
	"visavis.dev/pkg/provider/model/modeltest"
	"visavis.dev/pkg/provider/upstream"
)

func TestMain(m *testing.M) {
	log.SetOutput(io.Discard) // net/http tells of connections that were dropped
	m.Run()
}

// service is a model's service and a client of it.
func service(t *testing.T, b modeltest.Behaviour) (*modeltest.Server, *model.Client) {
	t.Helper()
	s := modeltest.Start()
	t.Cleanup(s.Close)
	s.Behave(b)
	return s, &model.Client{
		HTTP: s.Guard().ClientWithin(time.Minute, 4<<20), BaseURL: s.URL(), Name: "m", Secrets: []string{"secret-1"}, Clock: clock.RealClock{},
	}
}

var question = model.Request{Messages: []model.Message{{Role: "system", Content: "Say it."}, {Role: "user", Content: "Hi"}}, Temperature: 0.25, MaxTokens: 100}

func stream(c *model.Client, r model.Request) (string, error) {
	var text strings.Builder
	err := c.Stream(context.Background(), r, func(p model.Piece) error {
		text.WriteString(p.Text)
		if p.Call != nil {
			text.WriteString(p.Call.Name + "(" + p.Call.Arguments + ")#" + p.Call.ID + " ")
		}
		return nil
	})
	return text.String(), err
}

func TestStream(t *testing.T) {
	t.Parallel()
	const (
		some = `data: {"choices":[{"index":0,"delta":{"content":"So"}}]}`
		stop = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
		done = `data: [DONE]`
	)
	for name, test := range map[string]struct {
		behaviour modeltest.Behaviour
		text      string
		err       error
		status    int
	}{
		"well":                  {modeltest.Stream("Hel", "lo, ", "wörld"), "Hello, wörld", nil, 0},
		"echo":                  {modeltest.Echo(modeltest.Instructions), "Say it.", nil, 0},
		"windows lines":         {modeltest.Raw("text/event-stream", some+"\r\n\r\n"+stop+"\r\n\r\n"+done+"\r\n\r\n"), "So", nil, 0},
		"no space, no type":     {modeltest.Raw("", strings.ReplaceAll(some+"\n\n"+stop+"\n\n", "data: ", "data:")), "So", nil, 0},
		"finished, never done":  {modeltest.Events(some, stop), "So", nil, 0},
		"done, no reason":       {modeltest.Events(some, done), "So", nil, 0},
		"words after done":      {modeltest.Events(some, done, some), "So", nil, 0},
		"comments and usage":    {modeltest.Events(": hi", `data: {"choices":[],"usage":{"total_tokens":1}}`, some, `data: {"usage":{}}`, stop), "So", nil, 0},
		"another choice":        {modeltest.Events(`data: {"choices":[{"index":1,"delta":{"content":"No"}}]}`, some, stop), "So", nil, 0},
		"null content":          {modeltest.Events(`data: {"choices":[{"index":0,"delta":{"content":null}}],"error":null}`, some, stop), "So", nil, 0},
		"cut at its length":     {modeltest.FinishedFor("length", "So ", "mu"), "So mu", model.ErrLength, 0},
		"withheld":              {modeltest.FinishedFor("content_filter", "So"), "So", model.ErrFiltered, 0},
		"endless":               {modeltest.Endless(strings.Repeat("x", 1600)), strings.Repeat("x", 1600), model.ErrLength, 0},
		"closed early":          {modeltest.EarlyClose("Hel"), "Hel", model.ErrTruncated, 0},
		"dropped":               {modeltest.Abort("Hel"), "Hel", model.ErrTruncated, 0},
		"longer than sent":      {modeltest.LongerThanSent("Hel"), "Hel", model.ErrTruncated, 0},
		"shorter than meant":    {modeltest.ShorterThanMeant("Hel", "lo"), "", model.ErrTruncated, 0},
		"nothing at all":        {modeltest.Raw("text/event-stream", ""), "", model.ErrTruncated, 0},
		"cut within an event":   {modeltest.Raw("text/event-stream", some+"\n\n"+some[:30]), "So", model.ErrTruncated, 0},
		"empty":                 {modeltest.Stream(), "", model.ErrMalformed, 0},
		"done at once":          {modeltest.Events(done), "", model.ErrMalformed, 0},
		"not JSON":              {modeltest.Events(some, "data: oops"), "So", model.ErrMalformed, 0},
		"other JSON":            {modeltest.Events(`data: {"choices":"none"}`), "", model.ErrMalformed, 0},
		"a web page":            {modeltest.Raw("text/html", "<html>\n\n<body>Sign in</body></html>"), "", model.ErrMalformed, 0},
		"not a stream":          {modeltest.Raw("application/json; charset=utf-8", `{"choices":[{"message":{"content":"So"},"finish_reason":"stop"}]}`), "So", nil, 0},
		"no stream, cut":        {modeltest.Raw("application/json", `{"choices":[{"message":{"content":"So"},"finish_reason":"length"}]}`), "So", model.ErrLength, 0},
		"a huge line":           {modeltest.HugeLine(1 << 20), "", model.ErrMalformed, 0},
		"error inside":          {modeltest.Events(some, `data: {"error":{"message":"overloaded","type":"server_error"}}`), "So", model.ErrUnavailable, 0},
		"error of any form":     {modeltest.Events(`data: {"error":"boom"}`), "", model.ErrUnavailable, 0},
		"rate inside":           {modeltest.Events(`data: {"error":{"code":"rate_limit_exceeded"}}`), "", model.ErrRateLimited, 0},
		"rate inside, a number": {modeltest.Events(`data: {"error":{"code":429}}`), "", model.ErrRateLimited, 0},
		"refused inside":        {modeltest.Events(`data: {"error":{"code":"invalid_api_key"}}`), "", model.ErrRefused, 0},
		"refused after words":   {modeltest.Events(some, `data: {"error":{"code":"invalid_api_key"}}`), "So", model.ErrUnavailable, 0},
		"unknown model inside":  {modeltest.Events(`data: {"error":{"code":"model_not_found"}}`), "", model.ErrRejected, 0},
		"401":                   {modeltest.Status(401, nil), "", model.ErrRefused, 401},
		"403":                   {modeltest.Status(403, nil), "", model.ErrRefused, 403},
		"404":                   {modeltest.Status(404, nil), "", model.ErrRejected, 404},
		"408":                   {modeltest.Status(408, nil), "", model.ErrTimeout, 408},
		"429":                   {modeltest.Status(429, nil), "", model.ErrRateLimited, 429},
		"500":                   {modeltest.Status(500, nil), "", model.ErrUnavailable, 500},
		"a redirect":            {modeltest.Status(307, map[string]string{"Location": "https://10.0.0.1/"}), "", model.ErrRejected, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, c := service(t, test.behaviour)
			text, err := stream(c, question)
			require.Equal(t, test.text, text)
			if test.err == nil {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, test.err)
				require.Equal(t, test.status, upstream.StatusOf(err))
				require.NotContains(t, err.Error(), "secret-1")
			}
			require.Len(t, s.Requests(), 1, "it is asked once")
		})
	}
}

func TestWhatIsAsked(t *testing.T) {
	t.Parallel()
	s, c := service(t, modeltest.Stream("ok"))
	_, err := stream(c, question)
	require.NoError(t, err)
	c.TokensParameter, c.OmitTemperature, c.BaseURL = "max_completion_tokens", true, c.BaseURL+"/"
	text, err := c.Complete(context.Background(), model.Request{Messages: question.Messages, MaxTokens: 5})
	require.NoError(t, err)
	require.Equal(t, "ok", text)
	asked := s.Requests()
	require.Equal(t, "Bearer secret-1", asked[0].Authorization)
	messages := []any{map[string]any{"role": "system", "content": "Say it."}, map[string]any{"role": "user", "content": "Hi"}}
	require.Equal(t, map[string]any{"model": "m", "messages": messages, "stream": true, "max_tokens": 100.0, "temperature": 0.25}, asked[0].Body)
	require.Equal(t, "/v1/chat/completions", asked[1].Path)
	require.Equal(t, map[string]any{"model": "m", "messages": messages, "stream": false, "max_completion_tokens": 5.0}, asked[1].Body)
}

func TestComplete(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		behaviour modeltest.Behaviour
		text      string
		err       error
	}{
		"well":     {modeltest.Stream("Hel", "lo"), "Hello", nil},
		"cut":      {modeltest.FinishedFor("length", "Hel"), "Hel", model.ErrLength},
		"empty":    {modeltest.Stream(), "", model.ErrMalformed},
		"an error": {modeltest.Raw("application/json", `{"error":{"type":"authentication_error"}}`), "", model.ErrRefused},
		"nothing":  {modeltest.Raw("application/json", ``), "", model.ErrTruncated},
		"a page":   {modeltest.Raw("text/html", `<html>`), "", model.ErrMalformed},
		"no words": {modeltest.Raw("application/json", `{"choices":[]}`), "", model.ErrMalformed},
		"huge":     {modeltest.Raw("application/json", strings.Repeat(" ", 2<<20)), "", model.ErrMalformed},
		"503":      {modeltest.Status(503, nil), "", model.ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, c := service(t, test.behaviour)
			text, err := c.Complete(context.Background(), question)
			require.Equal(t, test.text, text)
			require.ErrorIs(t, err, test.err)
		})
	}
}

// Time stands still until a request waits; then it passes until the answer is
// given up.
func TestTimeouts(t *testing.T) {
	t.Parallel()
	const far = 1000 * time.Hour
	for name, test := range map[string]struct {
		behaviour modeltest.Behaviour
		timeouts  model.Timeouts
		text      string
	}{
		"before":             {modeltest.Stall(), model.Timeouts{First: time.Second, Between: far, Whole: far}, ""},
		"before, babbling":   {modeltest.Babble(), model.Timeouts{First: time.Second, Between: far, Whole: far}, ""},
		"within":             {modeltest.Stall("Hel", "lo"), model.Timeouts{First: far, Between: time.Second, Whole: far}, "Hello"},
		"within, first none": {modeltest.Stall("Hel"), model.Timeouts{Between: time.Second}, "Hel"},
		"whole":              {modeltest.Stall("Hel"), model.Timeouts{Whole: time.Second}, "Hel"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, c := service(t, test.behaviour)
			fake := clocktest.NewFakeClock(time.Unix(0, 0))
			c.Timeouts, c.Clock = test.timeouts, fake
			var (
				text   strings.Builder
				result = make(chan error, 1)
				said   = make(chan struct{}, 10)
			)
			go func() {
				result <- c.Stream(context.Background(), question, func(p model.Piece) error {
					piece := p.Text
					text.WriteString(piece)
					if text.Len() == len(test.text) {
						said <- struct{}{}
					}
					return nil
				})
			}()
			require.Eventually(t, func() bool { return len(s.Requests()) == 1 }, 20*time.Second, time.Millisecond)
			if test.text != "" {
				<-said
			}
			require.Empty(t, result, "no time has passed")
			require.Eventually(t, func() bool {
				fake.Step(10 * time.Second)
				return len(result) == 1
			}, 20*time.Second, time.Millisecond)
			require.ErrorIs(t, <-result, model.ErrTimeout)
			require.Equal(t, test.text, text.String())
		})
	}
}

// A receiver who takes long, as one that waits for words to be spoken, is not
// the service's slowness.
func TestTheReceiversTimeDoesNotCount(t *testing.T) {
	t.Parallel()
	_, c := service(t, modeltest.Stream("Hel", "lo"))
	fake := clocktest.NewFakeClock(time.Unix(0, 0))
	c.Timeouts, c.Clock = model.Timeouts{First: time.Second, Between: time.Second}, fake
	require.NoError(t, c.Stream(context.Background(), question, func(model.Piece) error {
		fake.Step(time.Hour)
		return nil
	}))
}

func TestACallerWhoLeaves(t *testing.T) {
	t.Parallel()
	_, c := service(t, modeltest.Stall("Hel"))
	ctx, cancel := context.WithCancel(context.Background())
	err := c.Stream(ctx, question, func(model.Piece) error { cancel(); return nil })
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, upstream.CodeOf(err), "the service did nothing wrong")

	enough := errors.New("enough")
	require.ErrorIs(t, c.Stream(context.Background(), question, func(model.Piece) error { return enough }), enough)

	late, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, c.Stream(late, question, func(model.Piece) error { return nil }), context.DeadlineExceeded)
}

func TestAnotherSecretIsTriedWhereOneIsRefused(t *testing.T) {
	t.Parallel()
	s, c := service(t, modeltest.Stream("ok"))
	s.Accept("old")
	c.Secrets = []string{"new", "old"}
	text, err := stream(c, question)
	require.NoError(t, err)
	require.Equal(t, "ok", text)
	require.Len(t, s.Requests(), 2)

	c.Secrets = []string{"new", "newer"}
	_, err = stream(c, question)
	require.ErrorIs(t, err, model.ErrRefused)
	c.Secrets = nil
	_, err = stream(c, question)
	require.ErrorIs(t, err, model.ErrRefused)
	require.Empty(t, s.Requests()[4].Authorization)
}

func TestHowLongToWait(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]time.Duration{"": 0, "7": 7 * time.Second, "-1": 0, "soon": 0, "999999999": time.Hour, "Wed, 21 Oct 2026 07:28:00 GMT": 0} {
		_, c := service(t, modeltest.Status(http.StatusTooManyRequests, map[string]string{"Retry-After": header}))
		_, err := stream(c, question)
		e, ok := errors.AsType[*upstream.Error](err)
		require.True(t, ok)
		require.Equal(t, want, e.RetryAfter, header)
		require.Equal(t, upstream.RateLimited, e.Code)
	}
}

func TestAddressesThatCannotBeReached(t *testing.T) {
	t.Parallel()
	s, c := service(t, modeltest.Stream("ok"))
	c.HTTP = egress.New(egress.Options{RootCAs: s.Roots()}).Client()
	_, err := stream(c, question)
	require.ErrorIs(t, err, upstream.ErrAddressRefused, "loopback is not public")
	c.HTTP = s.Guard().Client()
	c.BaseURL = "http://127.0.0.1:1/v1"
	_, err = stream(c, question)
	require.ErrorIs(t, err, upstream.ErrAddressRefused)
	c.BaseURL = "https://127.0.0.1:1/v1"
	_, err = stream(c, question)
	require.ErrorIs(t, err, model.ErrUnavailable)
}

// Whatever a stream holds, it ends, within its bounds, in words or in one of
// the package's errors.
func FuzzStream(f *testing.F) {
	for _, seed := range []string{
		"", "data: [DONE]\n\n", "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n", "data: {\"error\":1}\n\n",
		"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\r\n\r\n", ": x\n\n\n\ndata:{", "\ufeffdata: 1\r\r", "event: error\ndata: null\n\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		c := &model.Client{HTTP: &http.Client{Transport: canned(body)}, BaseURL: "https://example.com", Name: "m"}
		text, err := stream(c, model.Request{MaxTokens: 4})
		require.LessOrEqual(t, len([]rune(text)), 64)
		if err != nil && !errors.Is(err, model.ErrLength) && !errors.Is(err, model.ErrFiltered) {
			require.NotEmpty(t, upstream.CodeOf(err), "%v", err)
		}
		if err == nil {
			require.NotEmpty(t, text)
		}
	})
}

// canned answers every request with a body.
type canned string

func (c canned) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(c)))}, nil
}
