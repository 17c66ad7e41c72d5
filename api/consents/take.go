package consents

import (
	"context"
	"net/http"
	"slices"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/api/source"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/store/consent"
	"visavis.dev/pkg/store/file"
)

// MaxEvidence is the largest piece of evidence, 6 MB.
const MaxEvidence = 6 << 20

// ConsentInput is the consent that a face or a voice rests on.
type ConsentInput struct {
	Statement     string    `json:"statement" enum:"own_likeness,permission_of_person,rights_holder,synthetic" doc:"What you declare: your own likeness, that the person agreed, that you hold the rights, or that nobody real is shown."`
	PolicyVersion string    `json:"policyVersion" minLength:"1" maxLength:"40" doc:"As the consent policy says."`
	PersonName    string    `json:"personName" minLength:"1" maxLength:"200" doc:"The full name of the person whose face or voice it is."`
	PersonEmail   *string   `json:"personEmail,omitempty" format:"email" maxLength:"320" doc:"How to reach the person whose face or voice it is."`
	SignedAt      time.Time `json:"signedAt" doc:"When the person agreed; not in the future."`
	Evidence      *string   `json:"evidence,omitempty" minLength:"1" doc:"A data: URI or a public https address of a PDF or a picture, at most 6 MB."`
}

// EvidenceParam is where the evidence of a face's or a voice's consent stands.
const EvidenceParam = "body.consent.evidence"

// InputCodes give the field its codes (spec, Errors).
var InputCodes = []route.InputCode{
	{Param: "body.consent", Missing: problem.ConsentRequired, Invalid: problem.ConsentInvalid},
}

// Check refuses a consent that is not to the current policy, or not signed at a
// moment that can be. It comes before anything that what it allows needs
// (Avatars, 3).
func Check(c *route.Call, k ConsentInput) error {
	if k.PolicyVersion != consent.PolicyVersion {
		return problem.New(problem.ConsentOutdated, "The consent policy is now version %s.", consent.PolicyVersion).
			WithParam("body.consent.policyVersion").WithDetail("currentPolicyVersion", consent.PolicyVersion)
	}
	// A little of the future is a clock that runs fast.
	if k.SignedAt.After(c.Now().Add(5 * time.Minute)) {
		return problem.New(problem.ConsentInvalid, "signedAt lies in the future.").WithParam("body.consent.signedAt")
	}
	if route.CheckTime("body.consent.signedAt", k.SignedAt) != nil {
		return problem.New(problem.ConsentInvalid, "signedAt lies too far in the past.").WithParam("body.consent.signedAt")
	}
	return nil
}

// Take makes the record, with its evidence stored, which the body gives at param.
// Its kind and what it is about are the caller's to say.
func Take(ctx context.Context, c *route.Call, files *file.Store, sources source.Sources, in ConsentInput, param string) (consent.Consent, error) {
	k := consent.Consent{
		ID: id.NewConsent(), State: consent.Given, Statement: in.Statement, PolicyVersion: in.PolicyVersion,
		PersonName: in.PersonName, PersonEmail: in.PersonEmail, SignedAt: in.SignedAt.UTC(),
		RecordedAt: c.Now(), RecordedBy: c.Principal.Key.ID.String(),
	}
	if in.Evidence == nil {
		return k, nil
	}
	data, err := sources.Get(ctx, param, *in.Evidence, MaxEvidence)
	if err != nil {
		return k, err
	}
	contentType := http.DetectContentType(data)
	if !slices.Contains(EvidenceTypes, contentType) {
		return k, problem.New(problem.UnsupportedMediaType, "The evidence must be a PDF or a PNG, JPEG or WebP picture.").WithParam(param)
	}
	k.Evidence, err = files.Put(ctx, c.Org(), contentType, data)
	return k, err
}
