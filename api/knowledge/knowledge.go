// Package knowledge declares the operations on knowledge packs, their
// documents and the questions they do not answer (spec, Knowledge).
package knowledge

import (
	_ "embed"
	"errors"
	"net/http"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
)

// examples are bodies of requests, by operation.
//
//go:embed examples.json
var examples []byte

// API is what the operations work with.
type API struct {
	Tenants  *tenant.Tenants
	Files    *file.Store
	Egress   *egress.Guard
	Plans    *plan.Catalogue
	Searcher *knowledge.Searcher
	// reading bounds how many uploads are in memory at a time.
	reading chan struct{}
}

// New makes the API; at most two uploads are looked into at a time, which
// bounds the memory they take.
func New(t *tenant.Tenants, f *file.Store, g *egress.Guard, p *plan.Catalogue, s *knowledge.Searcher) *API {
	return &API{Tenants: t, Files: f, Egress: g, Plans: p, Searcher: s, reading: make(chan struct{}, 2)}
}

// Register declares the operations.
func (a *API) Register(s *route.Service) {
	s.Examples(examples)
	reads := route.Operation{Group: "Knowledge", Method: http.MethodGet, Class: "read", Scope: scope.KnowledgeRead}
	writes := route.Operation{Group: "Knowledge", Class: "write", Scope: scope.KnowledgeWrite}
	a.registerBases(s, reads, writes)
	a.registerDocuments(s, reads, writes)
	a.registerReading(s, reads, writes)
	a.registerGaps(s)
}

func (a *API) registerBases(s *route.Service, reads, writes route.Operation) {
	reads.Items, writes.Items = contract.KnowledgeBaseItem, contract.KnowledgeBaseItem
	list := reads
	list.ID, list.Path, list.Summary = "listKnowledgeBases", "/knowledge/bases", "The knowledge packs, newest first"
	route.List(s, list, a.listBases)

	create := writes
	create.ID, create.Method, create.Path = "createKnowledgeBase", http.MethodPost, "/knowledge/bases"
	create.Status, create.Idempotent, create.Summary = http.StatusCreated, true, "Make a knowledge pack"
	create.Errors = []problem.Code{problem.NotFound, problem.Gone}
	route.Handle(s, create, a.createBase)

	get := reads
	get.ID, get.Path, get.Summary = "getKnowledgeBase", "/knowledge/bases/{id}", "One knowledge pack"
	get.Errors = []problem.Code{problem.Gone}
	route.Handle(s, get, a.getBase)

	update := writes
	update.ID, update.Method, update.Path = "updateKnowledgeBase", http.MethodPatch, "/knowledge/bases/{id}"
	update.Summary, update.Errors = "Change a knowledge pack", []problem.Code{problem.Gone}
	route.Handle(s, update, a.updateBase)

	remove := writes
	remove.ID, remove.Method, remove.Path = "deleteKnowledgeBase", http.MethodDelete, "/knowledge/bases/{id}"
	remove.Items, remove.Errors = "", []problem.Code{problem.Gone, problem.Conflict}
	remove.Summary = "Delete a knowledge pack that nobody answers from, with its documents"
	route.Handle(s, remove, a.deleteBase)

	search := reads
	search.ID, search.Method, search.Path, search.Class = "searchKnowledgeBase", http.MethodPost, "/knowledge/bases/{id}/search", "search"
	search.Items, search.Summary, search.Errors = "", "Find passages that answer a question", []problem.Code{problem.Gone, problem.Conflict}
	search.Description = "Finds what any request before this one was told is ready. grounded says whether the best passage " +
		"is taken to answer the question. 503 capacity says that too much is searched right now: try again after Retry-After."
	route.Handle(s, search, a.search)
}

func (a *API) registerDocuments(s *route.Service, reads, writes route.Operation) {
	list := reads
	list.ID, list.Path, list.Summary = "listKnowledgeDocuments", "/knowledge/bases/{id}/documents", "The documents of a pack, newest first"
	list.Errors = []problem.Code{problem.Gone}
	route.List(s, list, a.listDocuments)

	add := writes
	add.ID, add.Method, add.Path = "addKnowledgeDocument", http.MethodPost, "/knowledge/bases/{id}/documents"
	add.Status, add.Also, add.Idempotent, add.MaxBody = http.StatusCreated, []int{http.StatusOK}, true, maxJSON
	add.Errors, add.Upload = []problem.Code{problem.Gone, problem.Conflict}, upload()
	add.Summary = "Add a document to a pack: a file, an address or text"
	add.Description = "A file comes as multipart/form-data, an address or text as JSON. It is read in the background: poll the " +
		"document until its status is ready or failed, or wait for the event. When the pack has the same content, or the same " +
		"address, already, that document is answered with 200. " +
		"A file has at most what the plan allows, and 50 MB. Of one document at most 20 MB of text are read, 200 MB unpacked " +
		"(100 MB of one part), 10,000 parts of an archive, 10,000 pages of PDF, 2 million cells and 500,000 different strings of " +
		"tables, 5 million elements of XML, 500,000 of HTML, 2 million values of JSON, 1 million lines of text or Markdown, and 256 " +
		"levels of nesting; and reading it takes at most 512 MiB of memory, one minute of processor time and five minutes in all. " +
		"Nothing is cut off: a document beyond a limit is failed, with too_large for bytes, too_complex for numbers and levels, and " +
		"unreadable for memory and time, or because it is damaged or needs a password. It is not tried again. " +
		"The index of a pack holds about ten thousand pages, fewer in scripts that put no spaces between words: a pack that is full " +
		"takes no more (409 conflict with details.reason pack_full), and a document that turns out not to fit when it is read is failed " +
		"with pack_full. One that alone has half as many different words and passages is failed with too_complex."
	route.Handle(s, add, a.add)

	get := reads
	get.ID, get.Path, get.Summary = "getKnowledgeDocument", "/knowledge/documents/{id}", "One document"
	get.Errors = []problem.Code{problem.Gone}
	route.Handle(s, get, a.getDocument)

	update := writes
	update.ID, update.Method, update.Path = "updateKnowledgeDocument", http.MethodPatch, "/knowledge/documents/{id}"
	update.Since, update.Errors = contract.V20261001, []problem.Code{problem.Gone}
	update.Summary = "Change a document's title, its tags or how often its address is read again"
	route.Handle(s, update, a.updateDocument)

	remove := writes
	remove.ID, remove.Method, remove.Path = "deleteKnowledgeDocument", http.MethodDelete, "/knowledge/documents/{id}"
	remove.Summary, remove.Errors = "Delete a document; nothing finds it from the answer on", []problem.Code{problem.Gone}
	route.Handle(s, remove, a.deleteDocument)
}

