package page

import (
	"context"
	"net/http"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/portals/portal/artwork"
	"visavis.dev/pkg/portals/portal/published"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
)

// Faces are the Portraits of library faces and of organizations' own: who publishes
// a portal shows who speaks there to everybody.
type Faces struct {
	Library *avatar.Library
	Tenants *tenant.Tenants
	Files   *file.Store
}

// Picture implements Portraits.
func (f Faces) Picture(ctx context.Context, site *published.Site, p artwork.Picture) ([]byte, error) {
	return f.Files.Read(ctx, site.Org, p.File)
}

// portraitSide is of a drawn picture, in pixels: twice what the first page shows.
const portraitSide = 512

// Portrait implements Portraits.
func (f Faces) Portrait(ctx context.Context, site *published.Site) (data []byte, contentType string, err error) {
	worn := site.Speaker.Avatar
	if _, ok := f.Library.Find(worn); ok {
		data, err = f.Library.Picture(worn, portraitSide)
		return data, "image/png", err
	}
	own, err := avatar.Public(ctx, f.Tenants, f.Library, site.Org, worn)
	if errdefs.IsNotFound(err, avatar.Noun) {
		err = ErrNoPortrait
	}
	if err != nil {
		return nil, "", err
	}
	if data, err = f.Files.Read(ctx, site.Org, own); err != nil {
		return nil, "", err
	}
	return data, http.DetectContentType(data), nil
}

// Lives implements Portraits.
func (f Faces) Lives(site *published.Site) bool {
	_, ok := f.Library.Find(site.Speaker.Avatar)
	return ok
}

// Living implements Portraits.
func (f Faces) Living(_ context.Context, site *published.Site, side int) (avatar.Living, error) {
	if !f.Lives(site) {
		return avatar.Living{}, ErrNoPortrait
	}
	return f.Library.Living(site.Speaker.Avatar, side)
}
