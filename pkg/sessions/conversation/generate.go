package conversation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"visavis.dev/pkg/provider/model"
	"visavis.dev/pkg/provider/upstream"
)

// maxAnswerBytes is where a model that does not come to an end is cut off.
const maxAnswerBytes = 8000

// Why a model was given up. The first two are failures of the service's; the last is none,
// since it was not asked.
var (
	errSlow   = fmt.Errorf("the model kept silent: %w", upstream.ErrTimeout)
	errSilent = fmt.Errorf("the model said nothing: %w", upstream.ErrMalformed)
	errPaused = errors.New("the model failed lately and is left alone for a while")
)

// modelError is a word for why a model was given up.
func modelError(err error) string {
	switch {
	case errors.Is(err, errPaused):
		return "paused"
	case upstream.CodeOf(err) != "":
		return string(upstream.CodeOf(err))
	}
	return "failed"
}

// generative is the brain of a connected model. It answers from retrieved passages, and
// what it writes is checked against them; as long as nothing was said, whatever goes wrong
// makes the built-in brain answer instead, or ends the answer with ErrNoModel where it may not.
type generative struct {
	retrieval
	// running counts the calls under way, which may outlive their answers.
	running *sync.WaitGroup
	// patience keeps a conversation from waiting again for a model that just kept it waiting.
	patience *model.Breaker
}

// Answer implements Brain.
func (b *generative) Answer(ctx context.Context, q Question) Stream {
	return func(yield func(Piece, error) bool) {
		began := b.Clock.Now()
		passages, took, err := b.served(ctx, q)
		if err != nil && b.Persona.Knowledge.Mode == strict {
			yield(Piece{}, err)
			return
		}
		a := &generation{
			brain: b, question: q, began: began, passages: passages, basis: newBasis(b.Config, q, passages),
			retrieval: took, modelFirst: untold, yield: yield,
		}
		instead := q
		if q.explain != nil {
			_ = b.extracted(q, b.supporting(passages)) // explained, whoever answers
			instead.explain = nil
		}
		a.run(ctx, b.messages(q, passages), func() []Piece { return b.extracted(instead, b.supporting(passages)) })
	}
}

