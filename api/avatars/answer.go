package avatars

import (
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/avatar"
	"visavis.dev/pkg/avatar/portrait"
	"visavis.dev/pkg/id"
)

// Avatar is one face (spec, Other resources).
type Avatar struct {
	ID           id.Avatar                   `json:"id"`
	Kind         string                      `json:"kind" enum:"builtin,custom"`
	Name         string                      `json:"name"`
	Gender       *string                     `json:"gender" enum:"female,male" nullable:"true"`
	AgeBand      *string                     `json:"ageBand" enum:"20s,30s,40s,50s,60s" nullable:"true"`
	Heritage     *string                     `json:"heritage" enum:"white,black,indian,chinese,korean,japanese,thai,hispanic,middleeastern,mixed" nullable:"true"`
	Status       string                      `json:"status" enum:"ready,withdrawn" doc:"withdrawn: its consent was, and it starts no new sessions."`
	StatusReason *string                     `json:"statusReason"`
	PreviewURL   string                      `json:"previewUrl" format:"uri"`
	ThumbnailURL string                      `json:"thumbnailUrl" format:"uri"`
	Style        string                      `json:"style" enum:"photo,illustrated"`
	Orientation  string                      `json:"orientation" enum:"portrait,landscape"`
	UsedBy       UsedBy                      `json:"usedBy"`
	Consent      route.OrNull[AvatarConsent] `json:"consent" doc:"What a custom face rests on; null for library faces."`
	AIDisclosure string                      `json:"aiDisclosure" doc:"What to tell people who meet the face."`
	Landmarks    route.OrNull[Landmarks]     `json:"landmarks"`
	Metadata     map[string]string           `json:"metadata"`
	CreatedAt    time.Time                   `json:"createdAt"`
	UpdatedAt    time.Time                   `json:"updatedAt"`
	DeletedAt    *time.Time                  `json:"deletedAt"`
}

// UsedBy counts who wears the face.
type UsedBy struct {
	Personas int64 `json:"personas"`
	Duos     int64 `json:"duos"`
}

// AvatarConsent is what the face's consent amounts to.
type AvatarConsent struct {
	ID            id.Consent `json:"id"`
	State         string     `json:"state" enum:"given,withdrawn"`
	PolicyVersion string     `json:"policyVersion"`
	RecordedAt    time.Time  `json:"recordedAt"`
}

// Landmarks are points of the face as fractions of the picture's width and
// height, left and right as seen in the picture.
type Landmarks struct {
	LeftEye     Point `json:"leftEye"`
	RightEye    Point `json:"rightEye"`
	MouthLeft   Point `json:"mouthLeft"`
	MouthRight  Point `json:"mouthRight"`
	MouthTop    Point `json:"mouthTop"`
	MouthBottom Point `json:"mouthBottom"`
	Chin        Point `json:"chin"`
}

func (l Landmarks) inner() *portrait.Landmarks {
	return &portrait.Landmarks{
		LeftEye: portrait.Point(l.LeftEye), RightEye: portrait.Point(l.RightEye),
		MouthLeft: portrait.Point(l.MouthLeft), MouthRight: portrait.Point(l.MouthRight),
		MouthTop: portrait.Point(l.MouthTop), MouthBottom: portrait.Point(l.MouthBottom), Chin: portrait.Point(l.Chin),
	}
}

func showLandmarks(l *portrait.Landmarks) *Landmarks {
	if l == nil {
		return nil
	}
	return &Landmarks{
		Point(l.LeftEye), Point(l.RightEye), Point(l.MouthLeft), Point(l.MouthRight),
		Point(l.MouthTop), Point(l.MouthBottom), Point(l.Chin),
	}
}

const aiDisclosure = "This is a computer-generated avatar, not a person."

func show(c *route.Call, a avatar.Avatar) Avatar {
	preview := c.URL("/avatars/" + a.ID.String() + "/preview")
	shown := Avatar{
		ID: a.ID, Kind: string(a.Kind), Name: a.Name, Gender: orNull(a.Gender), AgeBand: orNull(a.AgeBand),
		Heritage: orNull(a.Heritage), Status: a.Status(), PreviewURL: preview, ThumbnailURL: preview + "?size=thumbnail",
		Style: "photo", Orientation: orientation(a), UsedBy: UsedBy(a.Uses), AIDisclosure: aiDisclosure,
		Landmarks: route.OrNull[Landmarks]{Value: showLandmarks(a.Landmarks)}, Metadata: a.Metadata,
		CreatedAt: a.CreatedAt.UTC(), UpdatedAt: a.UpdatedAt.UTC(), DeletedAt: a.DeletedAt,
	}
	if a.Kind == avatar.Builtin {
		shown.Style = "illustrated"
	}
	if shown.Metadata == nil {
		shown.Metadata = map[string]string{}
	}
	if shown.Status == avatar.Withdrawn {
		shown.StatusReason = orNull("consent_withdrawn")
	}
	if k := a.Consent; k != nil {
		shown.Consent.Value = &AvatarConsent{k.ID, k.State, k.PolicyVersion, k.RecordedAt.UTC()}
	}
	return shown
}

func orientation(a avatar.Avatar) string {
	if a.Landscape() {
		return "landscape"
	}
	return "portrait"
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
