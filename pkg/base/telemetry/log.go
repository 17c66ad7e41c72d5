// Package telemetry is how the program is watched: its log, its traces and
// the request id that ties the lines of one request together.
package telemetry

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"go.opentelemetry.io/otel/trace"
)

type requestKey struct{}

// WithRequest gives a context the id of the request it serves; every line
// logged with that context carries it.
func WithRequest(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestKey{}, id)
}

// NewLogger writes lines of a format (json or text) from a level on.
func NewLogger(w io.Writer, format string, level slog.Level) (*slog.Logger, error) {
	o := &slog.HandlerOptions{Level: level}
	switch format {
	case "json":
		return slog.New(&handler{slog.NewJSONHandler(w, o)}), nil
	case "text":
		return slog.New(&handler{slog.NewTextHandler(w, o)}), nil
	}
	return nil, fmt.Errorf("log format %q: want json or text", format)
}

// handler adds what the context knows to each line.
type handler struct{ slog.Handler }

func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	if id, ok := ctx.Value(requestKey{}).(string); ok {
		r.AddAttrs(slog.String("request_id", id))
	}
	if span := trace.SpanContextFromContext(ctx); span.IsValid() {
		r.AddAttrs(slog.String("trace_id", span.TraceID().String()))
	}
	return h.Handler.Handle(ctx, r)
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &handler{h.Handler.WithAttrs(attrs)}
}

func (h *handler) WithGroup(name string) slog.Handler { return &handler{h.Handler.WithGroup(name)} }
