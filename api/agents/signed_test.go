package agents_test

import (
	"bytes"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/visits/agent"
)

// documentOf is the DID document of whoever signed an answer.
func documentOf(t *testing.T, w *apitest.World, answer map[string]any) []byte {
	t.Helper()
	_, path, ok := strings.Cut(apitest.At(answer, "proof", "issuerUrl").(string), "/v1/")
	require.True(t, ok)
	found := w.Do(apitest.Request{Method: http.MethodGet, Path: "/" + path})
	require.Equal(t, http.StatusOK, found.Status, "%s", found.Raw)
	return found.Raw
}

// verified checks an answer as its document says, by nothing of the program's. Go writes the
// strings of an answer as RFC 8785 does, and the names in their order.
func verified(t *testing.T, answer map[string]any, document []byte) error {
	t.Helper()
	var did struct {
		Methods []struct {
			ID  string
			Key *struct{ N, E string } `json:"publicKeyJwk"`
		} `json:"verificationMethod"`
	}
	require.NoError(t, json.Unmarshal(document, &did))
	head, signature, ok := strings.Cut(apitest.At(answer, "proof", "jws").(string), "..")
	require.True(t, ok)
	b64 := func(text string) []byte {
		b, err := base64.RawURLEncoding.DecodeString(text)
		require.NoError(t, err)
		return b
	}
	var header struct{ Alg, Kid, Typ string }
	require.NoError(t, json.Unmarshal(b64(head), &header))
	require.Equal(t, []string{"RS256", "agent-answer+jws"}, []string{header.Alg, header.Typ})
	var signed map[string]any
	text, err := json.Marshal(answer)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &signed))
	delete(signed, "conversationId")
	delete(signed["proof"].(map[string]any), "jws")
	var payload bytes.Buffer
	to := json.NewEncoder(&payload)
	to.SetEscapeHTML(false)
	require.NoError(t, to.Encode(signed))
	hash := sha256.Sum256([]byte(head + "." + base64.RawURLEncoding.EncodeToString(bytes.TrimSpace(payload.Bytes()))))
	for _, m := range did.Methods {
		if m.ID == header.Kid {
			key := &rsa.PublicKey{N: new(big.Int).SetBytes(b64(m.Key.N)), E: int(new(big.Int).SetBytes(b64(m.Key.E)).Int64())}
			return rsa.VerifyPKCS1v15(key, crypto.SHA256, hash[:], b64(signature))
		}
	}
	t.Fatalf("no key %s in %s", header.Kid, document)
	return nil
}

func TestAnswersAreSigned(t *testing.T) {
	w := apitest.NewWorld(t)
	slug := w.Agent(t, w.Acme)
	question := map[string]any{"question": " When does the museum open? <now> ", "language": "en"}
	answer := ask(t, w, slug, question).Data(t)
	document := documentOf(t, w, answer)
	require.NoError(t, verified(t, answer, document))
	require.Equal(t, question["question"], apitest.At(answer, "proof", "question"))
	require.True(t, strings.HasSuffix(apitest.At(answer, "proof", "agent").(string), "/agents/"+slug))

	raw := func(change func(map[string]any)) []byte {
		text, err := json.Marshal(answer)
		require.NoError(t, err)
		var copied map[string]any
		require.NoError(t, json.Unmarshal(text, &copied))
		change(copied)
		text, err = json.Marshal(copied)
		require.NoError(t, err)
		return text
	}
	_, err := agent.Verify(raw(func(a map[string]any) { delete(a, "conversationId") }), document)
	require.NoError(t, err, "who asked keeps that")
	for name, change := range map[string]func(map[string]any){
		"answer":   func(a map[string]any) { a["answer"] = "At ten." },
		"source":   func(a map[string]any) { apitest.At(a["sources"].([]any)[0]).(map[string]any)["snippet"] = "at ten" },
		"question": func(a map[string]any) { a["proof"].(map[string]any)["question"] = "When does it close?" },
		"moment":   func(a map[string]any) { a["proof"].(map[string]any)["answeredAt"] = "2020-01-01T00:00:00Z" },
		"more":     func(a map[string]any) { a["price"] = "none" },
	} {
		_, err := agent.Verify(raw(change), document)
		require.ErrorIs(t, err, agent.ErrAltered, name)
	}
	follow := ask(t, w, slug, map[string]any{"question": "And when does it close?", "language": "en", "conversationId": answer["conversationId"]}).Data(t)
	require.NoError(t, verified(t, follow, document))
	require.Equal(t, []any{question["question"]}, apitest.At(follow, "proof", "after"))
	_, err = agent.Verify(raw(func(a map[string]any) {
		a["proof"].(map[string]any)["issuerUrl"] = "https://forger.example.com/v1/issuers/x/did.json"
	}), document)
	require.ErrorIs(t, err, agent.ErrAltered, "the document is of somebody else")

	other := ask(t, w, w.Agent(t, w.Globex), question).Data(t)
	_, err = agent.Verify(raw(func(map[string]any) {}), documentOf(t, w, other))
	require.ErrorIs(t, err, agent.ErrAltered, "by another organization's keys")

	// What the passage says is what its hash is of.
	source := answer["sources"].([]any)[0].(map[string]any)
	sum := sha256.Sum256([]byte(source["snippet"].(string)))
	require.Equal(t, hex.EncodeToString(sum[:]), source["sha256"], "the passage is short, and is its snippet")
}

// A first question is answered from memory for as long as the answer must be the same.
func TestTheSameQuestionIsAnsweredOnce(t *testing.T) {
	now := clocktest.NewFakeClock(time.Now().Truncate(time.Minute))
	w := apitest.NewWorld(t, func(o *apitest.Options) { o.Clock = now })
	slug := w.Agent(t, w.Acme)
	question := map[string]any{"question": "When does the museum open?", "language": "en"}
	proof := func(body map[string]any) map[string]any {
		return ask(t, w, slug, body).Data(t)["proof"].(map[string]any)
	}
	first := proof(question)
	now.Step(time.Second)
	require.Equal(t, first, proof(question))
	require.NotEqual(t, first["jws"], proof(map[string]any{"question": "When does the museum close?", "language": "en"})["jws"])

	now.Step(time.Minute)
	later := proof(question)
	require.NotEqual(t, first["answeredAt"], later["answeredAt"], "what it says can depend on the minute")
	require.Equal(t, first["edition"], later["edition"])

	base := w.CallAs(t, "listKnowledgeBases", "", w.Acme.New, nil).JSON(t)["data"].([]any)
	for _, b := range base {
		w.AddDocument(t, w.Acme, b.(map[string]any)["id"].(string))
	}
	w.ReadDocuments(t)
	changed := proof(question)
	require.NotEqual(t, later["edition"], changed["edition"], "the packs hold something else")
}
