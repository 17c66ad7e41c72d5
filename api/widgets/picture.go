package widgets

import (
	"context"
	"net/http"
	"net/url"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/portals/widget"
)

func (a *API) registerPicture(s *route.Service) {
	route.File(s, route.Operation{
		ID: "getWidgetPicture", Method: http.MethodGet, Path: "/widgets/{id}/picture", Group: "Widget", Auth: route.Open,
		Since: contract.V20261001, Produces: []string{"image/png", "image/jpeg"},
		Summary: "The picture of a face of the organization's own that a widget shows",
		Description: "The configuration of the widget names its address. Pictures say of no page that they are shown on it, so the widget's " +
			"public key is what it takes: whoever puts an own face on a website shows it to everybody.",
	}, a.ownPicture)
}

// PictureQuery names the picture of a widget.
type PictureQuery struct {
	Path
	Key  string `query:"key" doc:"The widget's public key."`
	Face string `query:"face" doc:"The face that is worn: another one has another address."`
}

// hour is how long a picture is shown whose consent was withdrawn.
const hour = "public, max-age=3600"

// picture is where anybody finds the picture of who speaks; nil where there is none.
func (a *API) picture(c *route.Call, w widget.Widget, p persona.Persona) *string {
	var at string
	switch _, drawn := a.Library.Find(p.Avatar); {
	case p.Avatar.IsZero():
		return nil
	case drawn:
		at = c.URL("/avatars/" + p.Avatar.String() + "/preview?size=256")
	default:
		at = c.URL("/widgets/" + w.ID.String() + "/picture?" + url.Values{"key": {string(w.PublicKey)}, "face": {p.Avatar.String()}}.Encode())
	}
	return &at
}

// ownPicture answers whoever has the public key of a widget that can be shown.
func (a *API) ownPicture(ctx context.Context, c *route.Call, in *PictureQuery) (route.Blob, error) {
	wanted, err := in.widget()
	if err != nil {
		return route.Blob{}, err
	}
	org, w, err := widget.Shown(ctx, a.Tenants, wanted, widget.PublicKey(in.Key))
	if err != nil {
		return route.Blob{}, err
	}
	p, err := persona.Get(ctx, a.Tenants, org, w.Persona)
	if err != nil {
		return route.Blob{}, problem.From(err) // a shown persona is never deleted
	}
	if face, err := id.ParseAvatar(in.Face); err != nil || face != p.Avatar {
		return route.Blob{}, problem.Missing("picture").WithParam("query.face")
	}
	picture, err := avatar.Public(ctx, a.Tenants, a.Library, org, p.Avatar)
	if errdefs.IsNotFound(err, avatar.Noun) {
		err = problem.Missing("picture").WithParam("query.face")
	}
	if err != nil {
		return route.Blob{}, err
	}
	data, err := a.Files.Read(ctx, org, picture)
	c.SetHeader("Cross-Origin-Resource-Policy", "cross-origin") // pages that are isolated load it only so
	return route.Blob{
		ContentType: http.DetectContentType(data), ETag: `"` + picture.Bare() + `"`, CacheControl: hour,
		Data: func(context.Context) ([]byte, error) { return data, nil },
	}, err
}

// layers is where a page finds who speaks as a face that lives; nil where there is only a
// picture.
func (a *API) layers(c *route.Call, p persona.Persona) *string {
	if _, drawn := a.Library.Find(p.Avatar); !drawn {
		return nil
	}
	return new(c.URL("/avatars/"+p.Avatar.String()+"/layers") + "?size={side}&kind={kind}")
}
