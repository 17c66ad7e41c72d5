package page

import (
	"net/http"

	"visavis.dev/pkg/portals/portal/artwork"
	"visavis.dev/web/packed"
)

// picturePrefix is under what a portal's own pictures are, by their files: another
// picture has another address.
const picturePrefix = "/picture/"

// pictureAt is where a copy of a picture is that the portal names by an address; empty
// without one.
func (v *view) pictureAt(url string) string {
	found := v.site.Pictures[url]
	if found.File.IsZero() {
		return ""
	}
	return v.base + picturePrefix + found.File.Bare()
}

// picture sends a picture of the portal's.
func (v *view) picture(name string) error {
	for _, p := range v.site.Pictures {
		if !p.File.IsZero() && p.File.Bare() == name {
			return v.sendPicture(p)
		}
	}
	return errNoPage
}

func (v *view) sendPicture(p artwork.Picture) error {
	data, err := v.h.Portraits.Picture(v.r.Context(), v.site, p)
	if err != nil {
		return err
	}
	v.w.Header().Set("Cache-Control", forEver)
	packed.New(data, p.ContentType).Serve(v.w, v.r, http.StatusOK)
	return nil
}
