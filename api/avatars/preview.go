package avatars

import (
	"context"
	"errors"
	"net/http"

	"visavis.dev/api/consents"
	"visavis.dev/api/route"
	"visavis.dev/pkg/avatar"
	"visavis.dev/pkg/problem"
	"visavis.dev/pkg/tenant"
)

// PreviewQuery chooses a size.
type PreviewQuery struct {
	Path
	Size string `query:"size" enum:"full,thumbnail" default:"full"`
}

const (
	// A library face's picture never changes under its address but with a
	// release; a day is long and a release soon seen.
	publicDay = "public, max-age=86400, stale-while-revalidate=604800"
	// An own picture is for its organisation alone; it may be kept but must
	// be asked about, since it can be deleted.
	privateAsk = "private, no-cache"
)

// preview shows a library face to anybody and an own one to its organisation;
// everybody else learns nothing (Avatars, 6).
func (a *API) preview(ctx context.Context, c *route.Call, q *PreviewQuery) (route.Blob, error) {
	f, err := q.avatar()
	if err != nil {
		return route.Blob{}, err
	}
	thumbnail := q.Size == "thumbnail"
	if _, ok := a.Library.Find(f); ok {
		return route.Blob{
			ContentType: "image/png", ETag: a.Library.ETag(f, thumbnail), CacheControl: publicDay,
			Data: func(context.Context) ([]byte, error) { return a.Library.Picture(f, thumbnail) },
		}, nil
	}
	if c.Principal == nil {
		return route.Blob{}, problem.Missing("avatar").WithParam("path.id")
	}
	own, err := avatar.Get(ctx, a.Tenants, a.Library, c.Org(), f)
	if errors.Is(err, avatar.ErrGone) {
		err = avatar.ErrUnknown
	}
	if err != nil {
		return route.Blob{}, asProblem(err)
	}
	picture := own.Picture
	if thumbnail {
		picture = own.Thumbnail
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

// withdraw withdraws the consent a face rests on.
func (a *API) withdraw(ctx context.Context, c *route.Call, p *Path) (consents.Consent, error) {
	f, err := p.avatar()
	if err != nil {
		return consents.Consent{}, err
	}
	if _, ok := a.Library.Find(f); ok {
		return consents.Consent{}, asProblem(avatar.ErrLibrary)
	}
	own, err := avatar.Get(ctx, a.Tenants, a.Library, c.Org(), f)
	if err != nil {
		return consents.Consent{}, asProblem(err)
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (consents.Consent, error) {
		k, err := consents.Withdraw(ctx, c, tx, own.Consent.ID)
		return consents.Show(c, k), err
	})
}
