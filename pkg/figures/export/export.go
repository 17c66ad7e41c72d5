// Package export writes an organization's records into files (spec, Jobs). A job reads them page
// by page, each page into a part that is a file of its own, and joins the parts at the end: a
// crash repeats a page, and a move goes on with the next. Words of conversations are in none but
// what visitors said of their leads.
package export

import (
	"context"
	"slices"
	"time"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// Kind is which records are written.
type Kind string

// The kinds.
const (
	Results    Kind = "results"
	Sessions   Kind = "sessions"
	Leads      Kind = "leads"
	People     Kind = "people"
	Candidates Kind = "candidates"
	Consents   Kind = "consents"
)

// Kinds lists every kind.
func Kinds() []Kind { return []Kind{Results, Sessions, Leads, People, Candidates, Consents} }

// Scope is what reads the records.
func (k Kind) Scope() scope.Scope { return records[k].scope }

// Format is how they are written.
type Format string

// The formats.
const (
	CSV   Format = "csv"
	JSONL Format = "jsonl"
)

// ContentType is the format's.
func (f Format) ContentType() string {
	if f == JSONL {
		return "application/x-ndjson"
	}
	return "text/csv"
}

// Order is what a job writes. Zero filters do not narrow it.
type Order struct {
	Kind   Kind   `json:"kind"`
	Format Format `json:"format"`
	// From and To are when the records were made: at or after the one and before the other.
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	// Portal, Unit, Subject, Role and State are of the kinds that have them.
	Portal  id.Portal  `json:"portal"`
	Unit    id.Unit    `json:"unit"`
	Subject id.Subject `json:"subject"`
	Role    id.Role    `json:"role"`
	State   string     `json:"state"`
	// Contract is the one that the file is written in.
	Contract contract.Version `json:"contract"`
	// Words and Personal say that whoever asked may read what visitors said, and who candidates
	// are.
	Words    bool `json:"words"`
	Personal bool `json:"personal"`
}

// Needs are what somebody must hold to read the file.
func (o Order) Needs() []scope.Scope {
	needs := []scope.Scope{o.Kind.Scope()}
	if o.Words && o.Kind == Leads {
		needs = append(needs, scope.TranscriptsRead)
	}
	if o.Personal && o.Kind == Candidates {
		needs = append(needs, scope.CandidatesData)
	}
	return needs
}

// Check refuses a filter that the records do not have. The error is an errdefs.Invalid.
func (o Order) Check() error {
	has := records[o.Kind].filters
	for name, given := range map[string]bool{
		"portalId": !o.Portal.IsZero(), "unitId": !o.Unit.IsZero(), "subjectId": !o.Subject.IsZero(), "roleId": !o.Role.IsZero(), "state": o.State != "",
	} {
		if given && !slices.Contains(has, name) {
			return errdefs.InvalidField("filters."+name, "is no filter of %s", o.Kind)
		}
	}
	if states := records[o.Kind].states; o.State != "" && len(states) > 0 && !slices.Contains(states, o.State) {
		return errdefs.InvalidField("filters.state", "must be %s", problem.Or(states))
	}
	if !o.From.Before(o.To) {
		return errdefs.InvalidField("to", "must be later than from")
	}
	return nil
}

// Begin queues an export. The error can be an errdefs.Invalid.
func Begin(ctx context.Context, tx *tenant.Tx, o Order, who activity.Actor) (job.Job, error) {
	if err := o.Check(); err != nil {
		return job.Job{}, err
	}
	j, err := job.Insert(ctx, tx, job.Job{
		ID: id.NewJob(), Kind: job.Export, ResourceKind: "organization", ResourceID: tx.Org.String(), Portal: o.Portal, Subject: o.Subject,
		Scope: o.Kind.Scope(), CreatedBy: who.By, CreatedAt: who.At,
	}, o)
	if err == nil {
		who.Log(tx, "records.exported", "job", j.ID, map[string]any{"kind": o.Kind, "format": o.Format, "from": o.From, "to": o.To})
	}
	return j, err
}
