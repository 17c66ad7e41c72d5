package avatars

import (
	"context"
	"errors"

	"visavis.dev/api/consents"
	"visavis.dev/api/route"
	"visavis.dev/api/source"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/picture"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/store/consent"
	"visavis.dev/pkg/store/tenant"
)

const (
	// maxPicture is the largest picture, 6 MB (Limits, 6).
	maxPicture = 6 << 20
	// maxBody holds it and the consent's evidence in base64, and the rest.
	maxBody = (maxPicture+consents.MaxEvidence)*4/3 + 1<<20
)

// Input is the request for a new face.
type Input struct{ Body AvatarInput }

// AvatarInput is a face to be made (spec, AvatarInput).
type AvatarInput struct {
	Name             string                `json:"name" minLength:"1" maxLength:"80" doc:"What to call the face, for people."`
	Picture          string                `json:"picture" minLength:"1" doc:"A data:image URI or a public https address."`
	Gender           string                `json:"gender,omitempty" enum:"female,male" doc:"What the face looks like; to be found by in lists."`
	AgeBand          string                `json:"ageBand,omitempty" enum:"20s,30s,40s,50s,60s" doc:"About how old the face looks; to be found by in lists."`
	Heritage         string                `json:"heritage,omitempty" enum:"white,black,indian,chinese,korean,japanese,thai,hispanic,middleeastern,mixed" doc:"Where the face looks to be from; to be found by in lists."`
	RemoveBackground *bool                 `json:"removeBackground,omitempty" doc:"Cut the person out of a plain background; true unless given. A picture without one is left as it is."`
	Landmarks        *Landmarks            `json:"landmarks,omitempty" doc:"Where the eyes, mouth and chin are in the picture, by which it is moved: the lips with what is said, the lids, the brows and the head. Unless given they are looked for in the picture."`
	Consent          consents.ConsentInput `json:"consent" doc:"Who agreed to this face being used, and to what. Without it nothing is fetched or kept."`
	Metadata         map[string]string     `json:"metadata,omitempty" doc:"At most 20 keys of at most 40 characters, values of at most 500."`
}

// create checks the consent before it so much as looks at the picture (Avatars, 3).
func (a *API) create(ctx context.Context, c *route.Call, in *Input) (Avatar, error) {
	b := &in.Body
	if err := consents.Check(c, b.Consent); err != nil {
		return Avatar{}, err
	}
	if err := route.CheckMetadata(b.Metadata); err != nil {
		return Avatar{}, err
	}
	face := avatar.Avatar{
		ID: id.NewAvatar(), Kind: avatar.Custom, Name: b.Name, Gender: b.Gender, AgeBand: b.AgeBand, Heritage: b.Heritage,
		Metadata: b.Metadata, CreatedAt: c.Now(), UpdatedAt: c.Now(),
	}
	if face.Metadata == nil {
		face.Metadata = map[string]string{}
	}
	if b.Landmarks != nil {
		if err := b.Landmarks.check(); err != nil {
			return Avatar{}, err
		}
		face.Landmarks = b.Landmarks.inner()
	}
	if err := a.takePicture(ctx, c, &face, b.Picture, b.RemoveBackground == nil || *b.RemoveBackground); err != nil {
		return Avatar{}, err
	}
	k, err := consents.Take(ctx, c, a.Files, a.sources(), b.Consent, consents.EvidenceParam)
	if err != nil {
		return Avatar{}, err
	}
	k.Kind, k.Avatar = consent.Likeness, face.ID
	face.Consent = &avatar.Consent{ID: k.ID, State: k.State, PolicyVersion: k.PolicyVersion, RecordedAt: k.RecordedAt}
	return a.commit(ctx, c, face, k)
}

func (a *API) commit(ctx context.Context, c *route.Call, face avatar.Avatar, k consent.Consent) (Avatar, error) {
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Avatar, error) {
		full, err := avatar.Create(ctx, tx, face, k, c.Principal.Terms, c.Actor())
		if err != nil {
			return Avatar{}, err
		}
		if full {
			return Avatar{}, a.Plans.LimitReached(c.Principal.Terms, plan.CustomAvatars)
		}
		files := []id.File{face.Picture, face.Thumbnail}
		if !k.Evidence.IsZero() {
			files = append(files, k.Evidence)
		}
		if err := a.Files.Keep(ctx, tx, files...); err != nil {
			return Avatar{}, err
		}
		return show(c, face), nil
	})
}

// checkRoom refuses early what the commit would refuse; only the commit decides.
func (a *API) checkRoom(ctx context.Context, c *route.Call) error {
	limit, limited := c.Principal.Terms.Limit(plan.CustomAvatars)
	if !limited {
		return nil
	}
	used, err := avatar.Count(ctx, a.Tenants, c.Org())
	if err == nil && used >= limit {
		return a.Plans.LimitReached(c.Principal.Terms, plan.CustomAvatars)
	}
	return err
}

// takePicture fetches, decodes and stores the picture and its thumbnail.
func (a *API) takePicture(ctx context.Context, c *route.Call, face *avatar.Avatar, source string, cutOut bool) error {
	data, err := a.sources().Get(ctx, "body.picture", source, maxPicture)
	if err != nil {
		return err
	}
	select {
	case a.decoding <- struct{}{}:
		defer func() { <-a.decoding }()
	case <-ctx.Done():
		return ctx.Err()
	}
	p, err := picture.Decode(data)
	if err != nil {
		return asPictureProblem(err)
	}
	if cutOut {
		p.CutOut()
	}
	face.Mark(p.Image)
	face.Width, face.Height = p.Image.Bounds().Dx(), p.Image.Bounds().Dy()
	if face.Picture, err = a.store(ctx, c, p); err != nil {
		return err
	}
	face.Thumbnail, err = a.store(ctx, c, p.Thumbnail())
	return err
}

func (a *API) sources() source.Sources { return source.Sources{Egress: a.Egress} }

func (a *API) store(ctx context.Context, c *route.Call, p *picture.Portrait) (id.File, error) {
	contentType, data, err := p.Encode()
	if err != nil {
		return id.File{}, err
	}
	return a.Files.Put(ctx, c.Org(), contentType, data)
}

func asPictureProblem(err error) error {
	const param = "body.picture"
	switch {
	case errors.Is(err, picture.ErrUnsupported):
		return problem.New(problem.UnsupportedMediaType, "The picture must be PNG, JPEG or WebP.").WithParam(param)
	case errors.Is(err, picture.ErrTooSmall):
		return problem.Invalid(param, "The picture must be at least %d by %d pixels.", picture.MinSide, picture.MinSide).
			WithDetail("reason", "too_small")
	case errors.Is(err, picture.ErrTooManyPixels):
		return problem.New(problem.TooLarge, "The picture has too many pixels.").WithParam(param)
	case errors.Is(err, picture.ErrBroken):
		return problem.Invalid(param, "The picture cannot be decoded.").WithDetail("reason", "broken").WithCause(err)
	}
	return err
}
