package telemetry_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"

	"visavis.dev/pkg/base/telemetry"
)

func TestNothingIsTracedWithoutAnEndpoint(t *testing.T) {
	stop, err := telemetry.Trace(t.Context(), "", "v1")
	require.NoError(t, err)
	_, span := otel.Tracer("test").Start(t.Context(), "work")
	require.False(t, span.IsRecording())
	require.NoError(t, stop(t.Context()))
}

func TestStopSendsWhatIsLeft(t *testing.T) {
	received := make(chan string, 10)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		received <- string(body)
	}))
	defer collector.Close()
	before := otel.GetTracerProvider()
	defer otel.SetTracerProvider(before)

	stop, err := telemetry.Trace(t.Context(), collector.URL+"/v1/traces", "v1.2.3")
	require.NoError(t, err)
	_, span := otel.Tracer("test").Start(t.Context(), "the-work")
	span.End()
	require.NoError(t, stop(t.Context()))
	require.Len(t, received, 1)
	sent := <-received
	require.Contains(t, sent, "the-work")
	require.Contains(t, sent, "visavis")
	require.Contains(t, sent, "v1.2.3")
}
