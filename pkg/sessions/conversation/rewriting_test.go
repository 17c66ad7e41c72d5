package conversation

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/provider/model"
)

// A follow-up is searched for as the model says it anew; where that takes too long, or goes
// wrong, the built-in thread is what is left.
func TestFollowUpsAreRewritten(t *testing.T) {
	const anew = `"What does delivery cost?"`
	for name, c := range map[string]struct {
		rewrite   func(context.Context, func(string) error) error
		retrieval string
		served    bool
		asked     int
	}{
		"well":       {writes(anew).stream, "balanced", true, 3},
		"fast":       {writes(anew).stream, "fast", false, 2},
		"hanging":    {hang, "balanced", false, 3},
		"broken":     {func(context.Context, func(string) error) error { return errBroken }, "balanced", false, 3},
		"endless":    {writes(strings.Repeat("delivery ", 100)).stream, "balanced", false, 3},
		"speechless": {writes(" ").stream, "balanced", false, 3},
	} {
		t.Run(name, func(t *testing.T) {
			m := &rewriter{scribe: writes("I am sorry, please ask again."), rewrite: c.rewrite}
			play(t, func(config *Config) {
				withModel(m.scribe)(config)
				config.Model, config.Persona.Knowledge.Retrieval = m, c.retrieval
			}, func(s *stage) {
				s.ready()
				s.types("Will you bring a loaf to my door?")
				s.wait(time.Second)
				s.types("How much is that?")
				s.wait(time.Second)
				require.Len(t, m.asked, c.asked)
				last := m.asked[len(m.asked)-1].Messages
				require.Equal(t, "How much is that?", last[len(last)-1].Content)
				require.Equal(t, c.served, strings.Contains(last[0].Content, "Delivery costs 4.90 euros."))
				require.NotContains(t, s.lastTurn().Text, "know", "the model answers")
			})
		})
	}
}

// rewriter is a model that says questions anew in a way of its own.
type rewriter struct {
	*scribe
	rewrite func(context.Context, func(string) error) error
}

func (m *rewriter) Stream(ctx context.Context, r model.Request, each func(model.Piece) error) error {
	if !strings.HasPrefix(r.Messages[0].Content, "Rewrite") {
		return m.scribe.Stream(ctx, r, each)
	}
	m.mu.Lock()
	m.asked = append(m.asked, r)
	m.mu.Unlock()
	return m.rewrite(ctx, inWords(each))
}
