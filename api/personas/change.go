package personas

import (
	"context"
	"strings"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/patch"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/sessions/rehearsal"
	"visavis.dev/pkg/store/tenant"
)

func (a *API) create(ctx context.Context, c *route.Call, in *Input) (Persona, error) {
	p := persona.Persona{ID: id.NewPersona(), Name: in.Body.Name, Kind: persona.Standard}
	var err error
	if p.Avatar, err = parseAvatar(in.Body.AvatarID); err != nil {
		return Persona{}, err
	}
	if p.Voice, err = parseVoice(in.Body.VoiceID); err != nil {
		return Persona{}, err
	}
	return a.insert(ctx, c, p, persona.Insert, func(ctx context.Context, tx *tenant.Tx, draft *persona.Persona) error {
		v, err := voice.Find(ctx, tx, draft.Voice)
		if err != nil {
			return err
		}
		draft.Definition = persona.Defaults(v)
		if err := patch.Merge(&draft.Definition, c.Body()); err != nil {
			return err
		}
		if v, err = voiceOfTier(c, v, draft.Definition.Settings); err != nil || v.ID == draft.Voice {
			return err
		}
		draft.Voice, draft.Definition = v.ID, persona.Defaults(v)
		return patch.Merge(&draft.Definition, c.Body())
	})
}

// insert enters a persona by a rule, with the definition that it is given there.
func (a *API) insert(
	ctx context.Context, c *route.Call, p persona.Persona,
	rule func(context.Context, *tenant.Tx, *avatar.Library, persona.Persona, persona.Author) (persona.Persona, error),
	define func(context.Context, *tenant.Tx, *persona.Persona) error,
) (Persona, error) {
	made, err := route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Persona, error) {
		draft := p
		if err := define(ctx, tx, &draft); err != nil {
			return Persona{}, asProblem(err)
		}
		made, err := rule(ctx, tx, a.Library, draft, c.Actor())
		return show(c, made), asProblem(err)
	})
	return versioned(c, made, err)
}

// versioned gives the answer that was committed its ETag.
func versioned(c *route.Call, p Persona, err error) (Persona, error) {
	if err == nil {
		c.SetVersion(p.Version)
	}
	return p, err
}

func (a *API) update(ctx context.Context, c *route.Call, in *UpdateInput) (Persona, error) {
	wanted, err := in.persona()
	if err != nil {
		return Persona{}, err
	}
	return a.change(ctx, c, wanted, func(ctx context.Context, tx *tenant.Tx, before persona.Persona) (persona.Persona, []string, error) {
		if err := in.Check(before.Version, in.Body.BaseVersion.Ptr()); err != nil {
			return before, nil, err
		}
		after, err := in.merge(ctx, c, tx, before)
		if err != nil {
			return before, nil, err
		}
		if in.Body.AvatarID.Set && after.Obstacle == persona.FaceFailed {
			if err := persona.Retry(ctx, tx, a.Library, after, c.Actor()); err != nil {
				return before, nil, err
			}
		}
		return persona.Update(ctx, tx, a.Library, before, after, c.Actor())
	})
}

// merge is a persona with what was sent of it.
func (in *UpdateInput) merge(ctx context.Context, c *route.Call, tx *tenant.Tx, p persona.Persona) (persona.Persona, error) {
	if err := in.choose(&p); err != nil {
		return p, err
	}
	if in.Body.Name.Set {
		p.Name = in.Body.Name.Value
	}
	v, err := voice.Find(ctx, tx, p.Voice)
	if err != nil {
		return p, err
	}
	if err := patch.Merge(&p.Definition, c.Body()); err != nil {
		return p, err
	}
	if v, err = voiceOfTier(c, v, p.Definition.Settings); err != nil {
		return p, err
	}
	if v.ID != p.Voice && p.Kind == persona.OfDuo {
		return p, duoStudio()
	}
	p.Voice = v.ID
	return p, nil
}

// choose takes the face and the voice over that are sent.
func (in *UpdateInput) choose(p *persona.Persona) (err error) {
	if p.Kind == persona.OfDuo && (in.Body.AvatarID.Set || in.Body.VoiceID.Set) {
		return duoStudio()
	}
	if in.Body.AvatarID.Set {
		if p.Avatar, err = parseAvatar(in.Body.AvatarID.Value); err != nil {
			return err
		}
	}
	if in.Body.VoiceID.Set {
		p.Voice, err = parseVoice(in.Body.VoiceID.Value)
	}
	return err
}

