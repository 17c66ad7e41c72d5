// Package voices declares the operations on voices (spec, Voices).
package voices

import (
	"context"
	_ "embed"
	"net/http"
	"time"

	"visavis.dev/api/consents"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/speech/speaker"
	"visavis.dev/pkg/store/consent"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
)

// examples are bodies of requests, by operation.
//
//go:embed examples.json
var examples []byte

// API is what the operations work with.
type API struct {
	Tenants *tenant.Tenants
	Files   *file.Store
	Egress  *egress.Guard
	Plans   *plan.Catalogue
	// Speaker says things aloud; nil where nothing does.
	Speaker speaker.Speaker
	// Connected is what speaks with a voice of an organization, where that may be a service of
	// its own: builtin where it has none. nil is the same as builtin for all.
	Connected Connected

	// speaking holds a token for each request that what is built in speaks for, and asking
	// counts those that wait for services.
	speaking  chan struct{}
	asking    *asking
	greetings *greetings
}

// Connected is what speaks with a voice of an organization.
type Connected func(ctx context.Context, org id.Org, v voice.Voice, builtin speaker.Speaker) (speaker.Speaker, error)

const group = "Voices"

// Register declares the operations. The policy comes before a voice, whose path
// it would be too.
func (a *API) Register(s *route.Service) {
	s.Examples(examples)
	a.speaking, a.asking, a.greetings = make(chan struct{}, atOnce), &asking{}, newGreetings(greetingsBytes)
	route.List(s, route.Operation{
		ID: "listVoices", Method: http.MethodGet, Path: "/voices", Group: group, Class: "read", Scope: scope.VoicesRead,
		Summary: "Studio voices first, then the organization's clones, oldest first",
	}, a.list)
	route.Handle(s, route.Operation{
		ID: "createVoice", Method: http.MethodPost, Path: "/voices", Group: group, Class: "heavy", Scope: scope.VoicesWrite,
		Since: contract.V20261001, Status: http.StatusAccepted, Idempotent: true, MaxBody: maxBody,
		Before: a.before, Detach: []string{"samples[]", "consent.evidence"},
		Errors:     []problem.Code{problem.Conflict, problem.ConsentOutdated, problem.UpstreamError, problem.UpstreamTimeout},
		InputCodes: consents.InputCodes,
		Summary:    "Clone a voice from recordings, with consent",
		Description: "The voice is made by the organization's own connected speech service: an active connection that can clone. " +
			"It is training until the event voice.clone.completed.",
	}, a.create)
	route.Handle(s, route.Operation{
		ID: "getVoiceConsentPolicy", Method: http.MethodGet, Path: "/voices/consent-policy", Group: group, Class: "read",
		Since: contract.V20261001, Summary: "What can be declared about a voice, and the version to name",
	}, consents.Policy(consent.Voice))
	route.Handle(s, route.Operation{
		ID: "getVoice", Method: http.MethodGet, Path: "/voices/{id}", Group: group, Class: "read", Scope: scope.VoicesRead,
		Since: contract.V20261001, Errors: []problem.Code{problem.Gone}, Summary: "One voice",
	}, a.get)
	route.Handle(s, route.Operation{
		ID: "updateVoice", Method: http.MethodPatch, Path: "/voices/{id}", Group: group, Class: "write", Scope: scope.VoicesWrite,
		Since: contract.V20261001, Errors: []problem.Code{problem.Gone, problem.Conflict},
		Summary: "Rename a voice, describe it, or say how it pronounces words",
	}, a.update)
	route.Handle(s, route.Operation{
		ID: "deleteVoice", Method: http.MethodDelete, Path: "/voices/{id}", Group: group, Class: "write", Scope: scope.VoicesWrite,
		Since: contract.V20261001, Errors: []problem.Code{problem.Gone, problem.Conflict},
		Summary: "Delete a voice that nobody uses, here and at the service that speaks it",
	}, a.delete)
	route.File(s, route.Operation{
		ID: "getVoicePreview", Method: http.MethodGet, Path: "/voices/{id}/preview", Group: group, Auth: route.MayHaveKey,
		Scope: scope.VoicesRead, Since: contract.V20261001, Produces: []string{asWAV}, Errors: []problem.Code{problem.Conflict, problem.UpstreamError},
		Summary: "Hear a voice; a studio voice's greeting is public",
	}, a.preview)
	route.HandleOrFile(s, route.Operation{
		ID: "speakVoice", Method: http.MethodPost, Path: "/voices/{id}/speak", Group: group, Class: "heavy", Scope: scope.VoicesRead,
		Since: contract.V20261001, Produces: []string{asWAV}, Errors: []problem.Code{problem.Gone, problem.Conflict, problem.UpstreamError},
		Summary: "Have a voice say a text: its sound, the mouth's shapes and the times of the words",
		Description: "With Accept: audio/wav the answer is the sound alone. The text is one of at most 2,000 characters, and nothing of it is kept. " +
			"Where nothing here speaks the answer is 503 capacity with the reason no_speech_engine, and 409 conflict with the reason " +
			"language_not_spoken where nothing speaks this language. A voice that a speech connection speaks for is heard from there, and " +
			"from what is built in where the service fails; with the connection's fallback fail that is 502 upstream_error instead.",
	}, a.speak)
}

