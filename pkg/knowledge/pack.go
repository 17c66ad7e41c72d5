package knowledge

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/id"
	"visavis.dev/pkg/search"
	"visavis.dev/pkg/tenant"
)

// pack is a pack in memory, as it was at a revision.
type pack struct {
	index *search.Index
	// revision is the last that was applied; negative before the first load.
	revision atomic.Int64
	// turn is held by who applies changes.
	turn chan struct{}
	// bytes is the Searcher's to know.
	bytes int64
}

func newPack() *pack {
	p := &pack{index: search.New(), turn: make(chan struct{}, 1)}
	p.revision.Store(-1)
	return p
}

func (p *pack) find(q search.Query) []search.Hit { return p.index.Search(q) }

// change is what became of a document.
type change struct {
	Document id.Document
	Revision int64
	// Found says that its passages can be found; analysed is what the search
	// needs of them.
	Found    bool
	Tags     []string
	Language string
	Analysed []byte
}

// selectChanges reads what changed of a pack since a revision, in the order of the
// revisions. It rides knowledge_document_by_revision. A document that is not
// found any more comes too, until it is forgotten.
const selectChanges = `
	SELECT d.id, d.revision, d.deleted_at IS NULL AND d.generation > 0, d.tags, COALESCE(d.language, ''), COALESCE(t.analysed, '')
	FROM knowledge_document d LEFT JOIN knowledge_terms t ON t.org_id = d.org_id AND t.document_id = d.id
	WHERE d.org_id = $1 AND d.base_id = $2 AND d.revision > $3 ORDER BY d.revision`

// selectThere says whether a pack is there, and rides knowledge_base_pkey.
const selectThere = `SELECT revision FROM knowledge_base WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL`

// state is what is read of a pack before a search.
type state struct {
	at      place
	pack    *pack
	there   bool
	known   int64
	changes []change
}

// current are the packs as they are now, of those that are there.
func (s *Searcher) current(ctx context.Context, org id.Org, bases []id.KnowledgeBase) ([]*pack, error) {
	states := make([]state, len(bases))
	for i, b := range bases {
		at := place{org, b}
		states[i] = state{at: at, pack: s.hold(at)}
		if err := s.load(ctx, at, states[i].pack); err != nil {
			return nil, err
		}
	}
	err := s.tenants.Read(ctx, org, func(r *tenant.Reads) {
		for i := range states {
			states[i].queue(r)
		}
	})
	if err != nil {
		return nil, err
	}
	var packs []*pack
	for _, st := range states {
		if !st.there {
			s.drop(st.at)
			continue
		}
		if err := s.apply(ctx, st); err != nil {
			return nil, err
		}
		packs = append(packs, st.pack)
	}
	return packs, nil
}

// queue reads a pack's changes among other reads.
func (st *state) queue(r *tenant.Reads) {
	st.known, st.changes = st.pack.revision.Load(), nil
	var revision int64
	r.QueryRow(&st.there, []any{&revision}, selectThere, st.at.org, st.at.base)
	r.Query(func(rows pgx.Rows) (err error) {
		st.changes, err = pgx.CollectRows(rows, pgx.RowToStructByPos[change])
		return err
	}, selectChanges, st.at.org, st.at.base, st.known)
}

// apply brings a pack up to what was read of it. Another search may have
// brought it further meanwhile; its changes are not undone.
func (s *Searcher) apply(ctx context.Context, st state) error {
	if len(st.changes) == 0 {
		return nil
	}
	if err := st.pack.take(ctx); err != nil {
		return err
	}
	defer st.pack.leave()
	for _, c := range st.changes {
		if c.Revision <= st.pack.revision.Load() {
			continue
		}
		if err := s.enter(ctx, st.at.org, st.pack.index, c); err != nil {
			return err
		}
		st.pack.revision.Store(c.Revision)
	}
	s.measure(st.at, st.pack)
	return nil
}

