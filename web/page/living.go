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

// How long browsers keep a face: one that everybody sees, and one that somebody sees who
// holds the secret of a session.
const (
	keptByAll = "public, max-age=3600, stale-while-revalidate=86400"
	keptByOne = "private, max-age=3600"
)

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
	v.w.Header().Set("Cache-Control", kept)
	document := packed.New(face.Layers, face.ContentType)
	if kind == "json" {
		document = packed.New(face.Rig, "application/json")
	}
	document.Serve(v.w, v.r, http.StatusOK)
	return nil
}

// livingPath is where a page finds who speaks; empty where there is only a picture.
func (v *view) livingPath() (string, error) { return v.livingAt(v.site, v.base+livingPrefix) }

// livingAt is livingPath of a site's speaker, under a path.
func (v *view) livingAt(site *published.Site, under string) (string, error) {
	edition, ok, err := v.h.Portraits.Lives(v.r.Context(), site)
	if !ok || err != nil {
		return "", err
	}
	return under + "{side}.{kind}?" + edition, nil
}
