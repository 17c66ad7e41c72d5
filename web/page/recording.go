package page

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"visavis.dev/pkg/portals/portal/published"
	"visavis.dev/pkg/sessions/recording"
)

// recordingPrefix is under what recordings are, on every host. A slug has no "~".
const recordingPrefix = SlugPrefix + "~recording/"

// Recordings finds what was recorded of sessions.
type Recordings interface {
	// Recorded is what a link opens. The error is ErrNoRecording where it opens nothing, any
	// more.
	Recorded(ctx context.Context, link string) (Recorded, error)
	// Sound and Track open a recording's files.
	Sound(ctx context.Context, r Recorded) (io.ReadSeekCloser, error)
	Track(ctx context.Context, r Recorded) (io.ReadSeekCloser, error)
}

// ErrNoRecording says that a link opens no recording.
var ErrNoRecording = errors.New("the link opens no recording")

// Recorded is a recording as its page needs it.
type Recorded struct {
	recording.Recording
	// Site has who speaks and for whom.
	Site *published.Site
	// StartedAt is when the session began.
	StartedAt time.Time
}

// Links are the addresses of a recording, for whoever has them.
type Links struct{ Page, Sound, Track string }

// RecordingLinks are the addresses that a link has below where the pages are. That of the
// page has it behind the "#", where no server's log has it.
func RecordingLinks(pages, link string) Links {
	base := pages + recordingPrefix
	return Links{Page: base + "#" + link, Sound: base + link + "/sound", Track: base + link + "/track"}
}

// RecordingWithin is how long a file of a recording may take, over a slow connection.
const RecordingWithin = 15 * time.Minute

// IsRecording says whether a request is for the files of a recording, which may take longer
// than a page.
func IsRecording(path string) bool {
	return strings.HasPrefix(path, recordingPrefix) && (strings.HasSuffix(path, "/sound") || strings.HasSuffix(path, "/track"))
}

// recording serves the page that plays a recording, and what belongs to it. The page itself
// is the same for every recording.
func (h *Handler) recording(w http.ResponseWriter, r *http.Request, path string) {
	v := nobodys(h, w, r)
	v.blobs, v.media = true, true
	if err := v.playing(path); err != nil {
		h.refuse(v, err)
	}
}

func (v *view) playing(path string) error {
	if path == "" {
		return v.taking(reading, v.recordingPage)
	}
	link, what, _ := strings.Cut(path, "/")
	r, err := v.h.Recordings.Recorded(v.r.Context(), link)
	if errors.Is(err, ErrNoRecording) {
		err = refused(http.StatusNotFound, "recording.unknown")
	}
	if err != nil {
		return err
	}
	if file, ok := strings.CutPrefix(what, "face/"); ok {
		v.site = r.Site
		return v.taking(reading, func() error { return v.heldLiving(file) })
	}
	if seat, ok := strings.CutPrefix(what, "portrait/"); ok {
		return v.taking(reading, func() error { return v.portraitOf(r.Site, seat) })
	}
	switch what {
	case "sound":
		return v.taking(reading, func() error { return v.send(r, recording.SoundType, v.h.Recordings.Sound) })
	case "track":
		return v.taking(reading, func() error { return v.send(r, recording.TrackType, v.h.Recordings.Track) })
	case "about":
		return v.taking(reading, func() error { return v.aboutRecording(r) })
	case "portrait":
		return v.taking(reading, func() error { return v.portraitOf(r.Site, "") })
	}
	return errNoPage
}

func (v *view) recordingPage() error {
	s := v.sheet("recording.title")
	words, err := json.Marshal(v.speech.under("recording.", "talk."))
	if err != nil {
		return err
	}
	s.Body = talkBody{Words: string(words), Base: strings.TrimSuffix(v.r.URL.Path, "/")}
	return v.show(http.StatusOK, "recording", s)
}

// send sends a file, or a range of it. Whoever has the link may have it from any page.
func (v *view) send(r Recorded, contentType string, open func(context.Context, Recorded) (io.ReadSeekCloser, error)) error {
	content, err := open(v.r.Context(), r)
	if err != nil {
		return err
	}
	defer content.Close()
	header := v.w.Header()
	header.Set("Content-Type", contentType)
	header.Set("Cache-Control", keptByNone)
	header.Set("Cross-Origin-Resource-Policy", "cross-origin")
	header.Set("Access-Control-Allow-Origin", "*")
	// What cannot be set is as short as of every answer: browsers ask for the rest then.
	_ = http.NewResponseController(v.w).SetWriteDeadline(time.Now().Add(RecordingWithin))
	http.ServeContent(v.w, v.r, "", time.Time{}, content)
	return nil
}

// aboutRecording tells the page's script what the link opens.
func (v *view) aboutRecording(r Recorded) error {
	told := struct {
		Speaker    string     `json:"speaker"`
		Face       string     `json:"face"`
		Hosts      []hostBody `json:"hosts,omitempty"`
		StartedAt  time.Time  `json:"startedAt"`
		OffsetMs   int64      `json:"offsetMs"`
		DurationMs int64      `json:"durationMs"`
		MissingMs  int64      `json:"missingMs"`
	}{Speaker: r.Site.Speaker.Name, StartedAt: r.StartedAt, OffsetMs: r.BeganMs, DurationMs: r.DurationMs, MissingMs: r.MissingMs}
	told.Face = v.livingAt(r.Site, v.faceUnder(r.Site, strings.TrimSuffix(v.r.URL.Path, "/about")))
	told.Hosts = v.hostsAt(r.Site, strings.TrimSuffix(v.r.URL.Path, "/about"))
	v.answer(http.StatusOK, told)
	return nil
}
