package voices

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"visavis.dev/api/consents"
	"visavis.dev/api/route"
	"visavis.dev/api/source"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/store/consent"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
)

const (
	// feature is what a plan must include to clone voices.
	feature = "voice_cloning"
	// maxBody holds the samples and the consent's evidence in base64, and the rest.
	maxBody = (voice.MaxSampleBytes+consents.MaxEvidence)*4/3 + 1<<20
)

// Input is the request for a new voice.
type Input struct{ Body VoiceInput }

// VoiceInput is a voice to be cloned.
type VoiceInput struct {
	Name        string                `json:"name" minLength:"1" maxLength:"80" doc:"What to call the voice, for people."`
	Description string                `json:"description,omitempty" maxLength:"500" doc:"What it sounds like, for people."`
	Gender      string                `json:"gender" enum:"female,male" doc:"What the voice sounds like."`
	Languages   []string              `json:"languages" minItems:"1" maxItems:"50" doc:"By code or name, the one it sounds native in first."`
	Samples     []string              `json:"samples" minItems:"1" maxItems:"5" doc:"Recordings of one person, as data: URIs or public https addresses: WAV, MP3, M4A or WebM, at most 25 MB together."`
	Consent     consents.ConsentInput `json:"consent" doc:"Who agreed to this voice being used, and to what. Without it nothing is fetched or kept."`
}

// before refuses what could not come to be, before the recordings arrive.
func (a *API) before(ctx context.Context, c *route.Call) error {
	if err := a.checkRoom(ctx, c); err != nil {
		return err
	}
	_, err := connection.FirstThatClones(ctx, a.Tenants, c.Org())
	return asConnectionProblem(err)
}

// create checks the consent before it takes the recordings, as for a face.
func (a *API) create(ctx context.Context, c *route.Call, in *Input) (Voice, error) {
	b := &in.Body
	if err := consents.Check(c, b.Consent); err != nil {
		return Voice{}, err
	}
	languages, err := spoken(b.Languages)
	if err != nil {
		return Voice{}, err
	}
	speaks, err := connection.FirstThatClones(ctx, a.Tenants, c.Org())
	if err != nil {
		return Voice{}, asConnectionProblem(err)
	}
	v := voice.Voice{
		ID: id.NewVoice(), Name: b.Name, Description: b.Description, Gender: b.Gender, Languages: languages,
		Connection: speaks.ID, CreatedAt: c.Now(),
	}
	if v.Samples, err = a.takeSamples(ctx, c, b.Samples); err != nil {
		return Voice{}, err
	}
	k, err := consents.Take(ctx, c, a.Files, a.sources(), b.Consent, consents.EvidenceParam)
	if err != nil {
		return Voice{}, err
	}
	k.Kind, k.Voice = consent.Voice, v.ID
	return a.commit(ctx, c, v, k)
}

func (a *API) commit(ctx context.Context, c *route.Call, v voice.Voice, k consent.Consent) (Voice, error) {
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Voice, error) {
		full, err := voice.Create(ctx, tx, v, k, c.Principal.Terms, c.Actor())
		if err != nil {
			return Voice{}, asConnectionProblem(err)
		}
		if full {
			return Voice{}, a.Plans.LimitReached(c.Principal.Terms, plan.ClonedVoices)
		}
		files := v.Samples
		if !k.Evidence.IsZero() {
			files = append(slices.Clip(files), k.Evidence)
		}
		if err := a.Files.Keep(ctx, tx, files...); err != nil {
			return Voice{}, err
		}
		made, err := voice.Find(ctx, tx, v.ID)
		return show(c, made), err
	})
}

// spoken reads the languages, which must be of the engine that clones run on.
func spoken(in []string) ([]string, error) {
	var codes []string
	for i, name := range in {
		param := fmt.Sprintf("body.languages[%d]", i)
		found, ok := language.Lookup(name)
		if !ok {
			return nil, problem.Invalid(param, "%s is not a language of GET /languages.", param)
		}
		if !language.Speaks(voice.CloneEngine, found.Code) {
			return nil, problem.Invalid(param, "Cloned voices run on the engine %s, which does not speak %s.", voice.CloneEngine, found.Name)
		}
		if !slices.Contains(codes, found.Code) {
			codes = append(codes, found.Code)
		}
	}
	return codes, nil
}

// checkRoom refuses early what the plan does not include, or what the commit
// would refuse; of the room only the commit decides.
func (a *API) checkRoom(ctx context.Context, c *route.Call) error {
	if !c.Principal.Terms.Has(feature) {
		return a.Plans.FeatureMissing(c.Principal.Terms, feature)
	}
	limit, limited := c.Principal.Terms.Limit(plan.ClonedVoices)
	if !limited {
		return nil
	}
	used, err := voice.Count(ctx, a.Tenants, c.Org())
	if err == nil && used >= limit {
		return a.Plans.LimitReached(c.Principal.Terms, plan.ClonedVoices)
	}
	return err
}

// asConnectionProblem says what to do where nothing can make a voice.
func asConnectionProblem(err error) error {
	if errdefs.IsAbsent(err, connection.Noun) {
		return problem.Conflicting("no_speech_connection", "A voice is cloned by a speech service of your own, and none that can is "+
			"connected and active. Make a connection of kind speech to the provider elevenlabs, test it, and try again.")
	}
	return err
}

func (a *API) sources() source.Sources { return source.Sources{Egress: a.Egress} }

// takeSamples fetches, checks and stores the recordings.
func (a *API) takeSamples(ctx context.Context, c *route.Call, sources []string) ([]id.File, error) {
	files, room := make([]id.File, len(sources)), voice.MaxSampleBytes
	for i, s := range sources {
		param := fmt.Sprintf("body.samples[%d]", i)
		content, err := a.sources().Open(ctx, param, s, room)
		if p, ok := errors.AsType[*problem.Problem](err); ok && p.Code == problem.TooLarge {
			return nil, problem.New(problem.TooLarge, "The samples are larger than %d MB together.", voice.MaxSampleBytes>>20).WithParam(param)
		}
		if err != nil {
			return nil, err
		}
		room -= int(content.Size)
		contentType, ok := voice.SampleType(content.Head)
		if !ok {
			return nil, problem.New(problem.UnsupportedMediaType, "A sample must be WAV, MP3, M4A or WebM.").WithParam(param)
		}
		sample, err := content.Open()
		if err != nil {
			return nil, err
		}
		if files[i], err = a.Files.PutFrom(ctx, c.Org(), file.Content{
			Type: contentType, Size: content.Size, SHA256: content.SHA256, Data: sample,
		}); err != nil {
			return nil, err
		}
	}
	return files, nil
}
