package model_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/provider/model"
	"visavis.dev/pkg/provider/model/modeltest"
)

func TestResponses(t *testing.T) {
	t.Parallel()
	const (
		some = `data: {"type":"response.output_text.delta","delta":"So"}`
		done = `data: {"type":"response.completed","response":{"status":"completed"}}`
	)
	cut := func(reason string) string {
		return `data: {"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"` + reason + `"}}}`
	}
	for name, test := range map[string]struct {
		behaviour modeltest.Behaviour
		text      string
		err       error
	}{
		"well":              {modeltest.Stream("Hel", "lo, ", "wörld"), "Hello, wörld", nil},
		"other events":      {modeltest.Events(": hi", `data: {"type":"response.reasoning_summary_text.delta","delta":"Hm"}`, some, `data: {"type":"response.output_item.done"}`, done), "So", nil},
		"cut at its length": {modeltest.Events(some, cut("max_output_tokens")), "So", model.ErrLength},
		"withheld":          {modeltest.Events(some, cut("content_filter")), "So", model.ErrFiltered},
		"ended for nothing": {modeltest.Events(some, cut("")), "So", model.ErrMalformed},
		"closed early":      {modeltest.Events(some), "So", model.ErrTruncated},
		"half an event":     {modeltest.Events(some, `data: {"type":"resp`), "So", model.ErrTruncated},
		"empty":             {modeltest.Events(done), "", model.ErrMalformed},
		"not JSON":          {modeltest.Events("data: oops"), "", model.ErrMalformed},
		"failed":            {modeltest.Events(`data: {"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded"}}}`), "", model.ErrRateLimited},
		"failed, mute":      {modeltest.Events(`data: {"type":"response.failed","response":{}}`), "", model.ErrUnavailable},
		"an error":          {modeltest.Events(some, `data: {"type":"error","code":"invalid_api_key"}`), "So", model.ErrUnavailable},
		"an early error":    {modeltest.Events(`data: {"type":"error","code":"model_not_found"}`), "", model.ErrRejected},
		"too many requests": {modeltest.Status(http.StatusTooManyRequests, nil), "", model.ErrRateLimited},
		"unavailable":       {modeltest.Status(http.StatusServiceUnavailable, nil), "", model.ErrUnavailable},
		"dropped":           {modeltest.Abort("Hel"), "", model.ErrTruncated},
		"all at once":       {modeltest.Raw("application/json", `{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"So"}]}]}`), "So", nil},
		"a page":            {modeltest.Raw("text/html", "<html>"), "", model.ErrMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, c := service(t, test.behaviour)
			c.Protocol = model.Responses
			text, err := stream(c, question)
			require.Equal(t, test.text, text)
			require.ErrorIs(t, err, test.err)
		})
	}
}

func TestResponsesAreAskedFor(t *testing.T) {
	t.Parallel()
	s, c := service(t, modeltest.Stream("Yes", "."))
	c.Protocol = model.Responses
	text, err := c.Complete(context.Background(), question)
	require.NoError(t, err)
	require.Equal(t, "Yes.", text)
	asked := s.Requests()[0]
	require.Equal(t, "/v1/responses", asked.Path)
	require.Equal(t, question.Messages, asked.Input)
	require.Equal(t, []any{false, false, 100.0, 0.25}, []any{asked.Body["stream"], asked.Body["store"], asked.Body["max_output_tokens"], asked.Body["temperature"]})
	require.NotContains(t, asked.Body, "messages")
}