// load fills a pack that was never loaded. Those who want it meanwhile wait:
// it is read once. Documents are entered as they come, so that the stored
// form of a whole pack is never in memory at once.
func (s *Searcher) load(ctx context.Context, at place, p *pack) error {
	if p.revision.Load() >= 0 {
		return nil
	}
	if err := p.take(ctx); err != nil {
		return err
	}
	defer p.leave()
	if p.revision.Load() >= 0 {
		return nil
	}
	// Who waits next needs it too, whether or not this caller stays.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadTimeout)
	defer cancel()
	var (
		index *search.Index
		last  int64
		stale []change
	)
	err := s.tenants.Read(ctx, at.org, func(r *tenant.Reads) {
		index, last, stale = search.New(), 0, nil
		r.Query(func(rows pgx.Rows) error {
			for rows.Next() {
				c, err := pgx.RowToStructByPos[change](rows)
				if err != nil {
					return err
				}
				last = c.Revision
				if err := enter(index, c); errors.Is(err, search.ErrVersion) {
					c.Analysed = nil
					stale = append(stale, c)
				} else if err != nil {
					return err
				}
			}
			return rows.Err()
		}, selectChanges, at.org, at.base, 0)
	})
	if err != nil {
		return err
	}
	for _, c := range stale {
		if err := s.reanalyse(ctx, at.org, index, c); err != nil {
			return err
		}
	}
	p.index = index
	p.revision.Store(last)
	s.measure(at, p)
	return nil
}

// enter makes a change in an index.
func (s *Searcher) enter(ctx context.Context, org id.Org, index *search.Index, c change) error {
	err := enter(index, c)
	if errors.Is(err, search.ErrVersion) {
		return s.reanalyse(ctx, org, index, c)
	}
	return err
}

func enter(index *search.Index, c change) error {
	if !c.Found || len(c.Analysed) == 0 {
		index.Remove(c.Document)
		return nil
	}
	analysed, err := search.Unmarshal(c.Analysed)
	if err == nil {
		index.Add(c.Document, c.Tags, c.Language, analysed)
	}
	return err
}

// reanalyse enters a document whose stored form another release wrote.
func (s *Searcher) reanalyse(ctx context.Context, org id.Org, index *search.Index, c change) error {
	d, err := GetDocument(ctx, s.tenants, org, c.Document)
	if errors.Is(err, ErrUnknown) || errors.Is(err, ErrGone) {
		return nil
	}
	if err != nil {
		return err
	}
	chunks, err := ListChunks(ctx, s.tenants, org, c.Document, 0, maxChunks)
	if err != nil {
		return err
	}
	passages := make([]search.Text, len(chunks))
	for i := range chunks {
		passages[i] = chunks[i].text(d.Title)
	}
	index.Add(c.Document, c.Tags, c.Language, search.Analyze(c.Language, passages))
	return nil
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

// texts reads the passages that were found, in one trip; whole says that all
// of them are still there.
func (s *Searcher) texts(ctx context.Context, org id.Org, hits []ranked) (found []Passage, whole bool, err error) {
	if len(hits) == 0 {
		return nil, true, nil
	}
	wanted := make([]id.Chunk, len(hits))
	for i, h := range hits {
		wanted[i] = h.Passage
	}
	var read map[id.Chunk]Passage
	err = s.tenants.Read(ctx, org, func(r *tenant.Reads) {
		read = map[id.Chunk]Passage{}
		r.Query(func(rows pgx.Rows) error {
			var p Passage
			_, err := pgx.ForEachRow(rows, []any{
				&p.Document, &p.Base, &p.Chunk, &p.Title, &p.Heading, &p.Text, &p.Language, &p.Page, &p.URL, &p.Position,
			}, func() error {
				read[p.Chunk] = p
				return nil
			})
			return err
		}, selectTexts, org, wanted)
	})
	for _, h := range hits {
		if p, ok := read[h.Passage]; ok {
			p.Score = h.score
			found = append(found, p)
		}
	}
	return found, len(found) == len(hits), err
}

// selectTexts rides knowledge_chunk_by_id.
const selectTexts = `
	SELECT d.id, d.base_id, c.id, d.title, c.heading, c.text, COALESCE(d.language, ''), c.page, c.url, c.position
	FROM knowledge_chunk c
	JOIN knowledge_document d ON d.org_id = c.org_id AND d.id = c.document_id AND d.generation = c.generation AND d.deleted_at IS NULL
	JOIN knowledge_base b ON b.org_id = d.org_id AND b.id = d.base_id AND b.deleted_at IS NULL
	WHERE c.org_id = $1 AND c.id = ANY($2)`
