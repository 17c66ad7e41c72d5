package persona

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/face"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// Author is who changes a persona, and when.
type Author = activity.Actor

// Insert enters a persona as its first version. Its definition is normalized with
// its voice here. The errors are those of Normalize, avatar.Wear and voice.Find,
// and an errdefs.Invalid for what it names and is not there.
func Insert(ctx context.Context, tx *tenant.Tx, l *avatar.Library, p Persona, who Author) (Persona, error) {
	return insert(ctx, tx, l, p, "persona.created", who)
}

// Duplicate enters a persona that is a copy of another, as Insert does.
func Duplicate(ctx context.Context, tx *tenant.Tx, l *avatar.Library, p Persona, who Author) (Persona, error) {
	return insert(ctx, tx, l, p, "persona.duplicated", who)
}

func insert(ctx context.Context, tx *tenant.Tx, l *avatar.Library, p Persona, action string, who Author) (Persona, error) {
	p.Version, p.CreatedAt, p.UpdatedAt = 1, who.At, who.At
	if err := p.prepare(ctx, tx); err != nil {
		return p, err
	}
	if err := p.wear(ctx, tx, l, id.Avatar{}, who); err != nil {
		return p, err
	}
	tx.Touch("persona", p.ID)
	if _, err := tx.Exec(ctx, `
		INSERT INTO persona (org_id, id, name, kind, avatar_id, voice_id, partner_avatar_id, duo_id, definition, version, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11)`,
		tx.Org, p.ID, p.Name, p.Kind, p.Avatar, p.Voice, p.Partner, p.DuoID, p.Definition, p.Version, p.CreatedAt); err != nil {
		return p, err
	}
	if err := p.record(ctx, tx, who); err != nil {
		return p, err
	}
	if err := p.use(ctx, tx, nil); err != nil {
		return p, err
	}
	who.Log(tx, action, "persona", p.ID, map[string]any{"name": p.Name, "avatarId": p.Avatar, "voiceId": p.Voice})
	return Find(ctx, tx, p.ID)
}

// Update makes of a persona that Lock found what after says: its name, face,
// voice and definition, which is normalized here. A change of nothing makes no
// version. It answers the names of what changed; the errors are those of Insert.
func Update(ctx context.Context, tx *tenant.Tx, l *avatar.Library, before, after Persona, who Author) (Persona, []string, error) {
	return update(ctx, tx, l, before, after, "persona.updated", who)
}

// Restore makes of a persona that Lock found what an earlier version was; a duo's persona
// keeps its faces and its voice. The errors are those of Update and FindVersion.
func Restore(ctx context.Context, tx *tenant.Tx, l *avatar.Library, p Persona, version int64, who Author) (Persona, []string, error) {
	v, err := FindVersion(ctx, tx, p.ID, version)
	if err != nil {
		return p, nil, err
	}
	after := p
	after.Name, after.Definition = v.Name, v.Definition
	if p.Kind == Standard {
		after.Avatar, after.Voice = v.Avatar, v.Voice
	}
	return update(ctx, tx, l, p, after, "persona.restored", who)
}

func update(ctx context.Context, tx *tenant.Tx, l *avatar.Library, before, after Persona, action string, who Author) (Persona, []string, error) {
	if err := after.prepare(ctx, tx); err != nil {
		return before, nil, err
	}
	changed := differences(before, after)
	if len(changed) == 0 {
		return before, nil, nil
	}
	if err := after.wear(ctx, tx, l, before.Avatar, who); err != nil {
		return before, nil, err
	}
	after.Version, after.UpdatedAt = before.Version+1, who.At
	tx.Touch("persona", after.ID)
	if _, err := tx.Exec(ctx, `
		UPDATE persona SET name = $3, avatar_id = $4, voice_id = $5, partner_avatar_id = $6, definition = $7, version = $8, updated_at = $9
		WHERE org_id = $1 AND id = $2`,
		tx.Org, after.ID, after.Name, after.Avatar, after.Voice, after.Partner, after.Definition, after.Version, after.UpdatedAt); err != nil {
		return before, nil, err
	}
	if err := after.record(ctx, tx, who); err != nil {
		return before, nil, err
	}
	if err := after.use(ctx, tx, before.Definition.Knowledge.BaseIDs); err != nil {
		return before, nil, err
	}
	who.Log(tx, action, "persona", after.ID, map[string]any{"version": after.Version, "changed": changed})
	now, err := Find(ctx, tx, after.ID)
	return now, changed, err
}

