package portal

import (
	"context"
	"io"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/portals/portal/published"
	"visavis.dev/pkg/sessions/recording"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/web/page"
)

// recordings are what was recorded, for pages; it implements page.Recordings.
type recordings struct{ *Server }

// Recorded implements page.Recordings. What was deleted since the link was made is not there.
func (t recordings) Recorded(ctx context.Context, link string) (page.Recorded, error) {
	b := t.options.Backend
	org, which, ok := t.options.Front.Recordings.Open(link, b.Options.Clock.Now())
	if !ok {
		return page.Recorded{}, page.ErrNoRecording
	}
	r, err := recording.Get(ctx, b.Tenants, org, which)
	if errdefs.IsNotFound(err, recording.Noun) || err == nil && !r.Heard() {
		return page.Recorded{}, page.ErrNoRecording
	}
	if err != nil {
		return page.Recorded{}, err
	}
	s, err := session.Get(ctx, b.Tenants, org, which)
	if err != nil {
		return page.Recorded{}, err
	}
	if s.Withheld != nil || s.StartedAt == nil {
		return page.Recorded{}, page.ErrNoRecording
	}
	who, err := persona.GetVersion(ctx, b.Tenants, org, s.Persona, s.PersonaVersion)
	if err != nil {
		return page.Recorded{}, err
	}
	return page.Recorded{
		Recording: r, StartedAt: s.StartedAt.UTC(),
		Site: &published.Site{Org: org, Speaker: published.Speaker{Name: who.Name, Avatar: s.Avatar, Hosts: hosts(s)}},
	}, nil
}

// Sound implements page.Recordings.
func (t recordings) Sound(ctx context.Context, r page.Recorded) (io.ReadSeekCloser, error) {
	return t.open(ctx, r.Site.Org, r.Sound)
}

// Track implements page.Recordings.
func (t recordings) Track(ctx context.Context, r page.Recorded) (io.ReadSeekCloser, error) {
	return t.open(ctx, r.Site.Org, r.Track)
}

func (t recordings) open(ctx context.Context, org id.Org, f id.File) (io.ReadSeekCloser, error) {
	content, _, err := t.options.Backend.Files.Open(ctx, org, f)
	return content, err
}
