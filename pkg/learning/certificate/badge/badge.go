// Package badge makes certificates portable: Open Badges 3.0, which are Verifiable Credentials
// 2.0, with an embedded proof (Data Integrity, eddsa-jcs-2022) or as a VC-JWT, the DID document
// that their keys are found in (did:web), and the list that says which were revoked (Bitstring
// Status List 1.0).
package badge

import (
	"bytes"
	"compress/gzip"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/gowebpki/jcs"
	"github.com/mr-tron/base58"
)

// Media types of what this package writes.
const (
	CredentialType = "application/vc"
	TokenType      = "application/vc+jwt"
	DocumentType   = "application/did+json"
)

// object is a JSON object.
type object = map[string]any

// Key signs credentials of an issuer.
type Key struct {
	// ID names it within the issuer's DID document.
	ID string
	// Public is of embedded proofs, TokenPublic of tokens: what every verifier of those knows
	// is RS256.
	Public      ed25519.PublicKey
	TokenPublic *rsa.PublicKey
	// Private and TokenPrivate are nil of one that is only shown.
	Private      ed25519.PrivateKey
	TokenPrivate *rsa.PrivateKey
	CreatedAt    time.Time
}

// Issuer is an organization as badges name it.
type Issuer struct {
	DID, Name string
}

// WebDID is the did:web whose document is at an address that ends in /did.json.
func WebDID(document string) (string, error) {
	at, err := url.Parse(document)
	if err != nil {
		return "", err
	}
	parts := []string{"did:web", strings.ReplaceAll(at.Host, ":", "%3A")}
	for part := range strings.SplitSeq(strings.Trim(strings.TrimSuffix(at.Path, "/did.json"), "/"), "/") {
		parts = append(parts, url.PathEscape(part))
	}
	return strings.Join(parts, ":"), nil
}

// method is the id of a key's verification method for embedded proofs, and tokenMethod that
// for tokens.
func (i Issuer) method(k Key) string      { return i.DID + "#" + k.ID }
func (i Issuer) tokenMethod(k Key) string { return i.DID + "#" + k.ID + "-jwk" }

// Document is the issuer's DID document: every key that it ever signed with.
func (i Issuer) Document(keys []Key) ([]byte, error) {
	methods, asserts := []any{}, []string{}
	for _, k := range keys {
		methods = append(methods,
			object{"id": i.method(k), "type": "Multikey", "controller": i.DID, "publicKeyMultibase": multikey(k.Public)},
			object{"id": i.tokenMethod(k), "type": "JsonWebKey", "controller": i.DID, "publicKeyJwk": i.jwk(k)})
		asserts = append(asserts, i.method(k), i.tokenMethod(k))
	}
	return json.Marshal(object{
		"@context": []string{"https://www.w3.org/ns/did/v1", "https://w3id.org/security/multikey/v1", "https://w3id.org/security/jwk/v1"},
		"id":       i.DID, "verificationMethod": methods, "assertionMethod": asserts,
	})
}

// jwk is the public key that tokens are verified with.
func (i Issuer) jwk(k Key) *jose.JSONWebKey {
	return &jose.JSONWebKey{Key: k.TokenPublic, KeyID: i.tokenMethod(k), Algorithm: string(jose.RS256), Use: "sig"}
}

// multikey is a public key in multibase, after the multicodec's number of Ed25519.
func multikey(k ed25519.PublicKey) string {
	return "z" + base58.Encode(append([]byte{0xed, 0x01}, k...))
}

// Achievement is what a badge says.
type Achievement struct {
	// ID is the badge's, a URI, and Of that of what was achieved.
	ID, Of                      string
	Recipient, Title, Narrative string
	Language                    string
	VerifyURL                   string
	IssuedAt                    time.Time
	ExpiresAt                   *time.Time
	StatusURL                   string
	StatusIndex                 int64
}

// subjectFragment makes an id for whom a badge is of that of the badge: it says nothing of
// the person, nor which of their badges belong together.
const subjectFragment = "#recipient"

const contextVC = "https://www.w3.org/ns/credentials/v2"

