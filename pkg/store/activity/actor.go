package activity

import (
	"fmt"
	"maps"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// Actor is who changes something, and when. Rules take one, and write down what it did.
type Actor struct {
	// By is the id of a key or a person, or a name such as "operator".
	By string
	At time.Time
	// Address is where the request came from; empty for the platform's own.
	Address string
	// Job is the job that makes the change for whoever asked for it; zero for none.
	Job id.Job
	// Resource is the custom resource that asks for the change; empty for none. The log
	// names it rather than By.
	Resource string
	// unlogged says that Log writes nothing.
	unlogged bool
}

// Unlogged is the same actor, of whose change Log writes nothing: it is part of a greater
// one, whose entry tells of both, or a visitor's or a schedule's, of which there are too
// many.
func (a Actor) Unlogged() Actor {
	a.unlogged = true
	return a
}

// Log has written down at the end of the transaction what the actor did, such as "key.created", to what. changes are the new
// values by field name, and never hold a secret.
func (a Actor) Log(tx *tenant.Tx, action, kind string, to fmt.Stringer, changes map[string]any) {
	if a.unlogged {
		return
	}
	e := Entry{At: a.At, Actor: a.By, Action: action, TargetKind: kind, TargetID: to.String(), Changes: changes, Address: a.Address}
	if a.Resource != "" {
		e.Actor = a.Resource
	}
	if !a.Job.IsZero() {
		e.Changes = maps.Clone(changes)
		if e.Changes == nil {
			e.Changes = map[string]any{}
		}
		e.Changes["jobId"] = a.Job
	}
	Record(tx, e)
}
