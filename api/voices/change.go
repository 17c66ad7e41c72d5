package voices

import (
	"context"
	"fmt"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/store/tenant"
)

// UpdateInput is the request for a change of a voice.
type UpdateInput struct {
	Path
	Body VoiceChange
}

// VoiceChange is what to change of a voice.
type VoiceChange struct {
	Name           route.Opt[string]               `json:"name,omitzero" minLength:"1" maxLength:"80" doc:"A new name, for people."`
	Description    route.Opt[string]               `json:"description,omitzero" maxLength:"500" doc:"What it sounds like, for people."`
	Pronunciations route.Opt[[]VoicePronunciation] `json:"pronunciations,omitzero" maxItems:"500" doc:"Replaces the old ones."`
}

func (a *API) update(ctx context.Context, c *route.Call, in *UpdateInput) (Voice, error) {
	which, err := in.voice()
	if err != nil {
		return Voice{}, err
	}
	said, err := pronunciations(in.Body.Pronunciations.Value)
	if err != nil {
		return Voice{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Voice, error) {
		changed, err := voice.Change(ctx, tx, which, func(v *voice.Voice) {
			if in.Body.Name.Set {
				v.Name = in.Body.Name.Value
			}
			if in.Body.Description.Set {
				v.Description = in.Body.Description.Value
			}
			if in.Body.Pronunciations.Set {
				v.Pronunciations = said
			}
		}, c.Actor())
		return show(c, changed), err
	})
}

// pronunciations reads the languages by code or name.
func pronunciations(in []VoicePronunciation) ([]voice.Pronunciation, error) {
	said := make([]voice.Pronunciation, len(in))
	for i, p := range in {
		spoken, ok := language.Lookup(p.Language)
		if !ok {
			param := fmt.Sprintf("body.pronunciations[%d].language", i)
			return nil, problem.Invalid(param, "%s is not a language of GET /languages.", param)
		}
		said[i] = voice.Pronunciation{Text: p.Text, Say: p.Say, Language: spoken.Code}
	}
	return said, nil
}

func (a *API) delete(ctx context.Context, c *route.Call, p *Path) (route.Deleted, error) {
	which, err := p.voice()
	if err != nil {
		return route.Deleted{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (route.Deleted, error) {
		v, err := voice.Delete(ctx, tx, which, c.Actor())
		if err != nil {
			return route.Deleted{}, err
		}
		return route.Deleted{Deleted: true, ID: which.String()}, a.Files.Discard(ctx, tx, v.Samples...)
	})
}
