package face

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/picture"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/avatar/landmark"
	"visavis.dev/pkg/personas/avatar/portrait"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
)

// Movers give browsers the faces that they move: a library face in layers, and an own one
// as its picture, with where its eyes, mouth and chin are.
type Movers struct {
	Tenants *tenant.Tenants
	Files   *file.Store
	Library *avatar.Library
}

// Moved is a face as a browser moves it.
type Moved struct {
	avatar.Living
	// ContentType is of Living.Layers: image/png or image/jpeg.
	ContentType string
	// Tag identifies the bytes of both.
	Tag string
}

// Moves says whether an organization's face can be moved, and how its edition is called:
// another picture or other landmarks have another one. An own face cannot whose consent
// was withdrawn, or in whose picture no face was found.
func (m Movers) Moves(ctx context.Context, org id.Org, worn id.Avatar) (edition string, ok bool, err error) {
	if _, ok := m.Library.Find(worn); ok {
		return worn.Bare(), true, nil
	}
	if worn.IsZero() {
		return "", false, nil
	}
	own, err := m.shown(ctx, org, worn)
	if errdefs.IsNotFound(err, avatar.Noun) {
		return "", false, nil
	}
	return editionOf(own), err == nil && (own.Landmarks != nil || !own.Looked()), err
}

// Living is a face as a browser moves it, in one of avatar.LivingSides. The error is
// errdefs.NotFound where Moves says no.
func (m Movers) Living(ctx context.Context, org id.Org, worn id.Avatar, side int) (Moved, error) {
	if _, ok := m.Library.Find(worn); ok {
		drawn, err := m.Library.Living(worn, side)
		return Moved{drawn, "image/png", m.Library.ETag(worn, side)}, err
	}
	own, err := m.shown(ctx, org, worn)
	if err != nil {
		return Moved{}, err
	}
	if !own.Looked() {
		if err := m.look(ctx, org, &own); err != nil {
			return Moved{}, err
		}
	}
	if own.Landmarks == nil {
		return Moved{}, avatar.Noun.NotFound(worn)
	}
	rig, err := MeshRig(own.Width, own.Height, *own.Landmarks)
	if err != nil {
		return Moved{}, err
	}
	source, err := m.picture(ctx, org, own, side)
	if err != nil {
		return Moved{}, err
	}
	data, err := m.Files.Read(ctx, org, source)
	return Moved{avatar.Living{Rig: rig, Layers: data}, http.DetectContentType(data), `"` + editionOf(own) + source.Bare() + `"`}, err
}

// shown finds an own face that may be shown to everybody; the error is errdefs.NotFound
// where none may.
func (m Movers) shown(ctx context.Context, org id.Org, worn id.Avatar) (avatar.Avatar, error) {
	own, err := avatar.Get(ctx, m.Tenants, m.Library, org, worn)
	if errdefs.IsGone(err, avatar.Noun) || err == nil && own.Status() == avatar.Withdrawn {
		err = avatar.Noun.NotFound(worn)
	}
	return own, err
}

// looking bounds the memory that pictures take which are decoded to be looked at.
var looking = make(chan struct{}, 1)

// look finds the landmarks of a face that was made before they were looked for, once.
func (m Movers) look(ctx context.Context, org id.Org, own *avatar.Avatar) error {
	select {
	case looking <- struct{}{}:
		defer func() { <-looking }()
	case <-ctx.Done():
		return ctx.Err()
	}
	data, err := m.Files.Read(ctx, org, own.Picture)
	if err != nil {
		return err
	}
	own.Marked = landmark.None // of a picture that cannot be decoded, too
	if whole, err := picture.Decode(data); err == nil {
		own.Mark(whole.Image)
	}
	return avatar.SaveMarks(ctx, m.Tenants, org, *own)
}

// picture is the file that is large enough for a size: of those that were prepared the
// smallest, else the picture as it was made.
func (m Movers) picture(ctx context.Context, org id.Org, own avatar.Avatar, side int) (id.File, error) {
	prepared, err := Get(ctx, m.Tenants, org, own.ID)
	if err != nil || prepared == nil || prepared.State != Ready || len(prepared.Images) == 0 {
		return own.Picture, err
	}
	images := prepared.Images
	i := slices.IndexFunc(images, func(i Image) bool { return i.Size >= side })
	if i < 0 {
		i = len(images) - 1
	}
	return images[i].File, nil
}

func editionOf(own avatar.Avatar) string {
	return own.ID.Bare() + "." + own.UpdatedAt.UTC().Format("20060102150405.000000")
}

// MeshRig describes a face that is a picture, of a width and height in pixels, as JSON.
func MeshRig(width, height int, l portrait.Landmarks) ([]byte, error) {
	return json.Marshal(meshRig{true, width, height, marks(l)})
}

// meshRig is what avatar.Living.Rig holds of an own face (web/client/rig.js).
type meshRig struct {
	// Mesh tells it from that of a face in layers.
	Mesh bool `json:"mesh"`
	// Width and Height are of the whole picture, in pixels.
	Width     int   `json:"width"`
	Height    int   `json:"height"`
	Landmarks marks `json:"landmarks"`
}

// marks are portrait.Landmarks as browsers read them.
type marks struct {
	LeftEye     portrait.Point `json:"leftEye"`
	RightEye    portrait.Point `json:"rightEye"`
	MouthLeft   portrait.Point `json:"mouthLeft"`
	MouthRight  portrait.Point `json:"mouthRight"`
	MouthTop    portrait.Point `json:"mouthTop"`
	MouthBottom portrait.Point `json:"mouthBottom"`
	Chin        portrait.Point `json:"chin"`
}
