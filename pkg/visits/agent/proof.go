package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"github.com/go-jose/go-jose/v4"
	"github.com/gowebpki/jcs"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/certificate/badge"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/personas/persona"
)

// proofType is the type that the header of an answer's signature names.
const proofType = "agent-answer+jws"

// ErrAltered says that an answer is not what the organization signed.
var ErrAltered = errors.New("the answer is not what was signed")

// proofOf is what is signed of an answer: its JSON in canonical form (RFC 8785) without what
// only whoever asked has (conversationId) and without the signature (proof.jws).
func proofOf(answer []byte) (payload []byte, jws string, err error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(answer, &fields); err != nil {
		return nil, "", err
	}
	var proof map[string]json.RawMessage
	if err := json.Unmarshal(fields["proof"], &proof); err != nil || proof == nil {
		return nil, "", errors.New("the answer has no proof")
	}
	if text, ok := proof["jws"]; ok {
		if err := json.Unmarshal(text, &jws); err != nil {
			return nil, "", err
		}
	}
	delete(proof, "jws")
	delete(fields, "conversationId")
	if fields["proof"], err = json.Marshal(proof); err != nil {
		return nil, "", err
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return nil, "", err
	}
	payload, err = jcs.Transform(text)
	return payload, jws, err
}

// Sign signs an answer, by its JSON, for the organization that gives it: a detached JWS.
func (a *Agents) Sign(ctx context.Context, of *Agent, answer []byte) (string, error) {
	payload, _, err := proofOf(answer)
	if err != nil {
		return "", err
	}
	return a.options.Registry.SignDetached(ctx, of.Org, payload, proofType)
}

// IssuerURL is where the DID document is that has the keys of an agent's answers.
func (a *Agents) IssuerURL(of *Agent) string { return a.options.Registry.Links.Issuer(of.Org) }

// Verify says which key of a DID document signed an answer, by its JSON. The document must be the
// one that the answer names, at the host of the agent. The error is ErrAltered, or says what cannot
// be read.
func Verify(answer, document []byte) (key string, err error) {
	payload, jws, err := proofOf(answer)
	if err != nil {
		return "", err
	}
	if err := bound(answer, document); err != nil {
		return "", err
	}
	keys, err := badge.TokenKeys(document)
	if err != nil {
		return "", err
	}
	signed, err := jose.ParseDetached(jws, payload, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		return "", fmt.Errorf("read proof.jws: %w", err)
	}
	header := signed.Signatures[0].Protected
	if header.ExtraHeaders[jose.HeaderType] != proofType {
		return "", fmt.Errorf("%w: the signature is of something else", ErrAltered)
	}
	k, ok := keys[header.KeyID]
	if !ok {
		return "", fmt.Errorf("%w: the key %s is none of the organization's", ErrAltered, header.KeyID)
	}
	if _, err := signed.Verify(k); err != nil {
		return "", ErrAltered
	}
	return header.KeyID, nil
}

// bound requires that a document is the one that an answer names, and is of the agent's host: who can
// put another there could answer as the agent too.
func bound(answer, document []byte) error {
	var said struct {
		Proof struct {
			Agent     string `json:"agent"`
			IssuerURL string `json:"issuerUrl"`
		} `json:"proof"`
	}
	var did struct {
		ID string `json:"id"`
	}
	if err := errors.Join(json.Unmarshal(answer, &said), json.Unmarshal(document, &did)); err != nil {
		return err
	}
	named, err := badge.WebDID(said.Proof.IssuerURL)
	if err != nil {
		return err
	}
	agent, err := url.Parse(said.Proof.Agent)
	if err != nil {
		return err
	}
	issuer, err := url.Parse(said.Proof.IssuerURL)
	if err != nil {
		return err
	}
	if named != did.ID || issuer.Host != agent.Host || issuer.Scheme != agent.Scheme {
		return fmt.Errorf("%w: %s is not the issuer of %s", ErrAltered, did.ID, said.Proof.Agent)
	}
	return nil
}

// edition names what an answer was found in: it changes with the published portal, its persona
// and what its packs hold.
func (a *Agents) edition(ctx context.Context, of *Agent, p persona.Persona, bases []id.KnowledgeBase) (string, error) {
	revisions, err := knowledge.Revisions(ctx, a.options.Tenants, of.Org, bases)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, _ = fmt.Fprintln(h, of.site.Portal, of.site.Stamp.Page, p.ID, p.Version) // a hash takes everything
	for _, b := range bases {
		_, _ = fmt.Fprintln(h, b, revisions[b])
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}
