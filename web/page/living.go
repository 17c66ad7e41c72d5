package page

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/portals/portal/published"
	"visavis.dev/web/packed"
)

// livingPrefix is under what the speaker's face is, as the conversation's page moves
// it: by its side in pixels, as a picture and as what describes it.
const livingPrefix = "/face/"

// How long browsers keep a face: one of the library, one of an organization's own that
// everybody sees, until its consent is withdrawn, and one that somebody sees who holds a secret.
const (
	keptByAll  = "public, max-age=3600, stale-while-revalidate=86400"
	keptAnHour = "public, max-age=3600"
	keptByNone = "private, no-store"
)

// kept is how long browsers keep the face of who speaks at the site, which everybody sees.
func (v *view) kept() string {
	if v.h.Portraits.OfLibrary(v.site.Speaker.Avatar) {
		return keptByAll
	}
	return keptAnHour
}

// publicLiving is living for everybody who sees the page, also of a host of a duo by their seat: left/512.png.
func (v *view) publicLiving(name string) (err error) {
	if name, err = v.take(name); err != nil {
		return err
	}
	return v.living(name, v.kept())
}

// heldLiving is publicLiving for who holds a secret.
func (v *view) heldLiving(name string) (err error) {
	if name, err = v.take(name); err != nil {
		return err
	}
	return v.living(name, keptByNone)
}

// living sends who speaks: what describes them, or a picture.
func (v *view) living(name, kept string) error {
	size, kind, _ := strings.Cut(name, ".")
	side, err := strconv.Atoi(size)
	if err != nil || !slices.Contains(avatar.LivingSides, side) || kind != "png" && kind != "json" {
		return errNoPage
	}
	face, err := v.h.Portraits.Living(v.r.Context(), v.site, side)
	if err != nil {
		return err
	}
	read, contentType := face.Layers, face.ContentType
	if kind == "json" {
		read, contentType = face.Rig, "application/json"
	}
	v.w.Header().Set("Cache-Control", kept)
	tag := packed.Tag(face.Tag)
	if tag.Known(v.w, v.r) {
		return nil
	}
	data, err := read(v.r.Context())
	if err != nil {
		return err
	}
	packed.Tagged(data, contentType, tag).Serve(v.w, v.r, http.StatusOK)
	return nil
}

// livingPath is where a page finds who speaks; empty where there is only a picture.
func (v *view) livingPath() string { return v.livingAt(v.site, v.base+livingPrefix) }

// livingAt is livingPath of a site's speaker, under a path. Where it cannot be known now the
// page is shown with the picture.
func (v *view) livingAt(site *published.Site, under string) string {
	edition, ok, err := v.h.Portraits.Lives(v.r.Context(), site)
	if err != nil {
		v.h.Log.WarnContext(v.r.Context(), "a page shows a still picture", "path", loggedPath(v.r.URL.Path), "error", err)
	}
	if !ok || err != nil {
		return ""
	}
	return under + "{side}.{kind}?" + edition
}
