package badge

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"strings"

	"github.com/go-jose/go-jose/v4"
	"github.com/mr-tron/base58"
)

// PublicKey is a key of embedded proofs.
type PublicKey = ed25519.PublicKey

// TokenKeys are the keys for tokens of a DID document, by their ids with the DID.
func TokenKeys(document []byte) (map[string]*jose.JSONWebKey, error) {
	var d struct {
		ID      string `json:"id"`
		Methods []struct {
			ID  string           `json:"id"`
			Key *jose.JSONWebKey `json:"publicKeyJwk"`
		} `json:"verificationMethod"`
	}
	if err := json.Unmarshal(document, &d); err != nil {
		return nil, err
	}
	if d.ID == "" {
		return nil, errNoDocument
	}
	keys := map[string]*jose.JSONWebKey{}
	for _, m := range d.Methods {
		if m.Key != nil && strings.HasPrefix(m.ID, d.ID+"#") {
			keys[m.ID] = m.Key
		}
	}
	return keys, nil
}

var errNoDocument = errors.New("this is no DID document")

// EmbeddedKeys are the keys for embedded proofs of a DID document, by their ids without the DID.
func EmbeddedKeys(document []byte) (map[string]PublicKey, error) {
	var d struct {
		ID      string `json:"id"`
		Methods []struct {
			ID  string `json:"id"`
			Key string `json:"publicKeyMultibase"`
		} `json:"verificationMethod"`
	}
	if err := json.Unmarshal(document, &d); err != nil {
		return nil, err
	}
	if d.ID == "" {
		return nil, errNoDocument
	}
	keys := map[string]PublicKey{}
	for _, m := range d.Methods {
		name, ok := strings.CutPrefix(m.ID, d.ID+"#")
		text, multibase := strings.CutPrefix(m.Key, "z")
		if !ok || !multibase {
			continue
		}
		b, err := base58.Decode(text)
		if err == nil && len(b) == 2+ed25519.PublicKeySize && b[0] == 0xed && b[1] == 0x01 {
			keys[name] = PublicKey(b[2:])
		}
	}
	return keys, nil
}
