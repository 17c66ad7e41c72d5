package connection

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/provider/embedding"
	"visavis.dev/pkg/text/vector"
)

// Embedder is what a connection of that kind makes vectors with.
func (o Opened) Embedder(g *egress.Guard) embedding.Client {
	return embedding.Client{
		HTTP: o.Kind.Guard(g).ClientWithin(o.Timeout(), embedding.MaxAnswer), BaseURL: o.Config.BaseURL(o.Provider),
		Model: o.Config.Text("model"), Dimensions: o.Config.Number("dimensions"), Secrets: o.secrets(),
	}
}

// QueryText is a question as the connection's model wants it, and PassageText a passage.
func (c Config) QueryText(text string) string { return c.Text("queryPrefix") + text }

// PassageText is a passage as the connection's model wants it.
func (c Config) PassageText(text string) string { return c.Text("passagePrefix") + text }

// Space names the vectors that can be compared with those which the connection makes now: by
// all of its config that decides on them.
func (o Opened) Space() vector.Space {
	form, err := json.Marshal([]any{
		o.ID, o.Config.BaseURL(o.Provider), o.Config.Text("model"), o.Config.Number("dimensions"), o.Config.Text("queryPrefix"),
		o.Config.Text("passagePrefix"),
	})
	if err != nil {
		panic(err) // texts and a number always have a form
	}
	sum := sha256.Sum256(form)
	return vector.Space(hex.EncodeToString(sum[:12]))
}
