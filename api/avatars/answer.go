package avatars

import (
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/avatar/portrait"
)

// Avatar is one face (spec, Other resources).
type Avatar struct {
	ID              id.Avatar                   `json:"id" doc:"Id of the avatar, with the prefix av_."`
	Kind            string                      `json:"kind" enum:"builtin,custom" doc:"builtin for a face of the library, custom for one of your organization's own."`
	Name            string                      `json:"name" doc:"What the face is called, for people."`
	Gender          *string                     `json:"gender" enum:"female,male" nullable:"true" doc:"What the face looks like; null where nobody has said."`
	AgeBand         *string                     `json:"ageBand" enum:"20s,30s,40s,50s,60s" nullable:"true" doc:"About how old the face looks; null where nobody has said."`
	Heritage        *string                     `json:"heritage" enum:"white,black,indian,chinese,korean,japanese,thai,hispanic,middleeastern,mixed" nullable:"true" doc:"Where the face looks to be from; null where nobody has said."`
	Status          string                      `json:"status" enum:"ready,withdrawn" doc:"withdrawn: its consent was, and it starts no new sessions."`
	StatusReason    *string                     `json:"statusReason" doc:"Why the face failed or was withdrawn, for people; null while all is well."`
	PreviewURL      string                      `json:"previewUrl" format:"uri" doc:"Where the picture is. A library face needs no key there; your own does."`
	ThumbnailURL    string                      `json:"thumbnailUrl" format:"uri" doc:"Where a small form of the picture is, with the same rights as the picture."`
	Style           string                      `json:"style" enum:"photo,illustrated" doc:"photo for a photograph of a person, illustrated for a drawing."`
	Orientation     string                      `json:"orientation" enum:"portrait,landscape" doc:"Which side of the picture is the longer one."`
	UsedBy          UsedBy                      `json:"usedBy" doc:"How many personas and duos wear the face."`
	Consent         route.OrNull[AvatarConsent] `json:"consent" doc:"What a custom face rests on; null for library faces."`
	AIDisclosure    string                      `json:"aiDisclosure" doc:"What to tell people who meet the face."`
	Landmarks       route.OrNull[Landmarks]     `json:"landmarks" doc:"Where the eyes, mouth and chin are in the picture; null where no face was found, and the face is shown as a still picture."`
	LandmarksSource *string                     `json:"landmarksSource" enum:"given,found,estimated" nullable:"true" doc:"given by whoever made or changed the face; found in the picture (the chin is worked out from the rest); or estimated from where the face is, since its eyes or its mouth were not found. null without landmarks."`
	Metadata        map[string]string           `json:"metadata" doc:"Your own notes on it: at most 20 keys of 40 characters, with values of 500."`
	CreatedAt       time.Time                   `json:"createdAt" doc:"When the face was added, in UTC; of a library face, when it was released."`
	UpdatedAt       time.Time                   `json:"updatedAt" doc:"When it was last changed, in UTC."`
	DeletedAt       *time.Time                  `json:"deletedAt" doc:"When it was deleted, in UTC; null while it is there."`
}

// UsedBy counts who wears the face.
type UsedBy struct {
	Personas int64 `json:"personas" doc:"How many personas wear it."`
	Duos     int64 `json:"duos" doc:"How many duos have a host with the face."`
}

// AvatarConsent is what the face's consent amounts to.
type AvatarConsent struct {
	ID            id.Consent `json:"id" doc:"Id of the consent, with the prefix cons_."`
	State         string     `json:"state" enum:"given,withdrawn" doc:"given, or withdrawn: then the face starts no new sessions."`
	PolicyVersion string     `json:"policyVersion" doc:"The version of the policy that was agreed to, a date: 2026-07-01."`
	RecordedAt    time.Time  `json:"recordedAt" doc:"When the consent was put on record, in UTC."`
}

// Landmarks are points of the face as fractions of the picture's width and
// height, from its upper left corner, left and right as seen in the picture.
type Landmarks struct {
	LeftEye     Point `json:"leftEye" doc:"The middle of the eye on the picture's left."`
	RightEye    Point `json:"rightEye" doc:"The middle of the eye on the picture's right."`
	MouthLeft   Point `json:"mouthLeft" doc:"The corner of the mouth on the picture's left."`
	MouthRight  Point `json:"mouthRight" doc:"The corner of the mouth on the picture's right."`
	MouthTop    Point `json:"mouthTop" doc:"The upper edge of the upper lip, in the middle."`
	MouthBottom Point `json:"mouthBottom" doc:"The lower edge of the lower lip, in the middle."`
	Chin        Point `json:"chin" doc:"The lowest point of the chin."`
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

// sourceOf is where a face's landmarks are from; nil without any.
func sourceOf(a avatar.Avatar) *string {
	if a.Landmarks == nil {
		return nil
	}
	return orNull(string(a.Marked))
}

const aiDisclosure = "This is a computer-generated avatar, not a person."

func show(c *route.Call, a avatar.Avatar) Avatar {
	preview := c.URL("/avatars/" + a.ID.String() + "/preview")
	shown := Avatar{
		ID: a.ID, Kind: string(a.Kind), Name: a.Name, Gender: orNull(a.Gender), AgeBand: orNull(a.AgeBand),
		Heritage: orNull(a.Heritage), Status: a.Status(), PreviewURL: preview, ThumbnailURL: preview + "?size=thumbnail",
		Style: "photo", Orientation: orientation(a), UsedBy: UsedBy(a.Uses), AIDisclosure: aiDisclosure,
		Landmarks: route.OrNull[Landmarks]{Value: showLandmarks(a.Landmarks)}, LandmarksSource: sourceOf(a), Metadata: a.Metadata,
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
