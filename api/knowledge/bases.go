package knowledge

import (
	"context"
	"errors"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/store/tenant"
)

// KnowledgeBase is one pack.
type KnowledgeBase struct { //nolint:revive // the name of the schema
	ID              id.KnowledgeBase `json:"id" doc:"Id of the pack, with the prefix kb_."`
	Name            string           `json:"name" doc:"What the pack is called, for people."`
	Description     *string          `json:"description" doc:"What the pack is about, for people; null for none."`
	Language        *string          `json:"language" doc:"The language that questions are taken to be in unless they say."`
	DocumentCount   int64            `json:"documentCount" doc:"How many documents it holds."`
	ReadyCount      int64            `json:"readyCount" doc:"How many of them can be answered from."`
	FailedCount     int64            `json:"failedCount" doc:"How many of them could not be read."`
	ProcessingCount int64            `json:"processingCount" doc:"How many of them are being read."`
	Bytes           int64            `json:"bytes" doc:"Of the documents' originals."`
	ChunkCount      int64            `json:"chunkCount" doc:"How many passages can be found."`
	UsedBy          PackUsers        `json:"usedBy" doc:"The personas and portals that answer from it."`

	EmbeddingConnectionID *id.Connection           `json:"embeddingConnectionId" nullable:"true" doc:"A connection of kind embedding, by whose vectors passages are found by what they mean besides their words; null for by words alone."`
	EmbeddedChunkCount    int64                    `json:"embeddedChunkCount" doc:"How many of the passages have a vector. The others are found by their words."`
	EmbeddingError        *knowledge.EmbeddingCode `json:"embeddingError" nullable:"true" enum:"connection_unavailable,connection_failed,pack_too_large" doc:"Why the vectors that are missing could not be made: the connection is switched off or deleted, its service failed several times in a row (GET /connections/{id}/calls), or the pack has too many passages for vectors of that size. It is tried again when the connection is changed and, but for a pack that is too large, every quarter of an hour; that one when documents are read or deleted. null where they could, or are still being made."`

	CreatedAt time.Time `json:"createdAt" doc:"When the pack was made, in UTC."`
	UpdatedAt time.Time `json:"updatedAt" doc:"When it or one of its documents was last changed, in UTC."`
}

// PackUsers lists who answers from a pack.
type PackUsers struct {
	PersonaIDs []id.Persona `json:"personaIds" doc:"Personas that answer from the pack."`
	PortalIDs  []id.Portal  `json:"portalIds" doc:"Portals that answer from the pack."`
}

func showBase(b knowledge.Base) KnowledgeBase {
	shown := KnowledgeBase{
		ID: b.ID, Name: b.Name, Description: b.Description, Language: b.Language, DocumentCount: b.Documents, ReadyCount: b.Ready,
		FailedCount: b.Failed, ProcessingCount: b.Documents - b.Ready - b.Failed, Bytes: b.Bytes, ChunkCount: b.Chunks,
		UsedBy: PackUsers{PersonaIDs: b.Personas, PortalIDs: b.Portals}, CreatedAt: b.CreatedAt.UTC(), UpdatedAt: b.UpdatedAt.UTC(),
		EmbeddedChunkCount: b.Embedded,
	}
	if b.EmbeddingError != "" {
		shown.EmbeddingError = &b.EmbeddingError
	}
	if !b.Connection.IsZero() {
		shown.EmbeddingConnectionID = &b.Connection
	}
	if b.Personas == nil {
		shown.UsedBy.PersonaIDs = []id.Persona{}
	}
	if b.Portals == nil {
		shown.UsedBy.PortalIDs = []id.Portal{}
	}
	return shown
}

// BaseQuery pages through the packs.
type BaseQuery struct{ route.Paging }

func (a *API) listBases(ctx context.Context, c *route.Call, q *BaseQuery) (route.Page[KnowledgeBase], error) {
	return route.Listed(c, q.Paging, func(after id.KnowledgeBase, limit int) ([]knowledge.Base, error) {
		return knowledge.ListBases(ctx, a.Tenants, c.Org(), after, limit)
	}, func(b knowledge.Base) id.KnowledgeBase { return b.ID }, showBase)
}

// BaseInput is the request for a new pack.
type BaseInput struct{ Body KnowledgeBaseInput }

// KnowledgeBaseInput is a pack to be made.
type KnowledgeBaseInput struct { //nolint:revive // the name of the schema
	Name        string  `json:"name" minLength:"1" maxLength:"120" doc:"What to call the pack, for people."`
	Description *string `json:"description,omitempty" maxLength:"500" doc:"What the pack is about, for people."`
	Language    *string `json:"language,omitempty" minLength:"1" maxLength:"80" doc:"By code or name."`

	EmbeddingConnectionID *string `json:"embeddingConnectionId,omitempty" nullable:"true" maxLength:"80" doc:"A connection of kind embedding, by whose vectors passages are found by what they mean too; null for none. Its service is sent the pack's passages, and the questions that the pack is searched for."`
}

