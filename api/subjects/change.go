package subjects

import (
	"context"
	"encoding/json"
	"errors"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/patch"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/store/tenant"
)

func (a *API) create(ctx context.Context, c *route.Call, in *Input) (Subject, error) {
	of, err := in.portal()
	if err != nil {
		return Subject{}, err
	}
	s := subject.Subject{ID: id.NewSubject(), Portal: of, Title: in.Body.Title, Kind: subject.Kind(in.Body.Kind)}
	if err := patch.Merge(&s.Definition, c.Body()); err != nil {
		return Subject{}, asProblem(err)
	}
	var sent struct {
		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(c.Body(), &sent); err != nil {
		return Subject{}, err // what was read before can be read again
	}
	var content subject.Content
	if sent.Content != nil {
		err = within("content", patch.Merge(&content, sent.Content))
	}
	if err != nil {
		return Subject{}, asProblem(err)
	}
	// Normalized here too, to name the fields where they were sent.
	if content, err = content.Normalize(); err != nil {
		return Subject{}, asProblem(within("content", err))
	}
	made, err := route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Subject, error) {
		made, err := subject.Insert(ctx, tx, s, content, c.Actor())
		if err != nil {
			return Subject{}, asProblem(err)
		}
		shown, err := subject.Summarize(ctx, tx, made.ID)
		return show(shown), err
	})
	return versioned(c, made, err)
}

// within says where the field of an error lies.
func within(parent string, err error) error {
	if field, ok := errors.AsType[*errdefs.Invalid](err); ok {
		return &errdefs.Invalid{Field: parent + "." + field.Field, Message: field.Message}
	}
	if form, ok := errors.AsType[*patch.Error](err); ok {
		return form.Within(parent)
	}
	return err
}

func (a *API) update(ctx context.Context, c *route.Call, in *UpdateInput) (Subject, error) {
	wanted, err := in.subject()
	if err != nil {
		return Subject{}, err
	}
	now, err := route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Subject, error) {
		_, before, err := lock(ctx, tx, wanted)
		if err != nil {
			return Subject{}, asProblem(err)
		}
		if err := in.Check(before.Edition, nil); err != nil {
			return Subject{}, err
		}
		after := before
		if in.Body.Title.Set {
			after.Title = in.Body.Title.Value
		}
		if in.Body.State.Set {
			after.State = subject.State(in.Body.State.Value)
		}
		if in.Body.Order.Set {
			after.Place = in.Body.Order.Value
		}
		if err := patch.Merge(&after.Definition, c.Body()); err != nil {
			return Subject{}, asProblem(err)
		}
		if _, _, err := subject.Change(ctx, tx, before, after, c.Actor()); err != nil {
			return Subject{}, asProblem(err)
		}
		shown, err := subject.Summarize(ctx, tx, wanted)
		return show(shown), err
	})
	return versioned(c, now, err)
}

// lock locks a subject after its portal, which everyone does in this order.
func lock(ctx context.Context, tx *tenant.Tx, which id.Subject) (portal.Portal, subject.Subject, error) {
	found, err := subject.Find(ctx, tx, which)
	if err != nil {
		return portal.Portal{}, found, err
	}
	p, err := portal.Lock(ctx, tx, found.Portal)
	if err != nil {
		return p, found, err
	}
	s, err := subject.Lock(ctx, tx, which)
	return p, s, err
}