// Retry prepares the face of a persona again if that failed.
func Retry(ctx context.Context, tx *tenant.Tx, l *avatar.Library, p Persona, who Author) error {
	a, err := avatar.Find(ctx, tx, l, p.Avatar)
	if err != nil {
		return err
	}
	return face.Prepare(ctx, tx, a, who.By, who.At)
}

// prepare normalizes the definition with the voice and checks what it names.
func (p *Persona) prepare(ctx context.Context, tx *tenant.Tx) error {
	v, err := voice.Find(ctx, tx, p.Voice)
	if err != nil {
		return err
	}
	if p.Definition, err = p.Definition.Normalize(v); err != nil {
		return err
	}
	return p.Definition.checkReferences(ctx, tx)
}

// wear puts the persona's face on instead of another. The faces of a duo's
// persona are the duo's business.
func (p *Persona) wear(ctx context.Context, tx *tenant.Tx, l *avatar.Library, instead id.Avatar, who Author) error {
	if p.Kind == OfDuo || p.Avatar == instead {
		return nil
	}
	a, err := avatar.Wear(ctx, tx, l, p.Avatar, avatar.PersonaWearer(p.ID))
	if err != nil {
		return err
	}
	if err := face.Prepare(ctx, tx, a, who.By, who.At); err != nil || instead.IsZero() {
		return err
	}
	return avatar.TakeOff(ctx, tx, instead, avatar.PersonaWearer(p.ID))
}

// record writes the version down.
func (p *Persona) record(ctx context.Context, tx *tenant.Tx, who Author) error {
	tx.Touch("persona_version", p.ID, number(p.Version))
	_, err := tx.Exec(ctx, `
		INSERT INTO persona_version (org_id, persona_id, version, name, avatar_id, voice_id, definition, created_by, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		tx.Org, p.ID, p.Version, p.Name, p.Avatar, p.Voice, p.Definition, who.By, who.At)
	return err
}

// number is a number that is part of a row's key.
type number int64

func (n number) String() string { return strconv.FormatInt(int64(n), 10) }

// differences names what differs between two personas, as the API does.
func differences(a, b Persona) []string {
	var names []string
	note := func(name string, differs bool) {
		if differs {
			names = append(names, name)
		}
	}
	note("name", a.Name != b.Name)
	note("avatarId", a.Avatar != b.Avatar || a.Partner != b.Partner)
	note("voiceId", a.Voice != b.Voice)
	x, y := a.Definition, b.Definition
	for _, section := range []struct {
		name string
		a, b any
	}{
		{"role", x.Role, y.Role},
		{"instructions", x.Instructions, y.Instructions},
		{"greeting", x.Greeting, y.Greeting},
		{"closing", x.Closing, y.Closing},
		{"knowledge", x.Knowledge, y.Knowledge},
		{"goals", x.Goals, y.Goals},
		{"guardrails", x.Guardrails, y.Guardrails},
		{"tools", x.Tools, y.Tools},
		{"model", x.Model, y.Model},
		{"conversation", x.Conversation, y.Conversation},
		{"settings", x.Settings, y.Settings},
		{"privacy", x.Privacy, y.Privacy},
		{"limits", x.Limits, y.Limits},
		{"disclosure", x.Disclosure, y.Disclosure},
	} {
		note(section.name, !bytes.Equal(written(section.a), written(section.b)))
	}
	return names
}

// written is how a section is kept.
func written(section any) []byte {
	b, err := json.Marshal(section)
	if err != nil {
		panic(err) // what was read from JSON can be written
	}
	return b
}
