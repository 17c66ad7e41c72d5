// Package embedding asks services with an OpenAI-compatible address for the vectors of
// texts: POST /embeddings. Texts that mean much the same have vectors of nearly one
// direction, in whatever words and language they are.
package embedding

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"net/http"
	"strings"

	"visavis.dev/pkg/provider/upstream"
)

const (
	// MostTexts is how many texts a request may have.
	MostTexts = 64
	// MaxDimensions bounds a vector.
	MaxDimensions = 4096
	// MaxAnswer bounds an answer, in bytes: a number takes some twenty.
	MaxAnswer = MostTexts * MaxDimensions * 24
)

// Client asks the service. Its errors are upstream's, or context.Canceled.
type Client struct {
	// HTTP makes the requests; a guard's.
	HTTP *http.Client
	// BaseURL is what comes before /embeddings, and Model the name there.
	BaseURL, Model string
	// Dimensions is how many numbers a vector is to have; 0 for as many as the model has.
	Dimensions int
	// Secrets are tried in turn while they are refused; none for a service that asks for none.
	Secrets []string
}

// request and answer are the service's.
type request struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Dimensions int      `json:"dimensions,omitempty"`
	Encoding   string   `json:"encoding_format"`
}

type answer struct {
	Data []struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	} `json:"data"`
}

// Embed answers the vectors of at most MostTexts texts, in their order, each of length 1.
func (c Client) Embed(ctx context.Context, texts []string) (vectors [][]float32, err error) {
	body, err := json.Marshal(request{c.Model, texts, c.Dimensions, "float"})
	if err != nil {
		return nil, err
	}
	err = upstream.WithSecrets(c.Secrets, func(secret string) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(c.BaseURL, "/")+"/embeddings", bytes.NewReader(body))
		if err != nil {
			return &upstream.Error{Code: upstream.AddressRefused, Err: err}
		}
		if secret != "" {
			req.Header.Set("Authorization", "Bearer "+secret)
		}
		req.Header.Set("Content-Type", "application/json")
		var a answer
		if err := upstream.ExchangeJSON(c.HTTP, req, &a); err != nil {
			return err
		}
		vectors, err = a.vectors(len(texts), c.Dimensions)
		return err
	})
	return vectors, err
}

// vectors are those of an answer, in the order of the texts: one for each, all of one size,
// which is dimensions where that is not 0.
func (a answer) vectors(texts, dimensions int) ([][]float32, error) {
	malformed := &upstream.Error{Code: upstream.Malformed}
	if len(a.Data) != texts {
		return nil, malformed
	}
	vectors := make([][]float32, texts)
	for _, d := range a.Data {
		if dimensions == 0 {
			dimensions = len(d.Embedding)
		}
		if d.Index < 0 || d.Index >= texts || vectors[d.Index] != nil ||
			len(d.Embedding) != dimensions || len(d.Embedding) > MaxDimensions || !normalize(d.Embedding) {
			return nil, malformed
		}
		vectors[d.Index] = d.Embedding
	}
	return vectors, nil
}

// normalize makes a vector one of length 1; not one without a direction.
func normalize(v []float32) bool {
	sum := 0.0
	for _, n := range v {
		sum += float64(n) * float64(n)
	}
	length := math.Sqrt(sum)
	if length == 0 || math.IsInf(length, 0) || math.IsNaN(length) {
		return false
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / length)
	}
	return true
}
