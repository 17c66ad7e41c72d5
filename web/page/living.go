package page

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/web/packed"
)

// livingPrefix is under what the speaker's face is, as the conversation's page moves
// it: its layers by their side in pixels, as a picture and as what describes them.
const livingPrefix = "/face/"

// living sends who speaks, for everybody who sees the page.
func (v *view) living(name string) error {
	size, kind, _ := strings.Cut(name, ".")
	side, err := strconv.Atoi(size)
	if err != nil || !slices.Contains(avatar.LivingSides, side) || kind != "png" && kind != "json" {
		return errNoPage
	}
	face, err := v.h.Portraits.Living(v.r.Context(), v.site, side)
	if err != nil {
		return err
	}
	v.w.Header().Set("Cache-Control", "public, max-age=3600, stale-while-revalidate=86400")
	document := packed.New(face.Layers, "image/png")
	if kind == "json" {
		document = packed.New(face.Rig, "application/json")
	}
	document.Serve(v.w, v.r, http.StatusOK)
	return nil
}

// livingPath is where a page finds who speaks; empty where there is only a picture.
func (v *view) livingPath() string {
	if !v.h.Portraits.Lives(v.site) {
		return ""
	}
	return v.base + livingPrefix + "{side}.{kind}?" + v.site.Speaker.Avatar.Bare()
}
