package event

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

// Standing says whether an event may still be sent.
type Standing int

// The standings.
const (
	// Stands: it can. The zero value.
	Stands Standing = iota
	// Withdrawn: the rules forbid it now.
	Withdrawn
	// Gone: what it was about is gone.
	Gone
)

// Detail is what the live rows add to an event now.
type Detail struct {
	Standing Standing
	// Fields are contact, result and conversation fields: "summary",
	// "contact.name", or a list such as "answers". One that the noun's rules
	// hold back is left out, and null for the receiver.
	Fields map[string]any
	// ByAvatar says that the fields hold words that an avatar wrote.
	ByAvatar bool
}

// Source reads the detail of an event, as its noun's rules are now. words says
// whether conversation fields may be among it.
type Source func(ctx context.Context, e Event, words bool) (Detail, error)

// Renderer renders events as a receiver may see them.
type Renderer struct {
	Tenants *tenant.Tenants
	// Sources read what is not structure, by type. The events of a type
	// without one have their structure alone.
	Sources map[Type]Source
}

// Rendered is an event as one receiver may see it now.
type Rendered struct {
	Standing Standing
	// Data is the event's data in the newest contract, a JSON object.
	Data json.RawMessage
	// AIGenerated says that words an avatar wrote are in it.
	AIGenerated bool
}

// Words says whether a receiver that asked for conversation words and is
// entitled to them may have them: not while the organization keeps none (spec,
// includeConversation).
func (t *Renderer) Words(ctx context.Context, org id.Org, asked bool) (bool, error) {
	if !asked {
		return false, nil
	}
	var zero bool
	err := t.Tenants.Read(ctx, org, func(r *tenant.Reads) { setting.Queue(r, org, setting.ZeroRetention, &zero) })
	return !zero, err
}

// Render is an event as a receiver may see it now; words is what Words answered for it.
func (t *Renderer) Render(ctx context.Context, e Event, words bool) (Rendered, error) {
	kind, ok := Find(e.Type)
	if !ok {
		return Rendered{}, fmt.Errorf("event %s is of a type %q that does not exist", e.ID, e.Type)
	}
	source, ok := t.Sources[e.Type]
	if !ok && !kind.Detailed() {
		return Rendered{Data: e.Structure}, nil
	}
	if kind.RequiresConversation && !words {
		return Rendered{Standing: Withdrawn}, nil
	}
	var detail Detail
	if source != nil {
		var err error
		if detail, err = source(ctx, e, words); err != nil || detail.Standing != Stands {
			return Rendered{Standing: detail.Standing}, err
		}
	}
	return kind.render(e, detail, words)
}

// Detailed says whether events of the kind have more than structure.
func (k *Kind) Detailed() bool {
	f := k.Fields
	return len(f.Contact)+len(f.Result)+len(f.Conversation) > 0
}

// render joins an event's structure with its detail.
func (k *Kind) render(e Event, d Detail, words bool) (Rendered, error) {
	data := k.Blank()
	maps.Copy(data, k.structure) // what the type has gained since the event is null
	if err := json.Unmarshal(e.Structure, &data); err != nil {
		return Rendered{}, fmt.Errorf("structure of event %s: %w", e.ID, err)
	}
	out := Rendered{}
	for path, value := range d.Fields {
		spoken := hasRoot(k.Fields.Conversation, path)
		switch {
		case slices.Contains(k.Fields.Structure, path) && data[path] == nil: // an address, which can change
		case !spoken && !hasRoot(k.Fields.Contact, path) && !hasRoot(k.Fields.Result, path):
			return Rendered{}, fmt.Errorf("the source of %s gave %s, which its catalogue entry lacks", k.Type, path)
		case spoken && !words, value == nil:
			continue
		}
		out.AIGenerated = out.AIGenerated || spoken && d.ByAvatar
		set(data, path, value)
	}
	var err error
	out.Data, err = plain(data)
	return out, err
}

// hasRoot says whether one of the catalogue's paths is path or lies in the
// list that path names.
func hasRoot(paths []string, path string) bool {
	return slices.ContainsFunc(paths, func(p string) bool {
		root, _, _ := strings.Cut(p, "[]")
		return root == path
	})
}

// set puts a value at a dotted path.
func set(data map[string]any, path string, value any) {
	head, rest, nested := strings.Cut(path, ".")
	if !nested {
		data[head] = value
		return
	}
	inner, ok := data[head].(map[string]any)
	if !ok {
		inner = map[string]any{}
		data[head] = inner
	}
	set(inner, rest, value)
}