// served are the passages that a model is given: all that were found, since it can tell by
// itself what they are worth.
func (b *generative) served(ctx context.Context, q Question) ([]Passage, time.Duration, error) {
	if b.Knowledge == nil {
		return nil, untold, nil
	}
	limit := retrievalLimits[b.Persona.Knowledge.Retrieval]
	if limit == 0 {
		limit = retrievalLimits["balanced"]
	}
	from := b.Clock.Now()
	texts := []string{searchText(q)}
	for _, text := range []string{q.Text, b.rewritten(ctx, q)} {
		if text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	var found []Passage
	for _, text := range texts {
		own, err := b.search(ctx, q, text, limit)
		if err != nil {
			return nil, b.Clock.Since(from), err
		}
		found = merged(found, own)
	}
	found = slices.DeleteFunc(found, func(p Passage) bool { return !(p.Score > 0) })
	slices.SortStableFunc(found, func(a, b Passage) int { return cmp.Compare(b.Score, a.Score) })
	q.explain.searched(texts, found, b.minScore())
	return found[:min(len(found), limit)], b.Clock.Since(from), nil
}

// supporting are those of the passages that the built-in brain would look at.
func (b *generative) supporting(passages []Passage) []Passage {
	least := b.minScore()
	return slices.DeleteFunc(slices.Clone(passages), func(p Passage) bool { return p.Score < least })
}

// Greet is a greeting of the model's own, or the given one.
func (b *generative) Greet(ctx context.Context, q Question, builtin string) Stream {
	return func(yield func(Piece, error) bool) {
		a := &generation{brain: b, question: q, began: b.Clock.Now(), basis: newBasis(b.Config, q, nil), retrieval: untold, modelFirst: untold, yield: yield, free: true}
		ask := []model.Message{
			{Role: "system", Content: b.system(q, nil)},
			{Role: "user", Content: "(The person has just joined. Greet them in one or two short sentences and offer your help. Cite nothing.)"},
		}
		a.run(ctx, ask, func() []Piece { return []Piece{{Text: builtin}} })
	}
}

// generation is one answer in the making.
type generation struct {
	brain                 *generative
	question              Question
	began                 time.Time
	passages              []Passage
	basis                 *basis
	retrieval, modelFirst time.Duration
	yield                 func(Piece, error) bool
	// free words rest on nothing, as a greeting's.
	free bool

	split splitter
	said  bool
	held  bool // something that it wrote was not said
	over  bool // nothing more is to be said
	bytes int

	// wrote is what it wrote since it was asked, and calls the tools that it then asked for.
	wrote strings.Builder
	calls []model.ToolCall
	// used says that a tool was, whose doing cannot be answered by somebody else.
	used bool
	// tellings is how many sentences may yet tell what tools did.
	tellings int
	// performed counts the tools that were asked for.
	performed int
}

func (a *generation) run(ctx context.Context, ask []model.Message, instead func() []Piece) {
	err := a.converse(ctx, ask)
	a.question.explain.answeredBy(ByModel)
	a.question.explain.gaveUp(err)
	switch {
	case a.over || ctx.Err() != nil:
	case !a.said && a.used && (err == nil || !a.brain.ModelOnly):
		// What was done cannot be answered by somebody else.
	case !a.said && a.brain.ModelOnly && a.held && err == nil:
		a.unknown()
	case !a.said && a.brain.ModelOnly:
		a.yield(Piece{}, errors.Join(ErrNoModel, err))
	case !a.said:
		a.question.explain.answeredBy(ByBuiltin)
		for _, piece := range instead() {
			piece.Retrieval, piece.ModelFirst = a.retrieval, a.modelFirst
			if !a.yield(piece, nil) {
				return
			}
		}
	case err != nil:
		a.yield(Piece{Retrieval: a.retrieval, ModelFirst: a.modelFirst}, err)
	}
}

// unknown says that the answer is not known.
func (a *generation) unknown() {
	nothing := unknown(a.question.Language)
	nothing.Retrieval, nothing.ModelFirst = a.retrieval, a.modelFirst
	a.said = true
	a.yield(nothing, nil)
}

// listen has the model write and passes its sentences on. The error is nil when
// the answer came to its end, or asks for tools.
func (a *generation) listen(ctx context.Context, ask []model.Message, tools []model.Tool) error {
	b := a.brain
	admitted, ok := b.admit()
	if !ok {
		return errPaused
	}
	asked := b.Clock.Now()
	streaming, cancel := context.WithCancel(ctx)
	defer cancel()
	pieces, ended := make(chan model.Piece), make(chan error, 1)
	b.running.Go(func() {
		ended <- b.write(streaming, model.Request{
			Messages: ask, Temperature: b.Persona.Model.Temperature, MaxTokens: b.Persona.Model.MaxTokens, Tools: tools,
		}, func(piece model.Piece) error {
			select {
			case pieces <- piece:
				return nil
			case <-streaming.Done():
				return streaming.Err()
			}
		})
	})
	err := a.follow(ctx, pieces, ended, asked)
	if ctx.Err() != nil {
		admitted.abandon() // interrupted: that says nothing of the model
		return ctx.Err()
	}
	admitted.report(err)
	if b.ModelOutcome != nil {
		b.ModelOutcome(err, b.Clock.Since(asked))
	}
	return err
}

// write has the model write. A fault of the program's in reading what a service sends ends
// that answer alone.
func (b *generative) write(ctx context.Context, r model.Request, each func(model.Piece) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			b.Log.ErrorContext(ctx, "reading a model's answer panicked", "panic", p, "stack", string(debug.Stack()))
			err = errPanicked
		}
	}()
	return b.Model.Stream(ctx, r, each)
}

// admission is a call of a model that the conversation's own breaker let through, and that
// of the connection's conversations together.
type admission struct{ patience, connection *model.Call }

// admit says whether the model may be asked now: neither this conversation nor the
// connection's others just found it to be away.
func (b *generative) admit() (a admission, ok bool) {
	if b.ModelOnly {
		return a, true // nobody answers instead
	}
	if a.patience, ok = b.patience.Allow(); !ok {
		return a, false
	}
	if a.connection, ok = b.ModelBreaker.Allow(); !ok {
		a.patience.Abandon()
	}
	return a, ok
}