// credential is a badge without a proof.
func (i Issuer) credential(a Achievement) object {
	c := object{
		"@context": []any{contextVC, "https://purl.imsglobal.org/spec/ob/v3p0/context-3.0.3.json"},
		"id":       a.ID, "type": []any{"VerifiableCredential", "OpenBadgeCredential"}, "name": a.Title,
		"issuer":    object{"id": i.DID, "type": []any{"Profile"}, "name": i.Name},
		"validFrom": stamp(a.IssuedAt),
		"credentialSubject": object{
			"id": a.ID + subjectFragment, "type": []any{"AchievementSubject"},
			// Of the person nothing but the name is told: it is what stands on the paper.
			"identifier": []any{object{"type": "IdentityObject", "identityType": "name", "identityHash": a.Recipient, "hashed": false}},
			"achievement": object{
				"id": a.Of, "type": []any{"Achievement"}, "achievementType": "Certificate", "name": a.Title, "description": a.Title,
				"inLanguage": a.Language, "criteria": object{"narrative": a.Narrative},
			},
		},
		"evidence": []any{object{"id": a.VerifyURL, "type": []any{"Evidence"}, "name": a.Title}},
		"credentialStatus": object{
			"id": fmt.Sprintf("%s#%d", a.StatusURL, a.StatusIndex), "type": "BitstringStatusListEntry", "statusPurpose": "revocation",
			"statusListIndex": fmt.Sprint(a.StatusIndex), "statusListCredential": a.StatusURL,
		},
	}
	if a.ExpiresAt != nil {
		c["validUntil"] = stamp(*a.ExpiresAt)
	}
	return c
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Embedded is a badge with an embedded proof.
func (i Issuer) Embedded(a Achievement, k Key) ([]byte, error) {
	at := a.IssuedAt
	if k.CreatedAt.After(at) {
		at = k.CreatedAt
	}
	return i.prove(i.credential(a), k, at)
}

// prove adds a proof to a credential (Data Integrity EdDSA Cryptosuites 1.0, eddsa-jcs-2022).
func (i Issuer) prove(c object, k Key, at time.Time) ([]byte, error) {
	proof := object{
		"@context": c["@context"], "type": "DataIntegrityProof", "cryptosuite": "eddsa-jcs-2022", "created": stamp(at),
		"verificationMethod": i.method(k), "proofPurpose": "assertionMethod",
	}
	var hashed []byte
	for _, part := range []object{proof, c} {
		text, err := json.Marshal(part)
		if err != nil {
			return nil, err
		}
		canonical, err := jcs.Transform(text)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(canonical)
		hashed = append(hashed, sum[:]...)
	}
	proof["proofValue"] = "z" + base58.Encode(ed25519.Sign(k.Private, hashed))
	c["proof"] = proof
	return json.Marshal(c)
}

// Token is a badge as a VC-JWT: its payload is the credential.
func (i Issuer) Token(a Achievement, k Key) ([]byte, error) {
	c := i.credential(a)
	c["iss"], c["jti"], c["sub"], c["nbf"] = i.DID, a.ID, a.ID+subjectFragment, a.IssuedAt.Unix()
	if a.ExpiresAt != nil {
		c["exp"] = a.ExpiresAt.Unix()
	}
	payload, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: k.TokenPrivate, KeyID: i.tokenMethod(k)}},
		(&jose.SignerOptions{}).WithType("JWT").WithHeader("jwk", i.jwk(k)))
	if err != nil {
		return nil, err
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return nil, err
	}
	token, err := signed.CompactSerialize()
	return []byte(token), err
}

// Detached signs what is sent beside its signature: a compact JWS (RS256) whose payload is left
// out (RFC 7515, appendix F). kind is the type that its header names, so that no verifier takes
// it for a token.
func (i Issuer) Detached(payload []byte, kind string, k Key) (string, error) {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: k.TokenPrivate, KeyID: i.tokenMethod(k)}},
		(&jose.SignerOptions{}).WithType(jose.ContentType(kind)))
	if err != nil {
		return "", err
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return "", err
	}
	return signed.DetachedCompactSerialize()
}

// ListSize is how many badges a status list is for: the least that the standard allows, so
// that nobody learns from whom it is asked for about.
const ListSize = 131_072

const (
	// listGood is how long a status list is good for, and listAsk how long a verifier may
	// keep one without asking again.
	listGood = 24 * time.Hour
	listAsk  = time.Minute
)

// StatusList is the credential at an address that says which badges were revoked, by their
// places in it.
func (i Issuer) StatusList(address string, revoked []int64, k Key, now time.Time) ([]byte, error) {
	bits := make([]byte, ListSize/8)
	for _, at := range revoked {
		bits[at/8] |= 0x80 >> (at % 8) // the first is the leftmost
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(bits); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return i.prove(object{
		"@context": []any{contextVC}, "id": address, "type": []any{"VerifiableCredential", "BitstringStatusListCredential"}, "issuer": i.DID,
		"validFrom": stamp(now), "validUntil": stamp(now.Add(listGood)),
		"credentialSubject": object{
			"id": address + "#list", "type": "BitstringStatusList", "statusPurpose": "revocation", "ttl": listAsk.Milliseconds(),
			"encodedList": "u" + base64.RawURLEncoding.EncodeToString(packed.Bytes()),
		},
	}, k, now)
}
