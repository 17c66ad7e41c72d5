package roster

import (
	"context"
	"errors"
	"hash/fnv"
	"maps"
	"slices"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/unit"
	"visavis.dev/pkg/store/tenant"
)

// adding is the lines that one step adds.
type adding struct {
	sheet  *sheet
	lines  []line
	dryRun bool
	terms  plan.Terms
	// seen are the keys of whom a dry run has added before.
	seen map[key]bool
}

// came is what came of the lines of a step.
type came struct {
	note
	added, found, places int64
}

// errDryRun undoes a step that was for trial.
var errDryRun = errors.New("a dry run leaves nothing")

// step adds the people of the lines, in one commit with what it notes of them.
func (a *adding) step(ctx context.Context, tx *tenant.Tx, j *job.Job, at *progress, now time.Time) error {
	var c came
	who := person.Author{By: j.CreatedBy, At: now, Job: j.ID}
	if a.dryRun {
		err := tx.Attempt(ctx, func(ctx context.Context) error {
			if err := a.addAll(ctx, tx, &c, who); err != nil {
				return err
			}
			return errDryRun
		})
		if !errors.Is(err, errDryRun) {
			return err
		}
	} else if err := a.addAll(ctx, tx, &c, who); err != nil {
		return err
	}
	j.Done += int64(len(a.lines))
	at.Added += c.added
	at.Refused += int64(len(c.Refused))
	counts := map[string]int64{"added": c.added, "found": c.found, "places": c.places, "refused": int64(len(c.Refused))}
	for name, n := range j.Counts {
		counts[name] += n
	}
	j.Counts = counts
	if len(c.Refused)+len(c.Keys) == 0 {
		return nil
	}
	return j.Note(ctx, tx, at.Step, c.note)
}

// addAll adds the people of the lines, but for those whom a rule forbids.
func (a *adding) addAll(ctx context.Context, tx *tenant.Tx, c *came, who person.Author) error {
	all, refused := make([]wanted, len(a.lines)), make([]error, len(a.lines))
	for i, l := range a.lines {
		w, wrong := a.sheet.want(l)
		if all[i] = w; wrong != nil {
			refused[i] = wrong
		}
	}
	closed, err := lockPortals(ctx, tx, all)
	if err != nil {
		return err
	}
	if err := nameUnits(ctx, tx, all, refused); err != nil {
		return err
	}
	for i, l := range a.lines {
		err := refused[i]
		if err == nil {
			err = closed[all[i].place.Portal]
		}
		if err == nil {
			err = a.add(ctx, tx, c, all[i], who)
		}
		if err == nil {
			continue
		}
		wrong := explain(err)
		if wrong == nil {
			return err
		}
		c.Refused = append(c.Refused, job.RefusedLine{Line: l.Number, Column: wrong.column, Message: wrong.message})
	}
	return nil
}

// lockPortals locks the switches of the portals as they are, since portals are locked
// before people, and answers which of them cannot be joined, and why.
func lockPortals(ctx context.Context, tx *tenant.Tx, all []wanted) (closed map[id.Portal]error, err error) {
	portals := map[id.Portal]bool{}
	for _, w := range all {
		portals[w.place.Portal] = true
	}
	closed = map[id.Portal]error{}
	// In one order, as everybody locks several.
	for _, p := range slices.SortedFunc(maps.Keys(portals), func(a, b id.Portal) int { return slices.Compare(a[:], b[:]) }) {
		if err := person.Hold(ctx, tx, p); explain(err) != nil {
			closed[p] = err
		} else if err != nil {
			return nil, err
		}
	}
	return closed, nil
}

// nameUnits finds the units that are named by their codes.
func nameUnits(ctx context.Context, tx *tenant.Tx, all []wanted, refused []error) error {
	codes := map[id.Portal][]string{}
	for _, w := range all {
		if w.unitCode != "" {
			codes[w.place.Portal] = append(codes[w.place.Portal], w.unitCode)
		}
	}
	known := map[id.Portal]map[string][]id.Unit{}
	for p, wanted := range codes {
		var err error
		if known[p], err = unit.ByCode(ctx, tx, p, wanted); err != nil {
			return err
		}
	}
	for i := range all {
		w := &all[i]
		if w.unitCode == "" || refused[i] != nil {
			continue
		}
		switch found := known[w.place.Portal][w.unitCode]; len(found) {
		case 0:
			refused[i] = refuse(unitCode, "The portal has no unit with this code.")
		case 1:
			w.place.Unit = found[0]
		default:
			refused[i] = refuse(unitCode, "Several units of the portal have this code. Name the unit by %s.", unitID)
		}
	}
	return nil
}

// add finds or adds somebody and gives them the place. An error leaves nothing of it.
func (a *adding) add(ctx context.Context, tx *tenant.Tx, c *came, w wanted, who person.Author) error {
	keys := keysOf(w.person)
	if slices.ContainsFunc(keys, func(k key) bool { return a.seen[k] }) {
		c.found++
		return nil
	}
	w.person.Terms, w.person.At, w.place.Find = a.terms, who.At, true
	return tx.Attempt(ctx, func(ctx context.Context) error {
		added, err := person.AddWithPlace(ctx, tx, w.person, w.place, who)
		if err != nil {
			return err
		}
		if added.Joined {
			c.places++
		}
		if !added.Created {
			c.found++
			return nil
		}
		c.added++
		if a.dryRun {
			c.Keys = append(c.Keys, keys...)
		}
		return nil
	})
}

// key tells two people apart, without saying who they are.
type key uint64

// keysOf are what somebody is found by.
func keysOf(w person.Wanted) (keys []key) {
	of := func(kind, text string) {
		h := fnv.New64a()
		_, _ = h.Write([]byte(kind + text)) // never fails
		keys = append(keys, key(h.Sum64()))
	}
	if w.ExternalID != nil {
		of("id:", *w.ExternalID)
	}
	if w.Email != nil {
		if _, folded, ok := person.Address(*w.Email); ok {
			of("email:", folded)
		}
	}
	return keys
}
