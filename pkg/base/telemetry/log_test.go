package telemetry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"

	"visavis.dev/pkg/base/telemetry"
)

// logged is the one line that a use of a logger writes.
func logged(t *testing.T, level slog.Level, use func(*slog.Logger)) map[string]any {
	t.Helper()
	var out bytes.Buffer
	log, err := telemetry.NewLogger(&out, "json", level)
	require.NoError(t, err)
	use(log)
	var line map[string]any
	require.NoError(t, json.Unmarshal(out.Bytes(), &line), "%s", out.String())
	delete(line, "time")
	return line
}

func TestRequestIDOnEveryLine(t *testing.T) {
	ctx := telemetry.WithRequest(t.Context(), "req_1")
	for name, c := range map[string]struct {
		use  func(*slog.Logger)
		want map[string]any
	}{
		"with it": {
			func(l *slog.Logger) { l.InfoContext(ctx, "hello", "n", 1) },
			map[string]any{"level": "INFO", "msg": "hello", "n": 1.0, "request_id": "req_1"},
		},
		"without": {
			func(l *slog.Logger) { l.InfoContext(context.Background(), "hello") },
			map[string]any{"level": "INFO", "msg": "hello"},
		},
		"a logger with attributes": {
			func(l *slog.Logger) { l.With("part", "api").WarnContext(ctx, "hello") },
			map[string]any{"level": "WARN", "msg": "hello", "part": "api", "request_id": "req_1"},
		},
		"the innermost request": {
			func(l *slog.Logger) { l.ErrorContext(telemetry.WithRequest(ctx, "req_2"), "hello") },
			map[string]any{"level": "ERROR", "msg": "hello", "request_id": "req_2"},
		},
		"a logger with a group": {
			func(l *slog.Logger) { l.WithGroup("g").InfoContext(ctx, "hello", "n", 1) },
			map[string]any{"level": "INFO", "msg": "hello", "g": map[string]any{"n": 1.0, "request_id": "req_1"}},
		},
	} {
		require.Equal(t, c.want, logged(t, slog.LevelInfo, c.use), name)
	}
}

func TestTraceIDOnEveryLine(t *testing.T) {
	ctx := trace.ContextWithSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{15: 1}, SpanID: trace.SpanID{7: 1},
	}))
	line := logged(t, slog.LevelInfo, func(l *slog.Logger) { l.InfoContext(ctx, "hello") })
	require.Equal(t, "00000000000000000000000000000001", line["trace_id"])
	require.NotContains(t, line, "request_id")
}

func TestLevel(t *testing.T) {
	line := logged(t, slog.LevelWarn, func(l *slog.Logger) {
		l.Info("too quiet")
		l.Warn("loud enough")
	})
	require.Equal(t, "loud enough", line["msg"], "the only line")
}

func TestFormats(t *testing.T) {
	var out bytes.Buffer
	log, err := telemetry.NewLogger(&out, "text", slog.LevelInfo)
	require.NoError(t, err)
	log.InfoContext(telemetry.WithRequest(t.Context(), "req_1"), "hello")
	require.Contains(t, out.String(), "msg=hello request_id=req_1\n")
	for _, format := range []string{"", "xml", "JSON"} {
		_, err := telemetry.NewLogger(&out, format, slog.LevelInfo)
		require.ErrorContains(t, err, "json or text", format)
	}
}
