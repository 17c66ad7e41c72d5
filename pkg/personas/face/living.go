package face

import (
	"context"
	"encoding/json"
	"slices"
	"time"

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

// Moved is a face as a browser moves it. Nothing of it is read or drawn before it is asked for.
type Moved struct {
	// ContentType is of Layers: image/png or image/jpeg.
	ContentType string
	// Tag identifies the bytes of both Rig and Layers, with its quotes.
	Tag string
	// Rig is JSON: where everything lies.
	Rig func(context.Context) ([]byte, error)
	// Layers are the picture, or the parts of it.
	Layers func(context.Context) ([]byte, error)
}

// DrawnMoved is a face of the library as a browser moves it, in one of avatar.LivingSides.
func DrawnMoved(l *avatar.Library, worn id.Avatar, side int) Moved {
	return Moved{
		ContentType: "image/png", Tag: l.ETag(worn, side),
		Rig: func(context.Context) ([]byte, error) {
			drawn, err := l.Living(worn, side)
			return drawn.Rig, err
		},
		Layers: func(context.Context) ([]byte, error) {
			drawn, err := l.Living(worn, side)
			return drawn.Layers, err
		},
	}
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
// errdefs.NotFound where Moves says no, and while an own face is not prepared: the picture as
// it was made can be of any size.
func (m Movers) Living(ctx context.Context, org id.Org, worn id.Avatar, side int) (Moved, error) {
	if _, ok := m.Library.Find(worn); ok {
		return DrawnMoved(m.Library, worn, side), nil
	}
	own, err := m.shown(ctx, org, worn)
	if err != nil {
		return Moved{}, err
	}
	prepared, err := Get(ctx, m.Tenants, org, own.ID)
	if err != nil {
		return Moved{}, err
	}
	if prepared == nil || prepared.State != Ready || len(prepared.Images) == 0 {
		return Moved{}, avatar.Noun.NotFound(worn)
	}
	if !own.Looked() {
		if err := m.look(ctx, org, &own, prepared.atLeast(searched)); err != nil {
			return Moved{}, err
		}
	}
	if own.Landmarks == nil {
		return Moved{}, avatar.Noun.NotFound(worn)
	}
	image, marks := prepared.atLeast(side), *own.Landmarks
	return Moved{
		ContentType: image.ContentType, Tag: `"` + editionOf(own) + image.File.Bare() + `"`,
		Rig:    func(context.Context) ([]byte, error) { return MeshRig(own.Width, own.Height, marks) },
		Layers: func(ctx context.Context) ([]byte, error) { return m.Files.Read(ctx, org, image.File) },
	}, nil
}

// atLeast is the smallest picture of a ready face that is large enough for a size, else the
// largest.
func (f *Face) atLeast(side int) Image {
	i := slices.IndexFunc(f.Images, func(i Image) bool { return i.Size >= side })
	if i < 0 {
		i = len(f.Images) - 1
	}
	return f.Images[i]
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

const (
	// searched is the size of the picture that landmarks are looked for in.
	searched = 1024
	// marksWithin is how long a page waits at most until landmarks are kept.
	marksWithin = time.Second
)

// looking bounds the memory that pictures take which are decoded to be looked at.
var looking = make(chan struct{}, 1)

// look finds the landmarks of a face that was made before they were looked for, once. Where
// they cannot be kept now, as while the organization is moved, they are looked for again.
func (m Movers) look(ctx context.Context, org id.Org, own *avatar.Avatar, in Image) error {
	if err := m.find(ctx, org, own, in.File); err != nil {
		return err
	}
	saving, done := context.WithTimeout(ctx, marksWithin)
	defer done()
	err := avatar.SaveMarks(saving, m.Tenants, org, *own)
	if ctx.Err() == nil && (saving.Err() != nil || tenant.Unavailable(err)) {
		return nil
	}
	return err
}

func (m Movers) find(ctx context.Context, org id.Org, own *avatar.Avatar, in id.File) error {
	select {
	case looking <- struct{}{}:
		defer func() { <-looking }()
	case <-ctx.Done():
		return ctx.Err()
	}
	data, err := m.Files.Read(ctx, org, in)
	if err != nil {
		return err
	}
	own.Marked = landmark.None // of a picture that cannot be decoded, too
	if whole, err := picture.Decode(data); err == nil {
		own.Mark(whole.Image)
	}
	return nil
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
