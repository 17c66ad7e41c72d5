package widgets

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"visavis.dev/api/avatars"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/face"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/portals/widget"
)

func (a *API) registerPicture(s *route.Service) {
	route.File(s, route.Operation{
		ID: "getWidgetPicture", Method: http.MethodGet, Path: "/widgets/{id}/picture", Group: "Widget", Auth: route.Open,
		Since: contract.V20261001, Produces: []string{"image/png", "image/jpeg", avatars.RigType},
		Summary: "The picture of a face of the organization's own that a widget shows, and what moves it",
		Description: "The configuration of the widget names its addresses. Pictures say of no page that they are shown on it, so the widget's " +
			"public key is what it takes: whoever puts an own face on a website shows it to everybody. With size it is the picture that a " +
			"page moves while it speaks, and with kind json where its eyes, mouth and chin are; neither is there where no face was found in it, and before it is prepared (GET /avatars/{id}/face).",
	}, a.ownPicture)
}

// PictureQuery names the picture of a widget.
type PictureQuery struct {
	Path
	Key  string `query:"key" doc:"The widget's public key."`
	Face string `query:"face" doc:"The face that is worn: another one has another address."`
	Size string `query:"size" enum:"thumbnail,512,1024" default:"thumbnail" doc:"thumbnail for the still picture; a number is the height in pixels of the one that is moved."`
	Kind string `query:"kind" enum:"png,json" default:"png" doc:"png for the picture, whatever its format; json for what describes the one that is moved."`
}

// hour is how long a picture is shown whose consent was withdrawn.
const hour = "public, max-age=3600"

// picture is where anybody finds the picture of who speaks; nil where there is none.
func (a *API) picture(c *route.Call, w widget.Widget, worn id.Avatar) *string {
	var at string
	switch _, drawn := a.Library.Find(worn); {
	case worn.IsZero():
		return nil
	case drawn:
		at = c.URL("/avatars/" + worn.String() + "/preview?size=256")
	default:
		at = c.URL("/widgets/" + w.ID.String() + "/picture?" + url.Values{"key": {string(w.PublicKey)}, "face": {worn.String()}}.Encode())
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
	worn, err := id.ParseAvatar(in.Face)
	if err != nil || worn != p.Avatar && (p.Partner.IsZero() || worn != p.Partner) {
		return route.Blob{}, problem.Missing("picture").WithParam("query.face")
	}
	if side, err := strconv.Atoi(in.Size); err == nil {
		return a.moved(ctx, c, org, worn, side, in.Kind)
	}
	picture, err := avatar.Public(ctx, a.Tenants, a.Library, org, worn)
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

// moved answers what a page moves of an own face.
func (a *API) moved(ctx context.Context, c *route.Call, org id.Org, worn id.Avatar, side int, kind string) (route.Blob, error) {
	found, err := a.movers().Living(ctx, org, worn, side)
	if errdefs.IsNotFound(err, avatar.Noun) {
		err = problem.Missing("face").WithParam("query.face")
	}
	if err != nil {
		return route.Blob{}, err
	}
	c.SetHeader("Access-Control-Allow-Origin", "*") // pages read what they move
	c.SetHeader("Cross-Origin-Resource-Policy", "cross-origin")
	blob := route.Blob{ContentType: found.ContentType, ETag: found.Tag, CacheControl: hour, Data: found.Layers}
	if kind == "json" {
		blob.ContentType, blob.Data = avatars.RigType, found.Rig
	}
	return blob, nil
}

func (a *API) movers() face.Movers {
	return face.Movers{Tenants: a.Tenants, Files: a.Files, Library: a.Library}
}

// layers is where a page finds who speaks as a face that lives; nil where there is only a
// picture. edition is that of the face: another one has another address.
func (a *API) layers(ctx context.Context, c *route.Call, org id.Org, w widget.Widget, worn id.Avatar) (at *string, edition string, err error) {
	edition, ok, err := a.movers().Moves(ctx, org, worn)
	if !ok || err != nil {
		return nil, "", err
	}
	if _, drawn := a.Library.Find(worn); drawn {
		return new(c.URL("/avatars/"+worn.String()+"/layers") + "?size={side}&kind={kind}"), edition, nil
	}
	query := url.Values{"key": {string(w.PublicKey)}, "face": {worn.String()}}
	return new(c.URL("/widgets/"+w.ID.String()+"/picture?"+query.Encode()) + "&size={side}&kind={kind}"), edition, nil
}
