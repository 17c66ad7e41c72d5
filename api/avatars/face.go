package avatars

import (
	"context"
	"strconv"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/face"
)

// Face is what a client needs to show a face.
type Face struct {
	AvatarID    id.Avatar               `json:"avatarId" doc:"The avatar whose face it is."`
	State       string                  `json:"state" enum:"unworn,preparing,ready,failed" doc:"unworn: nobody put it on yet, so it was not prepared."`
	ReadyAt     *time.Time              `json:"readyAt" doc:"When it was ready; while it is being prepared, when that is expected."`
	Orientation string                  `json:"orientation" enum:"portrait,landscape" doc:"Which side of the pictures is the longer one."`
	Landmarks   route.OrNull[Landmarks] `json:"landmarks" doc:"Where the face is in its picture, by which a client moves it; null where none was found: then it is a still picture."`
	Images      []FaceImage             `json:"images" doc:"Smallest first."`
}

// FaceImage is a picture of a face.
type FaceImage struct {
	Size        int    `json:"size" doc:"Size of the file in bytes."`
	Width       int    `json:"width" doc:"Width in pixels."`
	Height      int    `json:"height" doc:"Height in pixels."`
	ContentType string `json:"contentType" doc:"The media type of the picture: image/png, image/jpeg or image/webp."`
	URL         string `json:"url" format:"uri" doc:"Where the picture is; it may be kept for as long as its address stays."`
}

// unworn is the state of an own face that nobody put on yet.
const unworn = "unworn"

func (a *API) face(ctx context.Context, c *route.Call, p *Path) (Face, error) {
	f, err := p.avatar()
	if err != nil {
		return Face{}, err
	}
	if library, ok := a.Library.Find(f); ok {
		return showLibraryFace(c, library), nil
	}
	own, err := a.own(ctx, c, f)
	if err != nil {
		return Face{}, err
	}
	prepared, err := face.Get(ctx, a.Tenants, c.Org(), f)
	if err != nil {
		return Face{}, err
	}
	shown := blankFace(own)
	if prepared == nil {
		return shown, nil
	}
	shown.State = string(prepared.State)
	if prepared.State != face.Failed {
		at := prepared.ReadyAt
		if prepared.State == face.Preparing {
			at = c.Now().Add(face.Wait(at, c.Now()))
		}
		shown.ReadyAt = route.UTC(&at)
	}
	for _, i := range prepared.Images {
		shown.Images = append(shown.Images, FaceImage{i.Size, i.Width, i.Height, i.ContentType, imageURL(c, f, i.Size)})
	}
	return shown, nil
}

func blankFace(a avatar.Avatar) Face {
	return Face{
		AvatarID: a.ID, State: unworn, Orientation: orientation(a),
		Landmarks: route.OrNull[Landmarks]{Value: showLandmarks(a.Landmarks)}, Images: []FaceImage{},
	}
}

func showLibraryFace(c *route.Call, a avatar.Avatar) Face {
	f := blankFace(a)
	f.State, f.ReadyAt = string(face.Ready), route.UTC(&a.CreatedAt)
	for _, size := range face.Sizes() {
		f.Images = append(f.Images, FaceImage{size, size, size, "image/png", imageURL(c, a.ID, size)})
	}
	return f
}

func imageURL(c *route.Call, a id.Avatar, size int) string {
	return c.URL("/avatars/" + a.String() + "/preview?size=" + strconv.Itoa(size))
}

// pictureOf is the file of an own face's picture of a size.
func (a *API) pictureOf(ctx context.Context, c *route.Call, own avatar.Avatar, size string) (id.File, error) {
	switch size {
	case sizeFull:
		return own.Picture, nil
	case sizeThumbnail:
		return own.Thumbnail, nil
	}
	prepared, err := face.Get(ctx, a.Tenants, c.Org(), own.ID)
	if err != nil {
		return id.File{}, err
	}
	if prepared != nil && prepared.State == face.Preparing {
		return id.File{}, problem.NotReady(face.Wait(prepared.ReadyAt, c.Now())).WithParam("path.id")
	}
	if prepared != nil {
		if image, ok := prepared.Image(sideOf(size)); ok {
			return image.File, nil
		}
	}
	return id.File{}, problem.Missing("picture of this size").WithParam("query.size")
}
