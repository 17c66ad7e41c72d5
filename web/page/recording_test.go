package page_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/sessions/recording"
	"visavis.dev/web/page"
)

// tapes has one recording, which a link opens.
type tapes struct {
	link string
	of   page.Recorded
}

// content is a file in memory.
type content struct{ *bytes.Reader }

func (content) Close() error { return nil }

func (p *tapes) Recorded(_ context.Context, link string) (page.Recorded, error) {
	if link != p.link {
		return page.Recorded{}, page.ErrNoRecording
	}
	return p.of, nil
}

func (*tapes) Sound(context.Context, page.Recorded) (io.ReadSeekCloser, error) {
	return content{bytes.NewReader([]byte("OggS0123456789"))}, nil
}

func (*tapes) Track(context.Context, page.Recorded) (io.ReadSeekCloser, error) {
	return content{bytes.NewReader([]byte(`{"t":0,"type":"plays","data":{}}`))}, nil
}

func TestRecordingPage(t *testing.T) {
	b := setup(t)
	const pages = "https://portal.example.com"
	links := page.RecordingLinks(pages, "the-link")
	require.Equal(t, pages+"/p/~recording/#the-link", links.Page)
	require.Equal(t, http.StatusNotFound, b.get(pages+"/p/~recording/").Code, "nothing is recorded here")

	b.handler.Recordings = &tapes{"the-link", page.Recorded{
		Recording: recording.Recording{BeganMs: 1500, DurationMs: 60000, MissingMs: 40}, Site: b.site, StartedAt: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC),
	}}
	w := b.get(pages + "/p/~recording/")
	require.Equal(t, http.StatusOK, w.Code)
	require.Contains(t, w.Body.String(), "recording.js")
	require.Contains(t, w.Header().Get("Content-Security-Policy"), "media-src 'self'")
	require.NotContains(t, b.get(home).Header().Get("Content-Security-Policy"), "media-src")

	w = b.get(links.Sound)
	require.Equal(t, "OggS0123456789", w.Body.String())
	require.Equal(t, "audio/ogg", w.Header().Get("Content-Type"))
	require.Equal(t, "private, no-store", w.Header().Get("Cache-Control"))
	w = b.get(links.Sound, "Range: bytes=4-7")
	require.Equal(t, http.StatusPartialContent, w.Code)
	require.Equal(t, "0123", w.Body.String())
	w = b.get(links.Track)
	require.Equal(t, "application/x-ndjson", w.Header().Get("Content-Type"))
	about := b.get(pages + "/p/~recording/the-link/about")
	require.Equal(t, http.StatusOK, about.Code)
	require.Contains(t, about.Body.String(), `"offsetMs":1500,"durationMs":60000,"missingMs":40`)
	require.Equal(t, http.StatusOK, b.get(pages+"/p/~recording/the-link/portrait").Code)
	require.Contains(t, b.get(pages+"/p/~recording/the-link/face/512.json").Body.String(), "browLeft")

	for _, wrong := range []string{"/another/sound", "/the-link/other", "/the-link", "/another/about", "/another/face/512.json", "/the-link/face/x", "/" + strings.Repeat("x", 5000) + "/track"} {
		require.Equal(t, http.StatusNotFound, b.get(pages+"/p/~recording"+wrong).Code, wrong)
	}
	require.Equal(t, http.StatusMethodNotAllowed, b.post(pages+"/p/~recording/the-link/sound", nil).Code)
}