// change changes a persona by a rule, which answers the names of what changed.
func (a *API) change(
	ctx context.Context, c *route.Call, which id.Persona,
	rule func(context.Context, *tenant.Tx, persona.Persona) (persona.Persona, []string, error),
) (Persona, error) {
	now, err := route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Persona, error) {
		before, err := persona.Lock(ctx, tx, which)
		if err != nil {
			return Persona{}, err
		}
		now, changed, err := rule(ctx, tx, before)
		if err == nil && len(changed) == 0 {
			now, err = persona.Find(ctx, tx, which) // its face may be under way again
		}
		return show(c, now), asProblem(err)
	})
	return versioned(c, now, err)
}

func (a *API) delete(ctx context.Context, c *route.Call, p *Path) (route.Deleted, error) {
	wanted, err := p.persona()
	if err != nil {
		return route.Deleted{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (route.Deleted, error) {
		_, err := persona.Delete(ctx, tx, wanted, id.Duo{}, c.Actor())
		return route.Deleted{Deleted: true, ID: wanted.String()}, err
	})
}

// DuplicateInput is the request for another persona like one.
type DuplicateInput struct {
	Path
	Body *PersonaCopy
}

// PersonaCopy says how the copy differs.
type PersonaCopy struct {
	Name string `json:"name,omitempty" minLength:"1" maxLength:"80" doc:"The name of the one copied, with (copy) after it, unless given."`
}

func (a *API) duplicate(ctx context.Context, c *route.Call, in *DuplicateInput) (Persona, error) {
	wanted, err := in.persona()
	if err != nil {
		return Persona{}, err
	}
	original, err := persona.Get(ctx, a.Tenants, c.Org(), wanted)
	if err == nil && original.Kind == persona.OfDuo {
		err = duoStudio()
	}
	if err != nil {
		return Persona{}, err
	}
	p := persona.Persona{ID: id.NewPersona(), Name: copied(original.Name), Kind: persona.Standard, Avatar: original.Avatar, Voice: original.Voice}
	if in.Body != nil && in.Body.Name != "" {
		p.Name = in.Body.Name
	}
	return a.insert(ctx, c, p, persona.Duplicate, func(ctx context.Context, tx *tenant.Tx, draft *persona.Persona) error {
		draft.Definition = original.Definition
		return rehearsal.Copy(ctx, tx, wanted, p.ID, c.Now())
	})
}

// copied is the name of a copy, within the bounds of a name.
func copied(name string) string {
	const suffix, most = " (copy)", 80
	runes := []rune(name)
	return strings.TrimSpace(string(runes[:min(len(runes), most-len(suffix))])) + suffix
}

// RestoreInput is the request for an earlier version.
type RestoreInput struct {
	Path
	route.Edition
	Body Restoration
}

// Restoration names a version.
type Restoration struct {
	Version int64 `json:"version" minimum:"1" doc:"The version to go back to, which becomes the newest."`
}

func (a *API) restore(ctx context.Context, c *route.Call, in *RestoreInput) (Persona, error) {
	wanted, err := in.persona()
	if err != nil {
		return Persona{}, err
	}
	p, err := a.change(ctx, c, wanted, func(ctx context.Context, tx *tenant.Tx, p persona.Persona) (persona.Persona, []string, error) {
		if err := in.Check(p.Version, nil); err != nil {
			return p, nil, err
		}
		return persona.Restore(ctx, tx, a.Library, p, in.Body.Version, c.Actor())
	})
	return p, notRestorable(c, err, in.Body.Version)
}

// notRestorable: what an old version names can be gone. That is nothing the
// caller sent.
func notRestorable(c *route.Call, err error, version int64) error {
	if err == nil {
		return nil
	}
	p := c.Problem(err)
	if p.Code != problem.InvalidRequest || p.Param == "body.version" || strings.HasPrefix(p.Param, "header.") {
		return err
	}
	return problem.Conflicting("not_restorable", "Version %d cannot be restored: %s", version, p.Message).WithParam("body.version")
}
