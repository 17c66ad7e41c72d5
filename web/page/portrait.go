package page

import (
	"context"
	"net/http"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/face"
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

// PortraitSide is of a drawn picture, in pixels: twice what the first page shows.
const PortraitSide = 512

// Portrait implements Portraits.
func (f Faces) Portrait(ctx context.Context, site *published.Site) (data []byte, contentType string, err error) {
	worn := site.Speaker.Avatar
	if _, ok := f.Library.Find(worn); ok {
		data, err = f.Library.Picture(worn, PortraitSide)
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

// OfLibrary implements Portraits.
func (f Faces) OfLibrary(worn id.Avatar) bool {
	_, ok := f.Library.Find(worn)
	return ok
}

// Lives implements Portraits.
func (f Faces) Lives(ctx context.Context, site *published.Site) (edition string, ok bool, err error) {
	return f.movers().Moves(ctx, site.Org, site.Speaker.Avatar)
}

// Living implements Portraits.
func (f Faces) Living(ctx context.Context, site *published.Site, side int) (face.Moved, error) {
	moved, err := f.movers().Living(ctx, site.Org, site.Speaker.Avatar, side)
	if errdefs.IsNotFound(err, avatar.Noun) {
		err = ErrNoPortrait
	}
	return moved, err
}

func (f Faces) movers() face.Movers {
	return face.Movers{Tenants: f.Tenants, Files: f.Files, Library: f.Library}
}