func (a admission) abandon() {
	a.patience.Abandon()
	a.connection.Abandon()
}

// report tells what came of asking the model. The conversation itself only minds having
// been kept waiting: what fails at once costs nobody anything.
func (a admission) report(err error) {
	if errors.Is(err, upstream.ErrTimeout) {
		a.patience.Report(err)
	} else {
		a.patience.Report(nil)
	}
	a.connection.Report(err)
}

// follow takes the model's pieces until it ends, or is silent for too long: until the first
// sentence that can be said, and then from one piece to the next.
func (a *generation) follow(ctx context.Context, pieces <-chan model.Piece, ended <-chan error, asked time.Time) error {
	patience := time.Duration(a.brain.Persona.Model.TimeoutMs) * time.Millisecond
	for {
		left := patience
		if !a.said {
			left -= a.brain.Clock.Since(a.began)
		}
		timer := a.brain.Clock.NewTimer(left)
		select {
		case piece := <-pieces:
			timer.Stop()
			if piece.Call != nil {
				a.calls = append(a.calls, *piece.Call)
				continue
			}
			if a.modelFirst < 0 && strings.TrimSpace(piece.Text) != "" {
				a.modelFirst = a.brain.Clock.Since(asked)
			}
			if !a.take(piece.Text) {
				return nil
			}
		case err := <-ended:
			timer.Stop()
			return a.finish(err)
		case <-timer.C():
			return errSlow
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// take says the sentences that a piece completes; false ends the answer.
func (a *generation) take(piece string) bool {
	a.wrote.WriteString(piece)
	if a.bytes += len(piece); a.bytes > maxAnswerBytes {
		a.over = a.said
		return false
	}
	for _, sentence := range a.split.add(piece) {
		if !a.say(sentence) {
			return false
		}
	}
	return true
}

func (a *generation) finish(err error) error {
	if err != nil {
		return err // half a sentence is not said
	}
	if rest := a.split.end(); rest != "" {
		a.say(rest)
	}
	if !a.said && !a.over && !a.held && !a.used && len(a.calls) == 0 {
		return errSilent
	}
	return nil
}

// say passes a sentence on, if it may be said; false ends the answer.
func (a *generation) say(sentence string) bool {
	if strings.Contains(sentence, unknownMark) {
		a.over = true
		if !a.said {
			a.unknown()
		}
		return false
	}
	words, cited := uncite(sentence)
	if claimsHumanity(words) {
		if !a.hold(words, heldHuman) {
			return false
		}
		return a.pass(Piece{Text: bookOf(a.question.Language).disclosure, Act: ActDisclosure})
	}
	if words == "" {
		if sources := a.sources(cited); len(sources) > 0 && a.said {
			return a.pass(Piece{Sources: sources, Grounded: new(true)}) // of the sentence before
		}
		return true
	}
	found := a.judge(words, cited)
	if found.held != "" {
		return a.hold(words, found.held)
	}
	return a.pass(Piece{Text: words, Sources: found.sources, Grounded: found.grounded})
}

// pass passes a piece on; false ends the answer.
func (a *generation) pass(p Piece) bool {
	p.Retrieval, p.ModelFirst = a.retrieval, a.modelFirst
	a.said = a.said || p.Text != ""
	if !a.yield(p, nil) {
		a.over = true
		return false
	}
	return true
}

// hold keeps a sentence back; false ends the answer.
func (a *generation) hold(words, reason string) bool {
	a.held = true
	a.question.explain.held(words, reason)
	if !a.yield(Piece{withheld: words, Retrieval: a.retrieval, ModelFirst: a.modelFirst}, nil) {
		a.over = true
		return false
	}
	return true
}

// sources are the passages of the numbers a model cited, each once; numbers
// that it made up are dropped.
func (a *generation) sources(cited []int) []Source {
	var out []Source
	slices.Sort(cited)
	for _, n := range slices.Compact(cited) {
		if n >= 1 && n <= len(a.passages) {
			out = append(out, sourceOf(&a.passages[n-1]))
		}
	}
	return out
}

var _, _ Brain = (*generative)(nil), extractive{}
