package avatars

import (
	"context"
	"strconv"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/problem"
)

// RigType is the content type of what describes a face that pages move.
const RigType = "application/vnd.visavis.rig+json"

// LayersQuery chooses what is wanted of a living face.
type LayersQuery struct {
	Path
	Size string `query:"size" enum:"512,1024" default:"512" doc:"How large the face is drawn, in pixels."`
	Kind string `query:"kind" enum:"png,json" default:"png" doc:"png for the sheet of layers, json for what is where in it."`
}

// layers sends a library face as a browser moves it, to the pages of anybody: widgets
// show it on pages of every origin. An own face is a picture and has none.
func (a *API) layers(_ context.Context, c *route.Call, q *LayersQuery) (route.Blob, error) {
	f, err := q.avatar()
	if err != nil {
		return route.Blob{}, err
	}
	if _, ok := a.Library.Find(f); !ok {
		return route.Blob{}, problem.Missing("avatar of the library").WithParam("path.id")
	}
	side, err := strconv.Atoi(q.Size)
	if err != nil {
		return route.Blob{}, err // the schema lets nothing else through
	}
	c.SetHeader("Access-Control-Allow-Origin", "*")
	c.SetHeader("Cross-Origin-Resource-Policy", "cross-origin") // pages that are isolated load it only so
	blob := route.Blob{ContentType: "image/png", ETag: a.Library.ETag(f, side), CacheControl: publicDay}
	if q.Kind == "json" {
		blob.ContentType = RigType
	}
	blob.Data = func(context.Context) ([]byte, error) {
		drawn, err := a.Library.Living(f, side)
		if q.Kind == "json" {
			return drawn.Rig, err
		}
		return drawn.Layers, err
	}
	return blob, nil
}
