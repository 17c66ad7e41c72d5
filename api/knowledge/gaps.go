package knowledge

import (
	"context"
	"errors"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/store/tenant"
)

// Gap is a question that the packs do not answer.
type Gap struct {
	ID                  id.Gap             `json:"id" doc:"Id of the question, with the prefix gap_."`
	State               knowledge.GapState `json:"state" enum:"open,answered,dismissed" doc:"open, or what was done about it."`
	QuestionCount       int64              `json:"questionCount" doc:"How often it was asked."`
	Language            *string            `json:"language" doc:"The language that it was asked in, as a code; null where it is not known."`
	Questions           *[]string          `json:"questions" nullable:"true" doc:"Some of the questions in their words; null for a key without transcripts:read."`
	KnowledgeBaseIDs    []id.KnowledgeBase `json:"knowledgeBaseIds" doc:"The packs that did not answer it."`
	PortalID            *id.Portal         `json:"portalId" nullable:"true" doc:"The portal that it was asked in; null for none."`
	PersonaID           *id.Persona        `json:"personaId" nullable:"true" doc:"The persona that was asked; null where it is gone."`
	SuggestedDocumentID *id.Document       `json:"suggestedDocumentId" nullable:"true" doc:"A document that answers it, as somebody said."`
	FirstSeenAt         time.Time          `json:"firstSeenAt" doc:"When it was first asked, in UTC."`
	LastSeenAt          time.Time          `json:"lastSeenAt" doc:"When it was last asked, in UTC."`
	UpdatedAt           time.Time          `json:"updatedAt" doc:"When it was last changed, in UTC."`
}

func showGap(c *route.Call, g knowledge.Gap) Gap {
	shown := Gap{
		ID: g.ID, State: g.State, QuestionCount: g.Questions, Language: orNull(g.Language), KnowledgeBaseIDs: g.Bases,
		FirstSeenAt: g.FirstSeen.UTC(), LastSeenAt: g.LastSeen.UTC(), UpdatedAt: g.UpdatedAt.UTC(),
	}
	if c.Principal.Key.Grant().Holds(scope.TranscriptsRead) {
		shown.Questions = &g.Samples
	}
	if !g.Portal.IsZero() {
		shown.PortalID = &g.Portal
	}
	if !g.Persona.IsZero() {
		shown.PersonaID = &g.Persona
	}
	if !g.SuggestedDocument.IsZero() {
		shown.SuggestedDocumentID = &g.SuggestedDocument
	}
	return shown
}

// GapQuery filters and pages the gaps.
type GapQuery struct {
	route.Paging
	State     string `query:"state" enum:"open,answered,dismissed" doc:"Only questions of which that became."`
	PersonaID string `query:"personaId" maxLength:"80" doc:"Only questions that this persona was asked."`
}

func (a *API) listGaps(ctx context.Context, c *route.Call, q *GapQuery) (route.Page[Gap], error) {
	return route.Listed(c, q.Paging, func(after id.Gap, limit int) ([]knowledge.Gap, error) {
		var err error
		filter := knowledge.GapFilter{State: knowledge.GapState(q.State)}
		if filter.Persona, err = route.QueryID(id.ParsePersona, "personaId", q.PersonaID); err != nil {
			return nil, err
		}
		return knowledge.ListGaps(ctx, a.Tenants, c.Org(), filter, after, limit)
	}, func(g knowledge.Gap) id.Gap { return g.ID }, func(g knowledge.Gap) Gap { return showGap(c, g) })
}

// GapUpdate is the request for a change of a gap.
type GapUpdate struct {
	ID   string `path:"id" doc:"The gap's id, with or without gap_."`
	Body GapChange
}

// GapChange is what was done about a gap.
type GapChange struct {
	State               route.Opt[knowledge.GapState] `json:"state,omitzero" enum:"open,answered,dismissed" doc:"What was done about it: answered, dismissed, or open again."`
	SuggestedDocumentID route.OptNull[string]         `json:"suggestedDocumentId,omitzero" maxLength:"80" doc:"A document that answers it; null for none"`
}

func (a *API) updateGap(ctx context.Context, c *route.Call, in *GapUpdate) (Gap, error) {
	wanted, err := route.Lookup(id.ParseGap, in.ID, "gap")
	if err != nil {
		return Gap{}, err
	}
	suggested, err := a.suggested(ctx, c, in.Body.SuggestedDocumentID.Value)
	if err != nil {
		return Gap{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Gap, error) {
		g, err := knowledge.LockGap(ctx, tx, wanted)
		if err != nil {
			return Gap{}, err
		}
		changes := map[string]any{}
		if in.Body.State.Set && in.Body.State.Value != g.State {
			g.State, changes["state"] = in.Body.State.Value, in.Body.State.Value
		}
		if in.Body.SuggestedDocumentID.Set && suggested != g.SuggestedDocument {
			g.SuggestedDocument, changes["suggestedDocumentId"] = suggested, in.Body.SuggestedDocumentID.Value
		}
		if len(changes) == 0 {
			return showGap(c, g), nil
		}
		g.UpdatedAt = c.Now()
		return showGap(c, g), knowledge.UpdateGap(ctx, tx, g, changes, c.Actor())
	})
}

// suggested is the document that a change names; zero for none.
func (a *API) suggested(ctx context.Context, c *route.Call, named *string) (id.Document, error) {
	if named == nil {
		return id.Document{}, nil
	}
	const param = "body.suggestedDocumentId"
	d, err := id.ParseDocument(*named)
	if err == nil {
		_, err = knowledge.GetDocument(ctx, a.Tenants, c.Org(), d)
	}
	if errors.Is(err, id.ErrMalformed) || errdefs.IsAbsent(err, knowledge.DocumentNoun) {
		return d, problem.Invalid(param, "%s is not a document of this organization.", param)
	}
	return d, err
}
