package avatars

import (
	"context"
	"net/http"
	"strconv"

	"visavis.dev/api/consents"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/store/tenant"
)

// PreviewQuery chooses a size.
type PreviewQuery struct {
	Path
	Size string `query:"size" enum:"full,thumbnail,256,512,1024" default:"full" doc:"A number is the height in pixels, as GET /avatars/{id}/face lists them."`
}

const (
	// A library face's picture never changes under its address but with a
	// release; a day is long and a release soon seen.
	publicDay = "public, max-age=86400, stale-while-revalidate=604800"
	// An own picture is for its organization alone; it may be kept but must
	// be asked about, since it can be deleted.
	privateAsk = "private, no-cache"
)

// preview shows a library face to anybody and an own one to its organization;
// everybody else learns nothing (Avatars, 6).
func (a *API) preview(ctx context.Context, c *route.Call, q *PreviewQuery) (route.Blob, error) {
	f, err := q.avatar()
	if err != nil {
		return route.Blob{}, err
	}
	if _, ok := a.Library.Find(f); ok {
		side := sideOf(q.Size)
		return route.Blob{
			ContentType: "image/png", ETag: a.Library.ETag(f, side), CacheControl: publicDay,
			Data: func(context.Context) ([]byte, error) { return a.Library.Picture(f, side) },
		}, nil
	}
	own, err := a.own(ctx, c, f)
	if err != nil {
		return route.Blob{}, err
	}
	picture, err := a.pictureOf(ctx, c, own, q.Size)
	if err != nil {
		return route.Blob{}, err
	}
	data, err := a.Files.Read(ctx, c.Org(), picture)
	if err != nil {
		return route.Blob{}, err
	}
	return route.Blob{
		ContentType: http.DetectContentType(data), ETag: `"` + picture.Bare() + `"`, CacheControl: privateAsk,
		Data: func(context.Context) ([]byte, error) { return data, nil },
	}, nil
}

// own finds an own face for its organization; to everybody else there is none.
func (a *API) own(ctx context.Context, c *route.Call, f id.Avatar) (avatar.Avatar, error) {
	if c.Principal == nil {
		return avatar.Avatar{}, problem.Missing("avatar").WithParam("path.id")
	}
	own, err := avatar.Get(ctx, a.Tenants, a.Library, c.Org(), f)
	if errdefs.IsGone(err, avatar.Noun) {
		err = avatar.Noun.NotFound(f)
	}
	return own, err
}

const (
	sizeFull      = "full"
	sizeThumbnail = "thumbnail"
)

// sideOf is the side of a library face's picture of a size.
func sideOf(size string) int {
	switch size {
	case sizeFull:
		return avatar.PortraitSide
	case sizeThumbnail:
		return avatar.ThumbnailSide
	}
	side, _ := strconv.Atoi(size) // the schema lets nothing else through
	return side
}

// withdraw withdraws the consent a face rests on.
func (a *API) withdraw(ctx context.Context, c *route.Call, p *Path) (consents.Consent, error) {
	f, err := p.avatar()
	if err != nil {
		return consents.Consent{}, err
	}
	if _, ok := a.Library.Find(f); ok {
		return consents.Consent{}, avatar.OfLibrary(f)
	}
	own, err := avatar.Get(ctx, a.Tenants, a.Library, c.Org(), f)
	if err != nil {
		return consents.Consent{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (consents.Consent, error) {
		k, err := person.WithdrawConsent(ctx, tx, own.Consent.ID, c.Actor())
		return consents.Show(c, k), err
	})
}
