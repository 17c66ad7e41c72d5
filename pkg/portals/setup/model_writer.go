package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/model"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/store/tenant"
)

// ModelWriter has an organization's connected model write.
type ModelWriter struct {
	Tenants *tenant.Tenants
	Opener  *connection.Opener
	Report  *connection.Reporter
	Egress  *egress.Guard
	Clock   clock.PassiveClock
}

// How a model is asked, and how long it may take.
const (
	maxWritten = 120_000
	maxTokens  = 8000
	// temperature is low: the sources are to be kept to.
	temperature = 0.2
	firstPiece  = 30 * time.Second
	wholeAnswer = 3 * time.Minute
)

// ErrNoModel says that the organization has no connected model that works.
var ErrNoModel = errors.New("no model is connected")

// ChooseModel finds the connected model that writes: the newest that works. The
// error can be ErrNoModel.
func ChooseModel(ctx context.Context, t *tenant.Tenants, org id.Org) (id.Connection, error) {
	found, err := connection.List(ctx, t, org, connection.Filter{Kind: connection.Model, State: connection.Active}, id.Connection{}, 1)
	if err == nil && len(found) == 0 {
		err = ErrNoModel
	}
	if err != nil {
		return id.Connection{}, err
	}
	return found[0].ID, nil
}

// modelConversation is a model that writes for an organization.
type modelConversation struct {
	scribe *ModelWriter
	opened connection.Opened
	model  model.Model
}

// open finds the organization's model. The error is ErrNoModel where it has none.
func (s *ModelWriter) open(ctx context.Context, org id.Org) (*modelConversation, error) {
	chosen, err := ChooseModel(ctx, s.Tenants, org)
	if err != nil {
		return nil, err
	}
	opened, err := s.Opener.Open(ctx, org, chosen)
	if errdefs.IsAbsent(err, connection.Noun) || errors.Is(err, connection.ErrDisabled) {
		return nil, ErrNoModel // since it was chosen
	}
	if err != nil {
		return nil, err
	}
	m := opened.Model(s.Egress, "", model.Timeouts{First: firstPiece, Between: firstPiece, Whole: wholeAnswer})
	return &modelConversation{s, opened, m}, nil
}

// errNonsense says that a model's answer is not what was asked for.
var errNonsense = errors.New("the model's answer is not what was asked for")

// ask has the model write a JSON object that read makes sense of, and asks once
// more where that is errNonsense. What a model is shown is data, whatever it says.
func (p *modelConversation) ask(ctx context.Context, orders, material string, read func(object []byte) error) error {
	var err error
	for range 2 {
		began := p.scribe.Clock.Now()
		var answer string
		if answer, err = p.stream(ctx, orders, material); err == nil {
			err = read(object(answer))
		}
		if !errors.Is(err, errNonsense) {
			p.scribe.Report.Report(p.opened.Org, p.opened.ID, connection.OutcomeOf("write", began, p.scribe.Clock.Now(), err))
			return err
		}
	}
	return err
}

func (p *modelConversation) stream(ctx context.Context, orders, material string) (string, error) {
	var answer strings.Builder
	err := p.model.Stream(ctx, model.Request{
		Messages:    []model.Message{{Role: "system", Content: orders}, {Role: "user", Content: material}},
		Temperature: temperature, MaxTokens: maxTokens,
	}, func(piece model.Piece) error {
		if answer.Len()+len(piece.Text) > maxWritten {
			return errNonsense
		}
		answer.WriteString(piece.Text)
		return nil
	})
	if errors.Is(err, model.ErrLength) || errors.Is(err, model.ErrFiltered) {
		err = fmt.Errorf("%w: %w", errNonsense, err)
	}
	return answer.String(), err
}

// object is the JSON object in an answer, without what models like to put around
// it; empty where there is none.
func object(answer string) []byte {
	from, to := strings.IndexByte(answer, '{'), strings.LastIndexByte(answer, '}')
	if from < 0 || to < from {
		return nil
	}
	return []byte(answer[from : to+1])
}

// decode reads an object that a model wrote. The error is errNonsense.
func decode(object []byte, into any) error {
	if err := json.Unmarshal(object, into); err != nil {
		return fmt.Errorf("%w: %w", errNonsense, err)
	}
	return nil
}

// refusal is why a job that needs a model cannot be done; empty of what is not the
// model's fault.
func refusal(err error) string {
	switch {
	case errors.Is(err, errNonsense):
		return string(upstream.Malformed)
	case errors.Is(err, ErrNoModel):
		return "no_connection"
	default:
		return string(upstream.CodeOf(err))
	}
}

// only is a text in some languages alone, each of at most so many bytes.
func only(text language.Words, languages []string, limit int) language.Words {
	kept := language.Words{}
	for _, code := range languages {
		if said := strings.TrimSpace(strings.ReplaceAll(text[code], "\x00", "")); said != "" {
			kept[code] = clip(said, limit)
		}
	}
	return kept
}