// Voice is one voice.
type Voice struct {
	ID              id.Voice             `json:"id" doc:"Id of the voice, with the prefix vo_."`
	Kind            voice.Kind           `json:"kind" enum:"builtin,custom" doc:"builtin for a studio voice, custom for a clone of your own."`
	Name            string               `json:"name" doc:"What the voice is called, for people."`
	Gender          string               `json:"gender" enum:"female,male" doc:"What the voice sounds like."`
	Engine          string               `json:"engine" enum:"premier,global" doc:"The engine a persona with this voice runs on."`
	Languages       []string             `json:"languages" doc:"The languages that it speaks, by code."`
	PrimaryLanguage string               `json:"primaryLanguage" doc:"The language that it is best at, as a code."`
	Accent          *string              `json:"accent" doc:"The accent that it has in its first language; null for none to speak of."`
	Style           *string              `json:"style" doc:"Its manner, such as warm or lively; null for none to speak of."`
	Description     string               `json:"description" doc:"What it sounds like, for people."`
	PreviewURL      *string              `json:"previewUrl" format:"uri" doc:"Where the voice can be heard, as audio/wav; null unless it is ready. A studio voice's needs no key."`
	Status          voice.Status         `json:"status" enum:"ready,training,failed,withdrawn" doc:"withdrawn: its consent was, and it starts no new sessions."`
	StatusReason    *string              `json:"statusReason" doc:"Why the voice failed or was withdrawn, for people; null while all is well."`
	Provider        string               `json:"provider" enum:"builtin,connection" doc:"What speaks: what is built in, or a service of your own that is connected."`
	ConnectionID    *id.Connection       `json:"connectionId" nullable:"true" doc:"The connection that speaks it."`
	Pronunciations  []VoicePronunciation `json:"pronunciations" doc:"How it says particular words."`
	Speed           Speed                `json:"speed" doc:"How slow and how fast it may speak."`
	UsedBy          VoiceUses            `json:"usedBy" doc:"How many personas and duos speak with it."`
	ConsentID       *id.Consent          `json:"consentId" nullable:"true" doc:"What a clone rests on; null for studio voices."`
	CreatedAt       time.Time            `json:"createdAt" doc:"When the voice was made, in UTC."`
	UpdatedAt       time.Time            `json:"updatedAt" doc:"When it was last changed, in UTC."`
}

// Speed is how fast a voice may speak; 1 is its natural pace.
type Speed struct {
	Min     float64 `json:"min" doc:"The slowest that it speaks."`
	Max     float64 `json:"max" doc:"The fastest that it speaks."`
	Default float64 `json:"default" doc:"The pace that it has unless another is asked for."`
}

// VoiceUses counts who speaks with a voice.
type VoiceUses struct {
	Personas int64 `json:"personas" doc:"How many personas speak with it."`
	Duos     int64 `json:"duos" doc:"How many duos have a host who speaks with it."`
}

// VoicePronunciation says how to say something.
type VoicePronunciation struct {
	Text     string `json:"text" minLength:"1" maxLength:"100" doc:"What is written, to be said in another way."`
	Say      string `json:"say" minLength:"1" maxLength:"200" doc:"How to say it, spelled as it sounds."`
	Language string `json:"language" minLength:"1" maxLength:"100" doc:"By code or name; kept as a code."`
}

func show(c *route.Call, v voice.Voice) Voice {
	shown := Voice{
		ID: v.ID, Kind: v.Kind, Name: v.Name, Gender: v.Gender, Engine: v.Engine, Languages: v.Languages,
		PrimaryLanguage: v.PrimaryLanguage, Accent: orNull(v.Accent), Style: orNull(v.Style), Description: v.Description,
		Status: v.Status(), Provider: "builtin", Pronunciations: make([]VoicePronunciation, len(v.Pronunciations)),
		Speed: Speed{v.SpeedMin, v.SpeedMax, v.SpeedDefault}, UsedBy: VoiceUses(v.Uses), CreatedAt: v.CreatedAt.UTC(), UpdatedAt: v.UpdatedAt.UTC(),
	}
	for i, p := range v.Pronunciations {
		shown.Pronunciations[i] = VoicePronunciation(p)
	}
	if v.Kind == voice.Custom {
		shown.Provider, shown.ConnectionID, shown.ConsentID = "connection", &v.Connection, &v.Consent.ID
	}
	if shown.Status == voice.Ready {
		shown.PreviewURL = new(c.URL("/voices/" + v.ID.String() + "/preview"))
	}
	switch shown.Status {
	case voice.Failed:
		shown.StatusReason = orNull(v.Reason)
	case voice.Withdrawn:
		shown.StatusReason = orNull("consent_withdrawn")
	}
	return shown
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Query filters and pages the voices.
type Query struct {
	route.Paging
	Kind   string `query:"kind" enum:"builtin,custom" doc:"Only studio voices, or only your clones."`
	Gender string `query:"gender" enum:"female,male" doc:"Only voices that sound so."`
}

func (a *API) list(ctx context.Context, c *route.Call, q *Query) (route.Page[Voice], error) {
	after, err := route.After[voice.Position](c, q.Paging)
	if err != nil {
		return route.Page[Voice]{}, err
	}
	found, err := voice.List(ctx, a.Tenants, c.Org(), voice.Filter{Kind: voice.Kind(q.Kind), Gender: q.Gender}, after, q.Limit+1)
	if err != nil {
		return route.Page[Voice]{}, err
	}
	page, err := route.Paged(c, q.Paging, found, voice.PositionOf)
	return route.Map(page, func(v voice.Voice) Voice { return show(c, v) }), err
}

// Path names a voice.
type Path struct {
	ID string `path:"id" doc:"The voice's id, with or without vo_."`
}

func (p Path) voice() (id.Voice, error) { return route.Lookup(id.ParseVoice, p.ID, "voice") }

func (a *API) get(ctx context.Context, c *route.Call, p *Path) (Voice, error) {
	which, err := p.voice()
	if err != nil {
		return Voice{}, err
	}
	found, err := voice.Get(ctx, a.Tenants, c.Org(), which)
	return show(c, found), err
}
