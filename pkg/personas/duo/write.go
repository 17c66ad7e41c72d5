package duo

import (
	"context"
	"reflect"
	"slices"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/face"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/store/tenant"
)

// Insert enters a duo as a draft, with its persona. The error is a
// errdefs.Invalid or a HostError.
func Insert(ctx context.Context, tx *tenant.Tx, l *avatar.Library, d Duo, who persona.Author) (Duo, error) {
	d, err := d.Normalize()
	if err != nil {
		return d, err
	}
	if err := d.cast(ctx, tx, l, nil, who); err != nil {
		return d, err
	}
	lead := d.host(Lead)
	v, err := voice.Find(ctx, tx, lead.Voice)
	if err != nil {
		return d, err
	}
	if _, err := persona.Insert(ctx, tx, l, persona.Persona{
		ID: d.Persona, Name: d.Name, Kind: persona.OfDuo, DuoID: d.ID, Avatar: lead.Avatar, Voice: lead.Voice,
		Partner: d.host(Partner).Avatar, Definition: d.tune(persona.Defaults(v), v),
	}, who.Unlogged()); err != nil {
		return d, err
	}
	tx.Touch("duo", d.ID)
	if _, err := tx.Exec(ctx, `
		INSERT INTO duo (org_id, id, name, status, hosts, languages, interplay, persona_id, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)`,
		tx.Org, d.ID, d.Name, Draft, d.Hosts, d.Languages, d.Interplay, d.Persona, who.At); err != nil {
		return d, err
	}
	who.Log(tx, "duo.created", "duo", d.ID, map[string]any{"name": d.Name, "personaId": d.Persona})
	return Find(ctx, tx, d.ID)
}

// Update makes of a duo that Lock found what after says. One whose hosts or
// languages change is a draft again. It answers the names of what changed; the
// errors are those of Insert.
func Update(ctx context.Context, tx *tenant.Tx, l *avatar.Library, before, after Duo, who persona.Author) (Duo, []string, error) {
	after, err := after.Normalize()
	if err != nil {
		return before, nil, err
	}
	if err := after.cast(ctx, tx, l, before.wears(), who); err != nil {
		return before, nil, err
	}
	changed := differences(before, after)
	if len(changed) == 0 {
		now, err := Find(ctx, tx, before.ID) // a face of it may be under way again
		return now, nil, err
	}
	if slices.Contains(changed, "hosts") {
		if err := after.dress(ctx, tx, l, who); err != nil {
			return before, nil, err
		}
	}
	if slices.Contains(changed, "hosts") || slices.Contains(changed, "languages") {
		after.Status, after.LiveAt = Draft, nil
	}
	after.UpdatedAt = who.At
	if err := after.save(ctx, tx); err != nil {
		return before, nil, err
	}
	who.Log(tx, "duo.updated", "duo", after.ID, map[string]any{"changed": changed})
	now, err := Find(ctx, tx, after.ID)
	return now, changed, err
}

// differences names what differs between two duos, as the API does.
func differences(a, b Duo) []string {
	var names []string
	note := func(name string, a, b any) {
		if !reflect.DeepEqual(a, b) {
			names = append(names, name)
		}
	}
	note("name", a.Name, b.Name)
	note("hosts", a.Hosts, b.Hosts)
	note("languages", a.Languages, b.Languages)
	note("interplay", a.Interplay, b.Interplay)
	return names
}

// cast puts the hosts' faces on instead of others, and has those prepared that
// are not ready. A face that stays on may stay although its consent was withdrawn.
func (d *Duo) cast(ctx context.Context, tx *tenant.Tx, l *avatar.Library, instead []id.Avatar, who persona.Author) error {
	wearer := avatar.DuoWearer(d.ID)
	for i, h := range d.Hosts {
		if _, err := voice.Find(ctx, tx, h.Voice); err != nil {
			return &HostError{i, err}
		}
		var (
			a   avatar.Avatar
			err error
		)
		if slices.Contains(instead, h.Avatar) {
			a, err = avatar.Find(ctx, tx, l, h.Avatar)
		} else {
			a, err = avatar.Wear(ctx, tx, l, h.Avatar, wearer)
		}
		if err != nil {
			return &HostError{i, err}
		}
		if err := face.Prepare(ctx, tx, a, who.By, who.At); err != nil {
			return err
		}
	}
	if err := voice.SetUses(ctx, tx, voice.ByDuo(d.ID), d.speaks()...); err != nil {
		return err
	}
	for _, f := range instead {
		if !slices.Contains(d.wears(), f) {
			if err := avatar.TakeOff(ctx, tx, f, wearer); err != nil {
				return err
			}
		}
	}
	return nil
}

// speaks lists the hosts' voices, each once.
func (d *Duo) speaks() []id.Voice {
	var voices []id.Voice
	for _, h := range d.Hosts {
		if !slices.Contains(voices, h.Voice) {
			voices = append(voices, h.Voice)
		}
	}
	return voices
}

