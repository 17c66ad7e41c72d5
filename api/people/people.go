// Package people declares the operations on people (spec, People). Their places
// in portals are package memberships', the units they belong to package units'.
package people

import (
	"context"
	_ "embed"
	"errors"
	"net/http"
	"time"

	"visavis.dev/api/memberships"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/signin"
)

// examples are bodies of requests, by operation.
//
//go:embed examples.json
var examples []byte

// API is what the operations work with.
type API struct {
	Tenants *tenant.Tenants
	Files   *file.Store
	Plans   *plan.Catalogue
	// Gate mails invitations.
	Gate *signin.Gate
	// reading bounds how many files of people are in memory at a time.
	reading chan struct{}
}

// New makes the API; at most two files are looked through at a time, which bounds
// the memory they take.
func New(t *tenant.Tenants, f *file.Store, p *plan.Catalogue, g *signin.Gate) *API {
	return &API{Tenants: t, Files: f, Plans: p, Gate: g, reading: make(chan struct{}, 2)}
}

// Register declares the operations.
func (a *API) Register(s *route.Service) {
	s.Examples(examples)
	read := route.Operation{
		Group: "People", Method: http.MethodGet, Class: "read", Scope: scope.PeopleRead, Items: contract.PersonItem,
	}
	write := route.Operation{Group: "People", Method: http.MethodPost, Class: "write", Scope: scope.PeopleWrite, Items: contract.PersonItem}

	list := read
	list.ID, list.Path, list.Summary = "listPeople", "/people", "People with their places, newest first"
	route.List(s, list, a.list)

	create := write
	create.ID, create.Path = "createPerson", "/people"
	create.Status, create.Also, create.Idempotent = http.StatusCreated, []int{http.StatusOK}, true
	create.Errors = []problem.Code{problem.NotFound, problem.Conflict, problem.UpgradeRequired}
	create.Summary = "Add a person, or find them, and give them a place"
	create.Description = "A person is found by externalId, then by email, and answered with 200. Whoever is found gets the place, unless they " +
		"have it, and the externalId or the email that they lacked; nothing else of them or of the place changes."
	route.Handle(s, create, a.create)

	imports := write
	imports.ID, imports.Path, imports.Since, imports.Class = "importPeople", "/people/import", contract.V20261001, "heavy"
	imports.Items, imports.Status, imports.Idempotent = "", http.StatusAccepted, true
	imports.Upload, imports.MaxBody = importUpload(), maxImport
	imports.Detach = []string{"csv"}
	imports.Summary, imports.Description = "Add the people of a CSV file, each with a place", importDescription
	route.Handle(s, imports, a.importPeople)

	get := read
	get.ID, get.Path, get.Errors = "getPerson", "/people/{id}", []problem.Code{problem.Gone}
	get.Summary = "One person with their places"
	route.Handle(s, get, a.get)

	update := write
	update.ID, update.Method, update.Path, update.Since = "updatePerson", http.MethodPatch, "/people/{id}", contract.V20261001
	update.Errors = []problem.Code{problem.Gone, problem.Conflict, problem.VersionConflict}
	update.Summary = "Change a person, or switch them off everywhere"
	update.Description = "The conversations of somebody who is switched off end as ended_by_staff."
	route.Handle(s, update, a.update)

	join := write
	join.ID, join.Path, join.Items = "createMembership", "/people/{id}/memberships", contract.MembershipItem
	join.Status, join.Idempotent, join.Errors = http.StatusCreated, true, []problem.Code{problem.Gone, problem.Conflict}
	join.Summary = "Give a person another place"
	route.Handle(s, join, a.join)

	erase := write
	erase.ID, erase.Path, erase.Since, erase.Items = "erasePerson", "/people/{id}/erase", contract.V20261001, ""
	erase.Status, erase.Errors = http.StatusAccepted, []problem.Code{problem.Gone, problem.OnHold}
	erase.Summary = "Erase a person and what is known of them"
	erase.Description = "The person's details are gone at once, and they are signed out. The job ends their conversations, deletes the words " +
		"of them with what was collected and noted in them, metadata and externalId too, what personas remember of them, and their places. Consents stay on record, without who gave them. " +
		"A conversation that is put on hold meanwhile is kept until it is not."
	route.Handle(s, erase, a.erase)
}

// Person is one person.
type Person struct {
	ID          id.Person                `json:"id" doc:"Id of the person, with the prefix per_."`
	Name        string                   `json:"name" doc:"The person's full name."`
	GivenName   *string                  `json:"givenName" doc:"The given name alone; null where it was not given."`
	FamilyName  *string                  `json:"familyName" doc:"The family name alone; null where it was not given."`
	Email       *string                  `json:"email" doc:"The person's mail address; null where it is not known."`
	Phone       *string                  `json:"phone" doc:"The person's phone number; null where it is not known."`
	ExternalID  *string                  `json:"externalId" doc:"The person's id in your own system; null where none was given."`
	Language    *string                  `json:"language" doc:"The language that the person prefers, as a code; null where it is not known."`
	Timezone    *string                  `json:"timezone" doc:"The person's time zone, as the IANA names it; null where it is not known."`
	Minor       bool                     `json:"minor" doc:"Whether the age band is a minor's."`
	AgeBand     person.AgeBand           `json:"ageBand" enum:"under_13,13_15,16_17,adult,unknown" doc:"How old the person is, as far as it matters; unknown where nobody has said."`
	State       person.State             `json:"state" enum:"invited,active,disabled,erased" doc:"invited before they first come in, active, disabled by hand, or erased for good."`
	LastSeenAt  *time.Time               `json:"lastSeenAt" doc:"When the person last came in to a portal, in UTC; null for never."`
	Memberships []memberships.Membership `json:"memberships" doc:"Newest first."`
	Metadata    map[string]string        `json:"metadata" doc:"Your own notes on them: at most 20 keys of 40 characters, with values of 500."`
	CreatedAt   time.Time                `json:"createdAt" doc:"When the person was added, in UTC."`
	UpdatedAt   time.Time                `json:"updatedAt" doc:"When the person was last changed, in UTC."`
}

