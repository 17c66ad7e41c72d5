package hiring

import (
	"context"
	"net/http"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/hiring/demographics"
	"visavis.dev/pkg/hiring/question"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

func (a *API) registerRoles(s *route.Service) {
	list := route.Operation{
		ID: "listRoles", Group: group, Method: http.MethodGet, Path: "/roles", Class: "read", Scope: scope.CandidatesRead, Items: contract.RoleItem,
		Summary: "Screening roles, newest first",
	}
	route.List(s, list, a.listRoles)

	get := list
	get.ID, get.Path, get.Summary, get.Since = "getRole", "/roles/{id}", "One role with its figures", contract.V20261001
	route.Handle(s, get, a.getRole)

	create := get
	create.ID, create.Method, create.Path, create.Class, create.Scope = "createRole", http.MethodPost, "/roles", "write", scope.CandidatesWrite
	create.Status, create.Idempotent, create.Errors = http.StatusCreated, true, []problem.Code{problem.NotFound, problem.UpgradeRequired}
	create.Summary = "Make a role, as a draft"
	create.Description = "subjectId is a subject of the kind screening: what candidates are asked, and the rubrics that answers are held against. The laws that " +
		"follow from location are always among notice.required, and notice.leadDays are at least as many as they ask for. The role opens by PATCH with the " +
		"state open, once nothing is missing. What the laws of a place ask for is a matter for counsel: the service makes it provable."
	route.Handle(s, create, a.createRole)

	update := create
	update.ID, update.Method, update.Path, update.Status, update.Idempotent = "updateRole", http.MethodPatch, "/roles/{id}", 0, false
	update.Errors = []problem.Code{problem.Conflict, problem.VersionConflict, problem.GoLiveRefused, problem.UpgradeRequired}
	update.Summary = "Change a role, open, pause or close it"
	update.Description = "An open role must have all that it was opened with: 422 go_live_refused names in details.problems what is missing, such as " +
		"notice.text.de. What candidates are told does not change while it stays open: 409 conflict with the reason role_open. What is closed stays so."
	route.Handle(s, update, a.updateRole)
}

// Role is a role that candidates are interviewed for.
type Role struct {
	ID        id.Role    `json:"id" doc:"Id of the role, with the prefix role_."`
	Title     string     `json:"title" doc:"What the role is called, as candidates read it."`
	PortalID  id.Portal  `json:"portalId" doc:"The portal where candidates come in."`
	SubjectID id.Subject `json:"subjectId" doc:"What is asked."`
	State     role.State `json:"state" enum:"draft,open,paused,closed" doc:"Candidates are invited and interviewed while it is open."`
	role.Definition
	BiasAudit       route.OrNull[role.Audit] `json:"biasAudit" doc:"The last bias audit; null for none."`
	Questions       int64                    `json:"questions" doc:"How many questions the subject had, as it was last published when the role changed."`
	QuestionSets    []QuestionSetSummary     `json:"questionSets" doc:"What its candidates are asked, version by version, oldest first; the newest twenty. GET /roles/{id}/question-sets has the words."`
	QuestionsDiffer bool                     `json:"questionsDiffer" doc:"Whether candidates have begun to be asked different versions, so that what they said is not to be compared word for word."`
	Deadline        *time.Time               `json:"deadline" doc:"Until when candidates are invited and interviewed, in UTC; null for no end."`
	Counts          RoleCounts               `json:"counts" doc:"How far candidates got, those who were erased since among them."`
	ExternalID      *string                  `json:"externalId" doc:"The role's id in your own system; null where none was given."`
	Metadata        map[string]string        `json:"metadata" doc:"Your own notes on it: at most 20 keys of 40 characters, with values of 500."`
	CreatedAt       time.Time                `json:"createdAt" doc:"When it was made, in UTC."`
	UpdatedAt       time.Time                `json:"updatedAt" doc:"When it was last changed, in UTC."`
}

// RoleCounts are how far a role's candidates got.
type RoleCounts struct {
	Invited  int64 `json:"invited" doc:"Who was invited."`
	Opened   int64 `json:"opened" doc:"Who opened the invite."`
	Screened int64 `json:"screened" doc:"Who was interviewed."`
	Reviewed int64 `json:"reviewed" doc:"Whose interview a person has read."`
	Advanced int64 `json:"advanced" doc:"Whose last decision is advance."`
	Rejected int64 `json:"rejected" doc:"Whose last decision is reject."`
	Hired    int64 `json:"hired" doc:"Whose last decision is hire."`
}

func showRole(r role.Role) Role {
	n := r.Counts
	audit := r.Audit
	r.Audit = nil // it is shown by its own name
	shown := Role{
		ID: r.ID, Title: r.Title, PortalID: r.Portal, SubjectID: r.Subject, State: r.State, Definition: filled(r.Definition), Questions: r.Questions,
		Deadline: route.UTC(r.Deadline), ExternalID: r.ExternalID, Metadata: r.Metadata, CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
		QuestionSets: []QuestionSetSummary{},
		Counts:       RoleCounts{n.Invited, n.Opened, n.Screened, n.Reviewed, n.Advanced, n.Rejected, n.Hired},
	}
	shown.BiasAudit.Value = audit
	return shown
}

// RolePath names a role.
type RolePath struct {
	ID string `path:"id" doc:"The role's id, with or without role_."`
}

func (p *RolePath) role() (id.Role, error) { return route.Lookup(id.ParseRole, p.ID, "role") }

// RoleQuery filters and pages the roles.
type RoleQuery struct {
	route.Paging
	State    string `query:"state" maxLength:"100" doc:"One or more of draft, open, paused and closed, separated by commas."`
	PortalID string `query:"portalId" maxLength:"80" doc:"Roles on this portal."`
}

func (a *API) listRoles(ctx context.Context, c *route.Call, q *RoleQuery) (route.Page[Role], error) {
	var sets map[id.Role][]question.Set
	return route.Listed(c, q.Paging, func(after id.Role, limit int) ([]role.Role, error) {
		var (
			f   role.Filter
			err error
		)
		if f.States, err = route.Several("state", q.State, role.States()); err != nil {
			return nil, err
		}
		if f.Portal, err = route.QueryID(id.ParsePortal, "portalId", q.PortalID); err != nil {
			return nil, err
		}
		found, err := role.List(ctx, a.Tenants, c.Org(), f, after, limit)
		if err != nil {
			return nil, err
		}
		which := make([]id.Role, len(found))
		for i, r := range found {
			which[i] = r.ID
		}
		sets, err = question.Of(ctx, a.Tenants, c.Org(), which)
		return found, err
	}, func(r role.Role) id.Role { return r.ID }, func(r role.Role) Role {
		shown := showRole(r)
		shown.asked(sets[r.ID])
		return shown
	})
}

func (a *API) getRole(ctx context.Context, c *route.Call, p *RolePath) (Role, error) {
	which, err := p.role()
	if err != nil {
		return Role{}, err
	}
	r, err := role.Get(ctx, a.Tenants, c.Org(), which)
	if err != nil {
		return Role{}, err
	}
	c.SetVersion(r.Edition)
	sets, err := question.Of(ctx, a.Tenants, c.Org(), []id.Role{r.ID})
	shown := showRole(r)
	shown.asked(sets[r.ID])
	return shown, err
}

func (a *API) createRole(ctx context.Context, c *route.Call, in *RoleInput) (Role, error) {
	if err := a.allow(c); err != nil {
		return Role{}, err
	}
	wanted, err := in.Body.role()
	if err != nil {
		return Role{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Role, error) {
		set, err := settings(ctx, tx, wanted.Portal)
		if err != nil {
			return Role{}, err
		}
		if err := set.values.Require(setting.Hiring); err != nil {
			return Role{}, err
		}
		if wanted.KeepDays == 0 {
			wanted.KeepDays = set.keepDays
		}
		made, err := role.Create(ctx, tx, wanted, c.Actor())
		c.SetVersion(made.Edition)
		return showRole(made), ofBody(err)
	})
}

func (a *API) updateRole(ctx context.Context, c *route.Call, in *RoleUpdate) (Role, error) {
	which, err := in.role()
	if err != nil {
		return Role{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Role, error) {
		before, err := role.Lock(ctx, tx, which)
		if err != nil {
			return Role{}, err
		}
		if err := in.Check(before.Edition, nil); err != nil {
			return Role{}, err
		}
		after, err := in.Body.apply(before)
		if err != nil {
			return Role{}, err
		}
		if after.State == role.Open {
			if err := a.allow(c); err != nil {
				return Role{}, err
			}
		}
		set, err := settings(ctx, tx, before.Portal)
		if err != nil {
			return Role{}, err
		}
		if after.State == role.Open {
			if err := set.values.Require(setting.Hiring); err != nil {
				return Role{}, err
			}
		}
		if _, err := role.Change(ctx, tx, before, after, set.opening(c.Now()), c.Actor()); err != nil {
			return Role{}, ofBody(err)
		}
		if err := ended(ctx, tx, &before, &after, c.Now()); err != nil {
			return Role{}, err
		}
		now, err := role.Read(ctx, tx, which)
		if err != nil {
			return Role{}, err
		}
		c.SetVersion(now.Edition)
		sets, err := question.OfRole(ctx, tx, which)
		shown := showRole(now)
		shown.asked(sets)
		return shown, err
	})
}

// ended has what candidates said of themselves looked at anew where a role is closed or asks no more.
func ended(ctx context.Context, tx *tenant.Tx, before, after *role.Role, now time.Time) error {
	if after.State != role.Closed && (after.Demographics || !before.Demographics) {
		return nil
	}
	return demographics.Wake(ctx, tx, after.ID, now)
}