func (a *API) registerReading(s *route.Service, reads, writes route.Operation) {
	refresh := writes
	refresh.ID, refresh.Method, refresh.Path = "refreshKnowledgeDocument", http.MethodPost, "/knowledge/documents/{id}/refresh"
	refresh.Since, refresh.Status = contract.V20261001, http.StatusAccepted
	refresh.Errors = []problem.Code{problem.Gone, problem.Conflict}
	refresh.Summary = "Read a document's address again now; what was read before is found until then"
	route.Handle(s, refresh, a.refresh)

	chunks := reads
	chunks.ID, chunks.Path, chunks.Since = "listKnowledgeChunks", "/knowledge/documents/{id}/chunks", contract.V20261001
	chunks.Summary, chunks.Errors = "The passages of a document, in order", []problem.Code{problem.Gone}
	route.List(s, chunks, a.listChunks)

	download := reads
	download.ID, download.Path, download.Summary = "downloadKnowledgeDocument", "/knowledge/documents/{id}/download", "The original file"
	download.Errors, download.Produces = []problem.Code{problem.Gone, problem.Conflict}, downloads
	route.File(s, download, a.download)
}

func (a *API) registerGaps(s *route.Service) {
	one := route.Operation{Group: "Knowledge", Since: contract.V20261001, Items: contract.GapItem}
	list := one
	list.ID, list.Method, list.Path, list.Class = "listKnowledgeGaps", http.MethodGet, "/knowledge/gaps", "read"
	list.Scope, list.Summary = scope.InboxRead, "Questions that the packs do not answer, newest first"
	list.Description = "The questions in their words are shown to a key that holds transcripts:read."
	route.List(s, list, a.listGaps)

	update := one
	update.ID, update.Method, update.Path, update.Class = "updateKnowledgeGap", http.MethodPatch, "/knowledge/gaps/{id}", "write"
	update.Scope, update.Summary = scope.InboxWrite, "Say what was done about a gap"
	route.Handle(s, update, a.updateGap)
}

// asSearchProblem says why a pack, which the path names, cannot be searched.
func asSearchProblem(err error) error {
	switch {
	case errors.Is(err, knowledge.ErrBusy):
		return problem.Unavailable(retrySearch, err)
	case errors.Is(err, knowledge.ErrTooLarge):
		return packFull().WithParam("path.id").WithCause(err)
	}
	return err
}

// retrySearch is what a caller is asked to wait when a search found no room.
const retrySearch = 2 * time.Second

// packFull is the 409 for a pack with too much in it.
func packFull() *problem.Problem {
	return problem.Conflicting("pack_full",
		"The pack's documents have as many different words and passages as a pack can have. Delete documents, or use another pack.").
		WithDetail("limit", knowledge.MaxPackBytes)
}

const (
	packNoun     = "knowledge pack"
	documentNoun = "document"
)

// BasePath names a pack.
type BasePath struct {
	ID string `path:"id" doc:"The pack's id, with or without kb_."`
}

func (p BasePath) base() (id.KnowledgeBase, error) {
	return route.Lookup(id.ParseKnowledgeBase, p.ID, packNoun)
}

// DocumentPath names a document.
type DocumentPath struct {
	ID string `path:"id" doc:"The document's id, with or without doc_."`
}

func (p DocumentPath) document() (id.Document, error) {
	return route.Lookup(id.ParseDocument, p.ID, documentNoun)
}

// languageCode reads a language that a field gives by code or name; nil for none.
func languageCode(param string, given *string) (*string, error) {
	if given == nil {
		return nil, nil
	}
	found, ok := language.Lookup(*given)
	if !ok {
		return nil, problem.Invalid(param, "%s is not a language; GET /languages lists them.", param)
	}
	return &found.Code, nil
}
