package route

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/trace"

	"visavis.dev/pkg/base/telemetry"
)

// Observe serves requests that are no operation of the API's as the API's are observed:
// they have an id, a line in the log, figures by their name and status, and a span of
// that name. What serves them names them with Name; fault is what answers where the
// program has a fault.
func (s *Service) Observe(next http.Handler, fault http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began, written := time.Now(), &recorder{ResponseWriter: w}
		c := s.unnamed(written, r)
		c.request = r.WithContext(telemetry.WithRequest(context.WithValue(r.Context(), callKey{}, c), c.RequestID.String()))
		written.Header().Set("X-Request-Id", c.RequestID.String())
		defer s.finish(c, written, began)
		defer func() {
			if s.caught(c, recover()) != nil && written.status == 0 {
				fault(written, c.request)
			}
		}()
		next.ServeHTTP(written, c.request)
	})
}

// Name names a request that Observe observes. There are few names: each is a series of
// figures.
func Name(ctx context.Context, name string) {
	if c := callOf(ctx); c != nil {
		c.Op = &Operation{ID: name}
		trace.SpanFromContext(ctx).SetName(name)
	}
}

// caught notes a fault of the program, if there was one, and answers it as an error.
func (s *Service) caught(c *Call, fault any) error {
	if fault == nil {
		return nil
	}
	s.Log.ErrorContext(c.request.Context(), "fault of the program", "fault", fault, "stack", string(debug.Stack()))
	return fmt.Errorf("panic: %v", fault)
}

// finish writes the line and the figures of a request.
func (s *Service) finish(c *Call, w *recorder, began time.Time) {
	took := time.Since(began)
	name := "none"
	if c.Op != nil {
		name = c.Op.ID
	}
	s.seconds.WithLabelValues(name, strconv.Itoa(w.status)).Observe(took.Seconds())
	attrs := []slog.Attr{
		slog.String("operation", name), slog.String("method", c.request.Method),
		slog.Int("status", w.status), slog.Duration("took", took), slog.String("address", c.Address.String()),
	}
	if c.Principal != nil {
		attrs = append(attrs, slog.String("org", c.Principal.Org.ID.String()), slog.String("key", c.Principal.Key.ID.String()))
	}
	s.Log.LogAttrs(c.request.Context(), slog.LevelInfo, "request", attrs...)
}
