package event

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"visavis.dev/pkg/id"
	"visavis.dev/pkg/setting"
	"visavis.dev/pkg/tenant"
)

// Standing says whether an event can still be told.
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

// Source reads the detail of an event, as its noun's rules are now.
// conversation says whether conversation fields may be among it.
type Source func(ctx context.Context, e Event, conversation bool) (Detail, error)

// Teller tells events as a receiver may see them.
type Teller struct {
	Tenants *tenant.Tenants
	// Sources read what is not structure, by type. The events of a type
	// without one have their structure alone.
	Sources map[Type]Source
}

// Telling is an event as one receiver may see it now.
type Telling struct {
	Standing Standing
	// Data is the event's data in the newest contract, a JSON object.
	Data json.RawMessage
	// AIGenerated says that words an avatar wrote are in it.
	AIGenerated bool
}

// Tell tells an event. conversation says that the receiver asked for
// conversation words and is entitled to them; zero data retention holds them
// back all the same (spec, includeConversation).
func (t *Teller) Tell(ctx context.Context, e Event, conversation bool) (Telling, error) {
	kind, ok := Find(e.Type)
	if !ok {
		return Telling{}, fmt.Errorf("event %s is of a type %q that does not exist", e.ID, e.Type)
	}
	source, ok := t.Sources[e.Type]
	if !ok && !kind.Detailed() {
		return Telling{Data: e.Structure}, nil
	}
	if conversation && len(kind.Fields.Conversation) > 0 {
		kept, err := t.keepsWords(ctx, e.Org)
		if err != nil {
			return Telling{}, err
		}
		conversation = kept
	}
	if kind.RequiresConversation && !conversation {
		return Telling{Standing: Withdrawn}, nil
	}
	var detail Detail
	if source != nil {
		var err error
		if detail, err = source(ctx, e, conversation); err != nil || detail.Standing != Stands {
			return Telling{Standing: detail.Standing}, err
		}
	}
	return kind.tell(e, detail, conversation)
}

func (t *Teller) keepsWords(ctx context.Context, org id.Org) (bool, error) {
	var zero bool
	err := t.Tenants.Read(ctx, org, func(r *tenant.Reads) { setting.Queue(r, org, setting.ZeroRetention, &zero) })
	return !zero, err
}

// Detailed says whether events of the kind have more than structure.
func (k *Kind) Detailed() bool {
	f := k.Fields
	return len(f.Contact)+len(f.Result)+len(f.Conversation) > 0
}

// tell joins an event's structure with its detail.
func (k *Kind) tell(e Event, d Detail, conversation bool) (Telling, error) {
	data := k.Blank()
	if err := json.Unmarshal(e.Structure, &data); err != nil {
		return Telling{}, fmt.Errorf("structure of event %s: %w", e.ID, err)
	}
	told := Telling{}
	for path, value := range d.Fields {
		words := hasRoot(k.Fields.Conversation, path)
		switch {
		case !words && !hasRoot(k.Fields.Contact, path) && !hasRoot(k.Fields.Result, path):
			return Telling{}, fmt.Errorf("the source of %s gave %s, which its catalogue entry lacks", k.Type, path)
		case words && !conversation, value == nil:
			continue
		}
		told.AIGenerated = told.AIGenerated || words && d.ByAvatar
		set(data, path, value)
	}
	var err error
	told.Data, err = json.Marshal(data)
	return told, err
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
