package knowledge

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/text/search"
	"visavis.dev/pkg/text/vector"
)

// place is where a pack is kept.
type place struct {
	org  id.Org
	base id.KnowledgeBase
}

// pack is a pack in memory, as it was at a revision.
type pack struct {
	at    place
	index *search.Index
	// vectors are those of the passages that have one.
	vectors   *vector.Set
	vectorsMu sync.RWMutex
	versions  *versions
	// revision is the last that was applied; negative before it is loaded.
	revision atomic.Int64
	// turn is held by who applies changes.
	turn chan struct{}

	// The cache's: what the pack is counted as, how many searches work with it,
	// and where it stands among the others.
	bytes   int64
	users   int
	element *list.Element
}

func newPack(at place) *pack {
	p := &pack{at: at, index: search.New(), vectors: vector.NewSet(), versions: newVersions(), turn: make(chan struct{}, 1)}
	p.revision.Store(-1)
	return p
}

// take waits for the turn to change the pack.
func (p *pack) take(ctx context.Context) error {
	select {
	case p.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *pack) leave() { <-p.turn }

// current is a pack that is there, with the connection that makes its vectors; zero for none.
type current struct {
	*pack
	connection id.Connection
}

// selectThere says whether a pack is there, and rides knowledge_base_pkey.
const selectThere = `SELECT embedding_connection_id FROM knowledge_base WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL`

// selectChanged says whether anything changed in a pack since a revision. It rides
// knowledge_document_by_revision.
const selectChanged = `
	SELECT d.revision FROM knowledge_document d
	WHERE d.org_id = $1 AND d.base_id = $2 AND d.revision > $3 ORDER BY d.revision LIMIT 1`

// refresh brings loaded packs up to what they are now, and answers those that are
// there. They are all asked after in one trip.
func (s *Searcher) refresh(ctx context.Context, packs []*pack) (all []current, err error) {
	if len(packs) == 0 {
		return nil, nil
	}
	there, changed := make([]bool, len(packs)), make([]bool, len(packs))
	connections := make([]id.Connection, len(packs))
	var revision int64
	err = s.tenants.Read(ctx, packs[0].at.org, func(r *tenant.Reads) {
		for i, p := range packs {
			r.QueryRow(&there[i], []any{&connections[i]}, selectThere, p.at.org, p.at.base)
			r.QueryRow(&changed[i], []any{&revision}, selectChanged, p.at.org, p.at.base, p.revision.Load())
		}
	})
	if err != nil {
		return nil, err
	}
	for i, p := range packs {
		if !there[i] {
			s.cache.drop(p)
			continue
		}
		if changed[i] {
			if err := s.catchUp(ctx, p); err != nil {
				return nil, err
			}
		}
		all = append(all, current{p, connections[i]})
	}
	return all, nil
}

// catchUp applies what changed in a pack. Another search may have done so meanwhile.
func (s *Searcher) catchUp(ctx context.Context, p *pack) error {
	if err := p.take(ctx); err != nil {
		return err
	}
	defer p.leave()
	return s.follow(ctx, p, p.revision.Load())
}

// load fills a pack that was never loaded. Those who want it meanwhile wait:
// it is read once. So are few packs at a time, and of an organization one.
func (s *Searcher) load(ctx context.Context, p *pack) error {
	if err := p.take(ctx); err != nil {
		return err
	}
	defer p.leave()
	if p.revision.Load() >= 0 {
		return nil
	}
	leave, err := s.cache.enter(ctx, p.at.org)
	if err != nil {
		return err
	}
	defer leave()
	select {
	case s.loads <- struct{}{}:
		defer func() { <-s.loads }()
	case <-ctx.Done():
		return ctx.Err()
	}
	began := time.Now()
	revision, err := s.reserve(ctx, p)
	if err != nil {
		return err
	}
	// Who waits next needs it too, whether or not this caller stays.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadTimeout)
	defer cancel()
	if err := s.follow(ctx, p, 0); err != nil {
		p.index, p.vectors, p.versions = search.New(), vector.NewSet(), newVersions()
		if errors.Is(err, ErrTooLarge) {
			s.tooLarge.Add(p.at, revision)
		}
		return err
	}
	s.metrics.loads.Inc()
	s.metrics.took.Observe(time.Since(began).Seconds())
	return nil
}

// reserve makes room for what a pack weighs; one that was written before packs were
// weighed counts as the largest. The revision is the pack's. The error can be ErrTooLarge,
// where the pack was found to be so at this revision. It rides knowledge_base_pkey.
func (s *Searcher) reserve(ctx context.Context, p *pack) (revision int64, err error) {
	var (
		there     bool
		documents int64
		w         search.Weight
	)
	err = s.tenants.Read(ctx, p.at.org, func(r *tenant.Reads) {
		r.QueryRow(&there, []any{&revision, &documents, &w.Passages, &w.Postings, &w.Vocabulary}, `
			SELECT revision, documents, chunks, postings, vocabulary FROM knowledge_base WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL`,
			p.at.org, p.at.base)
	})
	if err != nil || !there {
		return 0, err
	}
	if at, known := s.tooLarge.Get(p.at); known && at == revision {
		return revision, ErrTooLarge
	}
	bytes := min(w.Bytes(documents), MaxPackBytes)
	if w.Passages > 0 && w.Postings == 0 {
		bytes = MaxPackBytes
	}
	return revision, s.cache.reserve(ctx, p, bytes)
}

// change is what became of a document. A document that is not found any more
// comes too, until it is forgotten.
type change struct {
	Document id.Document
	Revision int64
	// Found says that its passages can be found, of which it has so many.
	Found    bool
	Chunks   int64
	Tags     []string
	Language string
	// forms are what the index adds.
	forms [][]byte
}

// unanalyzed says that the passages were written by the release before, which kept
// its forms elsewhere (00023_knowledge_index.sql).
func (c *change) unanalyzed() bool { return c.Found && c.Chunks > 0 && len(c.forms) == 0 }

// selectChanges reads what changed of a pack since a revision, in the order of the
// revisions, a row for each form. It rides knowledge_document_by_revision.
const selectChanges = `
	SELECT d.id, d.revision, d.deleted_at IS NULL AND d.generation > 0, d.chunks, d.tags, COALESCE(d.language, ''), x.form
	FROM knowledge_document d
	LEFT JOIN knowledge_index x ON x.org_id = d.org_id AND x.document_id = d.id AND x.generation = d.generation AND d.deleted_at IS NULL
	WHERE d.org_id = $1 AND d.base_id = $2 AND d.revision > $3 ORDER BY d.revision, x.part`

// follow applies what changed in a pack since a revision, as it comes: no more
// than one document's forms is in memory beside the index. Who calls it has the
// pack's turn.
func (s *Searcher) follow(ctx context.Context, p *pack, since int64) error {
	var (
		stale []change
		last  int64
	)
	err := s.tenants.Read(ctx, p.at.org, func(r *tenant.Reads) {
		stale, last = nil, since
		r.Query(func(rows pgx.Rows) error {
			return eachChange(rows, func(c change) error {
				last = c.Revision
				if c.unanalyzed() {
					stale = append(stale, c)
					return nil
				}
				err := s.apply(p, &c)
				if errors.Is(err, search.ErrVersion) {
					c.forms = nil
					stale, err = append(stale, c), nil
				}
				return err
			})
		}, selectChanges, p.at.org, p.at.base, since)
	})
	for i := range stale {
		if err == nil {
			err = s.reanalyse(ctx, p, &stale[i])
		}
	}
	if err == nil {
		err = s.tenants.Read(ctx, p.at.org, func(r *tenant.Reads) {
			r.Query(func(rows pgx.Rows) error { return s.addVectors(p, rows) }, selectVectors, p.at.org, p.at.base, since)
		})
	}
	if errors.Is(err, ErrTooLarge) {
		s.cache.drop(p)
	}
	if err != nil {
		return fmt.Errorf("pack %s: %w", p.at.base, err)
	}
	p.revision.Store(last)
	return s.cache.resize(p, p.size())
}

// selectVectors reads the vectors of the documents that changed since a revision. It rides
// knowledge_document_by_revision.
const selectVectors = `
	SELECT v.document_id, v.space, v.form FROM knowledge_document d
	JOIN knowledge_vector v ON v.org_id = d.org_id AND v.document_id = d.id AND v.generation = d.generation
	WHERE d.org_id = $1 AND d.base_id = $2 AND d.revision > $3 AND d.deleted_at IS NULL AND d.embedded_generation = d.generation
		AND v.space = d.embedded_space
	ORDER BY d.revision, v.part`

// addVectors adds the rows of selectVectors, as far as there is room: passages without a vector
// are found by their words.
func (s *Searcher) addVectors(p *pack, rows pgx.Rows) error {
	for rows.Next() {
		var (
			document id.Document
			space    vector.Space
			form     []byte
		)
		if err := rows.Scan(&document, &space, &form); err != nil {
			return err
		}
		if !s.cache.spare(p, p.size()+int64(len(form))) {
			continue
		}
		if err := p.addVectors(document, space, form); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (p *pack) addVectors(d id.Document, space vector.Space, form []byte) error {
	p.vectorsMu.Lock()
	defer p.vectorsMu.Unlock()
	return p.vectors.Add(d, space, form)
}

// size is what the pack takes in memory.
func (p *pack) size() int64 {
	_, _, bytes := p.index.Size()
	p.vectorsMu.RLock()
	defer p.vectorsMu.RUnlock()
	return bytes + p.vectors.Bytes()
}

// eachChange gathers the rows of selectChanges, each document's forms.
func eachChange(rows pgx.Rows, fn func(change) error) error {
	var one change
	for rows.Next() {
		var (
			next change
			form []byte
		)
		if err := rows.Scan(&next.Document, &next.Revision, &next.Found, &next.Chunks, &next.Tags, &next.Language, &form); err != nil {
			return err
		}
		if next.Document != one.Document {
			if err := emit(one, fn); err != nil {
				return err
			}
			one = next
		}
		if form != nil {
			one.forms = append(one.forms, form)
		}
	}
	if err := rows.Err(); err != nil {
		return err // the last document may lack forms
	}
	return emit(one, fn)
}

// emit passes a change on, unless it is none.
func emit(c change, fn func(change) error) error {
	if c.Document.IsZero() {
		return nil
	}
	return fn(c)
}

// apply makes a change in a pack's index, where there is room for it.
func (s *Searcher) apply(p *pack, c *change) error {
	p.putVectors(c)
	p.versions.put(c)
	if !c.Found || len(c.forms) == 0 {
		p.index.Remove(c.Document)
		return nil
	}
	stored := int64(0)
	for _, form := range c.forms {
		stored += int64(len(form))
	}
	if err := s.fit(p, stored); err != nil {
		return err
	}
	if err := p.index.Add(c.Document, c.Tags, c.Language, c.forms...); err != nil {
		return err
	}
	return s.fit(p, 0)
}

// fit notes what a pack takes, besides so many bytes for what it is given. What it
// was reserved is not given back before it is filled.
func (s *Searcher) fit(p *pack, besides int64) error {
	_, _, bytes := p.index.Size()
	if bytes > s.most {
		return ErrTooLarge
	}
	return s.cache.widen(p, p.size()+besides)
}

// putVectors makes a document one whose vectors are still to come, or takes it out.
func (p *pack) putVectors(c *change) {
	p.vectorsMu.Lock()
	defer p.vectorsMu.Unlock()
	if c.Found {
		p.vectors.Put(c.Document, c.Tags, c.Language)
	} else {
		p.vectors.Remove(c.Document)
	}
}

// reanalyse enters a document that another release read.
func (s *Searcher) reanalyse(ctx context.Context, p *pack, c *change) error {
	d, err := GetDocument(ctx, s.tenants, p.at.org, c.Document)
	if errdefs.IsAbsent(err, DocumentNoun) {
		return nil
	}
	if err != nil {
		return err
	}
	for from := int64(0); ; from += chunksAtOnce {
		chunks, err := ListChunks(ctx, s.tenants, p.at.org, c.Document, from, chunksAtOnce)
		if err != nil {
			return err
		}
		passages := make([]search.Text, len(chunks))
		for i := range chunks {
			passages[i] = chunks[i].text(d.Title)
		}
		forms, _, err := search.Build(c.Language, passages)
		if err != nil {
			return errors.Join(ErrTooLarge, err)
		}
		c.forms = append(c.forms, forms...)
		if len(chunks) < chunksAtOnce {
			return s.apply(p, c)
		}
	}
}