func (a *API) createBase(ctx context.Context, c *route.Call, in *BaseInput) (KnowledgeBase, error) {
	code, err := languageCode("body.language", in.Body.Language)
	if err != nil {
		return KnowledgeBase{}, err
	}
	by, err := embeddingConnection(in.Body.EmbeddingConnectionID)
	if err != nil {
		return KnowledgeBase{}, err
	}
	now := c.Now()
	b := knowledge.Base{
		ID: id.NewKnowledgeBase(), Name: in.Body.Name, Description: in.Body.Description, Language: code, CreatedAt: now, UpdatedAt: now,
		Embedding: knowledge.Embedding{Connection: by},
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (KnowledgeBase, error) {
		full, err := knowledge.InsertBase(ctx, tx, b, c.Principal.Terms, c.Actor())
		if err != nil {
			return KnowledgeBase{}, ofConnection(err)
		}
		if full {
			return KnowledgeBase{}, a.Plans.LimitReached(c.Principal.Terms, plan.KnowledgeBases)
		}
		return showBase(b), nil
	})
}

func (a *API) getBase(ctx context.Context, c *route.Call, p *BasePath) (KnowledgeBase, error) {
	b, err := p.base()
	if err != nil {
		return KnowledgeBase{}, err
	}
	found, err := knowledge.GetBase(ctx, a.Tenants, c.Org(), b)
	return showBase(found), err
}

// BaseUpdate is the request for a change of a pack.
type BaseUpdate struct {
	BasePath
	Body KnowledgeBaseChange
}

// KnowledgeBaseChange is what to change of a pack.
type KnowledgeBaseChange struct { //nolint:revive // the name of the schema
	Name        route.Opt[string]     `json:"name,omitzero" minLength:"1" maxLength:"120" doc:"A new name, for people."`
	Description route.OptNull[string] `json:"description,omitzero" maxLength:"500" doc:"null for none"`
	Language    route.OptNull[string] `json:"language,omitzero" minLength:"1" maxLength:"80" doc:"By code or name; null for none"`

	EmbeddingConnectionID route.OptNull[string] `json:"embeddingConnectionId,omitzero" maxLength:"80" doc:"A connection of kind embedding, which makes the vectors of all passages anew; null for none, which deletes them."`
}

func (a *API) updateBase(ctx context.Context, c *route.Call, in *BaseUpdate) (KnowledgeBase, error) {
	wanted, err := in.base()
	if err != nil {
		return KnowledgeBase{}, err
	}
	code, err := languageCode("body.language", in.Body.Language.Value)
	if err != nil {
		return KnowledgeBase{}, err
	}
	by, err := embeddingConnection(in.Body.EmbeddingConnectionID.Value)
	if err != nil {
		return KnowledgeBase{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (KnowledgeBase, error) {
		b, err := knowledge.LockBase(ctx, tx, wanted)
		if err != nil {
			return KnowledgeBase{}, err
		}
		changes := map[string]any{}
		if in.Body.EmbeddingConnectionID.Set && b.Connection != by {
			b.Connection, changes["embeddingConnectionId"] = by, in.Body.EmbeddingConnectionID.Value
		}
		if in.Body.Name.Set {
			b.Name, changes["name"] = in.Body.Name.Value, in.Body.Name.Value
		}
		if in.Body.Description.Set {
			b.Description, changes["description"] = in.Body.Description.Value, in.Body.Description.Value
		}
		if in.Body.Language.Set {
			b.Language, changes["language"] = code, code
		}
		if len(changes) == 0 {
			return showBase(b), nil
		}
		b.UpdatedAt = c.Now()
		if err := knowledge.UpdateBase(ctx, tx, b, changes, c.Actor()); err != nil {
			return KnowledgeBase{}, ofConnection(err)
		}
		if b, err = knowledge.LockBase(ctx, tx, wanted); err != nil { // with what a new connection makes of it
			return KnowledgeBase{}, err
		}
		return showBase(b), nil
	})
}

func (a *API) deleteBase(ctx context.Context, c *route.Call, p *BasePath) (route.Deleted, error) {
	wanted, err := p.base()
	if err != nil {
		return route.Deleted{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (route.Deleted, error) {
		b, err := knowledge.DeleteBase(ctx, tx, wanted, c.Actor())
		return route.Deleted{Deleted: true, ID: b.ID.String()}, err
	})
}

// embeddingConnection is the connection that a request names; zero for none.
func embeddingConnection(named *string) (id.Connection, error) {
	if named == nil {
		return id.Connection{}, nil
	}
	which, err := id.ParseConnection(*named)
	if err != nil {
		return id.Connection{}, problem.Invalid("body.embeddingConnectionId", "This is the id of no connection.")
	}
	return which, nil
}

// ofConnection says what of a pack an error is about.
func ofConnection(err error) error {
	if _, unusable := errors.AsType[*connection.UnusableError](err); unusable {
		return problem.Missing("connection").WithParam("body.embeddingConnectionId")
	}
	return err
}
