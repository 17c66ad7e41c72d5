package sessions

import (
	"context"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/sessions/recording"
	"visavis.dev/web/page"
)

// registerRecording declares the operation on what was heard.
func (a *API) registerRecording(s *route.Service, read route.Operation) {
	get := read
	get.ID, get.Path, get.Scope, get.Class = "getRecording", "/sessions/{id}/recording", scope.TranscriptsRead, "heavy"
	get.Since = contract.V20261001
	get.Errors = []problem.Code{problem.CandidateInterview, problem.LearnerConversation}
	get.Summary = "Links to what was heard and shown of a session, good for 15 minutes"
	get.Description = "404 where the session was not recorded, its user did not agree, or its recording is not ready: that takes about a minute " +
		"from the session's end, and recordingAvailable says when. Whoever has a link can open it, so give it to nobody else."
	route.Handle(s, get, a.recording)
}

// Recording is what was heard and shown of a session.
type Recording struct {
	URL         string    `json:"url" format:"uri" doc:"The sound of both sides; it answers requests for ranges."`
	ExpiresAt   time.Time `json:"expiresAt" doc:"Until when the links are good, in UTC."`
	ContentType string    `json:"contentType" enum:"audio/ogg" doc:"What url answers: Opus in Ogg, mono."`
	PageURL     string    `json:"pageUrl" format:"uri" doc:"A page that plays it back with the face and captions."`
	TrackURL    string    `json:"trackUrl" format:"uri" doc:"What the face did and what was said, an item of JSON a line, with times in milliseconds from the session's start."`
	OffsetMs    int64     `json:"offsetMs" doc:"Where the sound begins, from the session's start."`
	DurationMs  int64     `json:"durationMs" doc:"How long the sound is."`
	MissingMs   int64     `json:"missingMs" doc:"How much of it could not be kept, and is silent."`
	Bytes       int64     `json:"bytes" doc:"How much is kept, sound and track."`
}

func (a *API) recording(ctx context.Context, c *route.Call, p *Path) (Recording, error) {
	s, err := a.wordsOf(ctx, c, *p)
	if err != nil {
		return Recording{}, err
	}
	r, err := recording.Get(ctx, a.Tenants, c.Org(), s.ID)
	if errdefs.IsNotFound(err, recording.Noun) || err == nil && (!r.Heard() || s.Withheld != nil) {
		return Recording{}, problem.Missing("recording of this session").WithParam("path.id")
	}
	if err != nil {
		return Recording{}, err
	}
	until := c.Now().Add(recording.LinkLasts).UTC().Truncate(time.Second)
	links := page.RecordingLinks(a.PortalURL, a.Recordings.Sign(c.Org(), s.ID, until))
	return Recording{
		URL: links.Sound, PageURL: links.Page, TrackURL: links.Track, ExpiresAt: until, ContentType: recording.SoundType,
		OffsetMs: r.BeganMs, DurationMs: r.DurationMs, MissingMs: r.MissingMs, Bytes: r.Bytes,
	}, nil
}