func show(p person.Person, places []person.Standing) Person {
	shown := Person{
		ID: p.ID, Name: p.Name, GivenName: p.GivenName, FamilyName: p.FamilyName, Email: p.Email, Phone: p.Phone, ExternalID: p.ExternalID,
		Language: p.Language, Timezone: p.Timezone, Minor: p.AgeBand.Minor(), AgeBand: p.AgeBand, State: p.State,
		LastSeenAt: route.UTC(p.LastSeenAt), Memberships: []memberships.Membership{}, Metadata: p.Metadata,
		CreatedAt: p.CreatedAt.UTC(), UpdatedAt: p.UpdatedAt.UTC(),
	}
	for _, s := range places {
		shown.Memberships = append(shown.Memberships, memberships.Show(s))
	}
	return shown
}

// Path names a person.
type Path struct {
	ID string `path:"id" doc:"The person's id, with or without per_."`
}

func (p *Path) person() (id.Person, error) { return route.Lookup(id.ParsePerson, p.ID, "person") }

// Query filters and pages the people.
type Query struct {
	route.Paging
	PortalID   string       `query:"portalId" maxLength:"80" doc:"People with a place in this portal."`
	UnitID     string       `query:"unitId" maxLength:"80" doc:"People with a place in this unit itself."`
	State      person.State `query:"state" enum:"invited,active,disabled" doc:"Only people in this state."`
	Email      string       `query:"email" maxLength:"320" doc:"Only the person with this mail address."`
	ExternalID string       `query:"externalId" maxLength:"200" doc:"Only the person with this id of your own system."`
	Q          string       `query:"q" maxLength:"200" doc:"People with words in their name, e-mail address or external id that begin with these, whatever their case and accents."`
}

func (q *Query) filter() (f person.Filter, err error) {
	f.State, f.ExternalID, f.Query = q.State, q.ExternalID, q.Q
	if f.Portal, err = route.QueryID(id.ParsePortal, "portalId", q.PortalID); err != nil {
		return f, err
	}
	if f.Unit, err = route.QueryID(id.ParseUnit, "unitId", q.UnitID); err != nil || q.Email == "" {
		return f, err
	}
	_, key, ok := person.Address(q.Email)
	if !ok {
		return f, problem.Invalid("query.email", "email is no e-mail address.")
	}
	f.Email = key
	return f, nil
}

func (a *API) list(ctx context.Context, c *route.Call, q *Query) (route.Page[Person], error) {
	return route.Listed(c, q.Paging, func(after id.Person, limit int) ([]person.With, error) {
		f, err := q.filter()
		if err != nil {
			return nil, err
		}
		return person.List(ctx, a.Tenants, c.Org(), f, after, limit, c.Now())
	}, func(w person.With) id.Person { return w.Person.ID }, func(w person.With) Person { return show(w.Person, w.Places) })
}

func (a *API) get(ctx context.Context, c *route.Call, p *Path) (Person, error) {
	which, err := p.person()
	if err != nil {
		return Person{}, err
	}
	found, places, err := person.Get(ctx, a.Tenants, c.Org(), which, c.Now())
	if err != nil {
		return Person{}, asProblem(err)
	}
	c.SetVersion(found.Edition)
	return show(found, places), nil
}

// read is a person as they are in the transaction that changed them.
func read(ctx context.Context, c *route.Call, tx *tenant.Tx, p person.Person) (Person, error) {
	places, err := person.Places(ctx, tx, p.ID, c.Now())
	c.SetVersion(p.Edition)
	return show(p, places), err
}

func asProblem(err error) error {
	if errors.Is(err, person.ErrOnHold) {
		return problem.New(problem.OnHold, "A conversation of the person is on hold.")
	}
	return DetailProblem(err)
}

// DetailProblem names the detail of a person, in the body, that is somebody else's.
func DetailProblem(err error) error {
	switch {
	case errors.Is(err, person.ErrEmailTaken):
		return route.At(err, "body.email")
	case errors.Is(err, person.ErrExternalIDTaken):
		return route.At(err, "body.externalId")
	}
	return err
}

// AddProblem makes a problem of an error of adding a person with a place; at is
// where the place stands in the body.
func AddProblem(err error, plans *plan.Catalogue, terms plan.Terms, at string) error {
	if errors.Is(err, person.ErrFull) {
		return plans.LimitReached(terms, plan.Members)
	}
	return memberships.AsProblem(DetailProblem(err), at)
}