// dress gives the duo's persona the hosts' faces and the lead's voice.
func (d *Duo) dress(ctx context.Context, tx *tenant.Tx, l *avatar.Library, who persona.Author) error {
	before, err := persona.Lock(ctx, tx, d.Persona)
	if err != nil {
		return err
	}
	v, err := voice.Find(ctx, tx, d.host(Lead).Voice)
	if err != nil {
		return err
	}
	after := before
	after.Avatar, after.Voice, after.Partner = d.host(Lead).Avatar, d.host(Lead).Voice, d.host(Partner).Avatar
	after.Definition = d.tune(before.Definition, v)
	_, _, err = persona.Update(ctx, tx, l, before, after, who.Unlogged())
	return err
}

// tune makes a definition one that a voice can speak: in a language of the duo
// where it can be.
func (d *Duo) tune(def persona.Definition, v voice.Voice) persona.Definition {
	speaks := func(code string) bool { return slices.Contains(v.Languages, code) }
	s := &def.Settings
	if !speaks(s.Language) || !slices.Contains(d.Languages, s.Language) {
		s.Language = v.PrimaryLanguage
		if i := slices.IndexFunc(d.Languages, speaks); i >= 0 {
			s.Language = d.Languages[i]
		}
	}
	s.Languages = slices.DeleteFunc(slices.Clone(s.Languages), func(code string) bool { return !speaks(code) })
	s.Speed = min(max(s.Speed, v.SpeedMin), v.SpeedMax)
	return def
}

// GoLive makes a duo that Lock found live, unless there are problems.
func GoLive(ctx context.Context, tx *tenant.Tx, l *avatar.Library, d Duo, who persona.Author) (Duo, []Problem, error) {
	if d.Status == Live {
		return d, nil, nil
	}
	state, err := Check(ctx, tx, l, d)
	if err != nil {
		return d, nil, err
	}
	if problems := state.Problems(); len(problems) > 0 {
		return d, problems, nil
	}
	d.Status, d.LiveAt, d.UpdatedAt = Live, &who.At, who.At
	if err := d.save(ctx, tx); err != nil {
		return d, nil, err
	}
	who.Log(tx, "duo.went_live", "duo", d.ID, nil)
	return d, nil, nil
}

// Pause makes a duo that Lock found start no more sessions. The error is
// The error is an errdefs.Conflict for one that is neither live nor paused.
func Pause(ctx context.Context, tx *tenant.Tx, d Duo, who persona.Author) (Duo, error) {
	switch d.Status {
	case Paused:
		return d, nil
	case Live:
		d.Status, d.UpdatedAt = Paused, who.At
		if err := d.save(ctx, tx); err != nil {
			return d, err
		}
		who.Log(tx, "duo.paused", "duo", d.ID, nil)
		return d, nil
	default:
		return d, &errdefs.Conflict{Noun: Noun, Reason: "not_live", Message: "The duo is not live, so it cannot be paused."}
	}
}

// Delete deletes a duo with its persona, which nothing else must use. The
// error is errdefs.NotFound, errdefs.Gone or an errdefs.Conflict.
func Delete(ctx context.Context, tx *tenant.Tx, which id.Duo, who persona.Author) error {
	d, err := Lock(ctx, tx, which)
	if err != nil {
		return err
	}
	if _, err := persona.Delete(ctx, tx, d.Persona, d.ID, who.Unlogged()); err != nil {
		return err
	}
	if err := voice.SetUses(ctx, tx, voice.ByDuo(d.ID)); err != nil {
		return err
	}
	for _, f := range d.wears() {
		if err := avatar.TakeOff(ctx, tx, f, avatar.DuoWearer(d.ID)); err != nil {
			return err
		}
	}
	tx.Touch("duo", d.ID)
	_, err = tx.Exec(ctx, `UPDATE duo SET deleted_at = $3, updated_at = $3 WHERE org_id = $1 AND id = $2`, tx.Org, d.ID, who.At)
	if err != nil {
		return err
	}
	who.Log(tx, "duo.deleted", "duo", d.ID, nil)
	return nil
}

// save writes a duo; that it is being checked is kept nowhere.
func (d *Duo) save(ctx context.Context, tx *tenant.Tx) error {
	status := d.Status
	if status == Checking {
		status = Draft
	}
	tx.Touch("duo", d.ID)
	_, err := tx.Exec(ctx, `
		UPDATE duo SET name = $3, status = $4, hosts = $5, languages = $6, interplay = $7, live_at = $8, updated_at = $9
		WHERE org_id = $1 AND id = $2`,
		tx.Org, d.ID, d.Name, status, d.Hosts, d.Languages, d.Interplay, d.LiveAt, d.UpdatedAt)
	return err
}
