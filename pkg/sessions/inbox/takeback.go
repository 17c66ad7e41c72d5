package inbox

import (
	"context"
	"regexp"
	"slices"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// Returned is what people changed of an item in a connected system. Nil and empty fields did not change; a text that is
// empty was removed.
type Returned struct {
	Name, Phone, Company, JobTitle *string
	State                          State
	Band                           Band
	// Assignee is who deals with it; the zero one did not change.
	Assignee id.Person
}

// phoneForm is a number as people write it, with its country or without, and an extension.
var phoneForm = regexp.MustCompile(`^\s*[+(]?\s*\d(?:[\s()./-]*\d){2,}(?:\s*(?:ext\.?|x|#)\s*\d{1,6})?\s*$`)

// IsPhone says whether a text is a telephone number.
func IsPhone(text string) bool { return phoneForm.MatchString(text) }

// With is the item with what people changed of it, and the names of what is another than before. What it cannot become is left: an item of
// a visitor who was forgotten stays as it is.
func (i *Item) With(r Returned) (after Item, names []string) {
	after = *i
	if i.ForgottenAt != nil || i.Contact == nil {
		return after, nil
	}
	contact := *i.Contact
	after.Contact = &contact
	for _, f := range []struct {
		name string
		now  **string
		next *string
	}{
		{"contact.name", &contact.Name, r.Name}, {"contact.phone", &contact.Phone, r.Phone},
		{"contact.company", &contact.Company, r.Company}, {"contact.jobTitle", &contact.JobTitle, r.JobTitle},
	} {
		next := f.next
		if next == nil {
			continue
		}
		if *next == "" {
			next = nil
		}
		if !same(*f.now, next) {
			*f.now, names = next, append(names, f.name)
		}
	}
	if r.State != "" && r.State != i.State && slices.Contains(States(), r.State) && becomesBack(i.Kind, i.State, r.State) {
		after.State, after.SnoozedUntil = r.State, nil
		names = append(names, "state")
		if i.SnoozedUntil != nil {
			names = append(names, "snoozedUntil")
		}
	}
	if !r.Assignee.IsZero() && r.Assignee != i.Assignee {
		after.Assignee = r.Assignee
		names = append(names, "assigneeId")
	}
	if r.Band != "" && i.Kind == Lead && slices.Contains(Bands(), r.Band) && (i.Band == nil || *i.Band != r.Band) {
		after.Band, after.Chosen = &r.Band, true
		names = append(names, "leadBand")
	}
	return after, names
}

// becomesBack is become of what happened elsewhere, maybe in several steps: what is over may have been opened again in between.
func becomesBack(k Kind, from, to State) bool {
	return become(k, from, to) || become(k, from, Open) && become(k, Open, to)
}

// TakeBack gives an item that is locked what people changed of it in a connected system, which is not told of that again. It answers the
// item as it is then, which is as With says but for what rules change of it, and whoever is gone meanwhile.
func TakeBack(ctx context.Context, tx *tenant.Tx, before Item, r Returned, from id.Connection, at time.Time) (Item, error) {
	if !r.Assignee.IsZero() {
		if there, err := staff(ctx, tx, []id.Person{r.Assignee}, at); err != nil {
			return before, err
		} else if len(there) == 0 {
			r.Assignee = id.Person{}
		}
	}
	after, names := before.With(r)
	if len(names) == 0 {
		return before, nil
	}
	after.from = from
	activity.Actor{By: platform, At: at}.Log(tx, "inbox_item.updated", "inbox_item", after.ID,
		map[string]any{"fields": names, "state": after.State, "connectionId": from})
	if err := after.settle(ctx, tx, before.State, Updated, "", at, func() { after.tellChanged(tx, before.State, names, platform) }); err != nil {
		return before, err
	}
	return after, after.enterTerms(ctx, tx)
}
