package results_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"image/png"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/store/tenant"
)

// What follows verifies badges by the standards alone: nothing of it is the issuer's.

// fetched is a JSON object at an address.
func fetched(address string) (map[string]any, error) {
	answer, err := http.Get(address) //nolint:noctx // the test's own server
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: status %d", address, answer.StatusCode)
	}
	var found map[string]any
	return found, json.NewDecoder(answer.Body).Decode(&found)
}

// resolved is the verification method of a did:web.
func resolved(method string) (map[string]any, error) {
	did, _, _ := strings.Cut(method, "#")
	parts := strings.Split(strings.TrimPrefix(did, "did:web:"), ":")
	for i := range parts {
		parts[i], _ = url.PathUnescape(parts[i])
	}
	document, err := fetched("http://" + strings.Join(parts, "/") + "/did.json") // the test's server has no certificate
	if err != nil {
		return nil, err
	}
	if document["id"] != did || !slices.Contains(document["assertionMethod"].([]any), any(method)) {
		return nil, fmt.Errorf("%s asserts nothing by %s", did, method)
	}
	for _, each := range document["verificationMethod"].([]any) {
		if found := each.(map[string]any); found["id"] == method && found["controller"] == did {
			return found, nil
		}
	}
	return nil, fmt.Errorf("%s is not there", method)
}

// unbase58 reads base58 in Bitcoin's alphabet.
func unbase58(text string) []byte {
	n := new(big.Int)
	for _, c := range text {
		n.Add(n.Mul(n, big.NewInt(58)), big.NewInt(int64(strings.IndexRune("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", c))))
	}
	return append(make([]byte, len(text)-len(strings.TrimLeft(text, "1"))), n.Bytes()...)
}

// canonical writes JSON as RFC 8785 does, of what badges hold: objects, lists, texts, whole
// numbers and truth values.
func canonical(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var parts []string
		for name := range v {
			parts = append(parts, name)
		}
		slices.Sort(parts)
		for i, name := range parts {
			parts[i] = canonical(name) + ":" + canonical(v[name])
		}
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		var parts []string
		for _, item := range v {
			parts = append(parts, canonical(item))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case float64:
		return fmt.Sprint(int64(v))
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return strings.ReplaceAll(strings.TrimSuffix(out.String(), "\n"), `\u2028`, "\u2028") // which Go alone escapes
}

// checkEmbedded verifies a credential with an embedded proof.
func checkEmbedded(text []byte) (map[string]any, error) {
	var c map[string]any
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, err
	}
	proof := c["proof"].(map[string]any)
	delete(c, "proof")
	value := proof["proofValue"].(string)
	delete(proof, "proofValue")
	if proof["cryptosuite"] != "eddsa-jcs-2022" || proof["type"] != "DataIntegrityProof" || proof["proofPurpose"] != "assertionMethod" {
		return c, fmt.Errorf("another proof: %v", proof)
	}
	method, err := resolved(proof["verificationMethod"].(string))
	if err != nil {
		return c, err
	}
	key := unbase58(method["publicKeyMultibase"].(string)[1:])
	a, b := sha256.Sum256([]byte(canonical(proof))), sha256.Sum256([]byte(canonical(c)))
	if !bytes.Equal(key[:2], []byte{0xed, 1}) || !ed25519.Verify(key[2:], append(a[:], b[:]...), unbase58(value[1:])) {
		return c, fmt.Errorf("the signature is not %s's", method["id"])
	}
	return c, checkIssuer(c, method)
}

func checkIssuer(c, method map[string]any) error {
	issuer := c["issuer"]
	if profile, ok := issuer.(map[string]any); ok {
		issuer = profile["id"]
	}
	if issuer != method["controller"] {
		return fmt.Errorf("%v is signed by %v", issuer, method["controller"])
	}
	return nil
}

// checkToken verifies a VC-JWT.
func checkToken(text []byte) (map[string]any, error) {
	parts := strings.Split(string(text), ".")
	var header, c map[string]any
	for i, into := range []*map[string]any{&header, &c} {
		raw, err := base64.RawURLEncoding.DecodeString(parts[i])
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(raw, into); err != nil {
			return nil, err
		}
	}
	method, err := resolved(header["kid"].(string))
	if err != nil {
		return nil, err
	}
	jwk := method["publicKeyJwk"].(map[string]any)
	modulus, _ := base64.RawURLEncoding.DecodeString(jwk["n"].(string))
	signature, _ := base64.RawURLEncoding.DecodeString(parts[2])
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	key := &rsa.PublicKey{N: new(big.Int).SetBytes(modulus), E: 65537}
	if header["alg"] != "RS256" || header["typ"] != "JWT" || jwk["kty"] != "RSA" || jwk["e"] != "AQAB" || jwk["d"] != nil ||
		rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], signature) != nil {
		return nil, fmt.Errorf("the signature is not %s's", method["id"])
	}
	if c["sub"] != c["credentialSubject"].(map[string]any)["id"] || c["iat"] != nil {
		return nil, fmt.Errorf("the claims are another's: %v", c)
	}
	if c["iss"] != method["controller"] || c["vc"] != nil || c["jti"] != c["id"] {
		return nil, fmt.Errorf("the claims are another's: %v", c)
	}
	return c, checkIssuer(c, method)
}

// stands says whether a credential was not revoked.
func stands(c map[string]any) (bool, error) {
	entry := c["credentialStatus"].(map[string]any)
	answer, err := http.Get(entry["statusListCredential"].(string)) //nolint:noctx // the test's own server
	if err != nil {
		return false, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return false, err
	}
	list, err := checkEmbedded(text)
	if err != nil {
		return false, err
	}
	of := list["credentialSubject"].(map[string]any)
	if list["id"] != entry["statusListCredential"] || of["statusPurpose"] != entry["statusPurpose"] {
		return false, fmt.Errorf("another list: %v", of)
	}
	packed, err := base64.RawURLEncoding.DecodeString(of["encodedList"].(string)[1:])
	if err != nil {
		return false, err
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return false, err
	}
	bits, err := io.ReadAll(unpacked)
	if err != nil || len(bits) < 16<<10 {
		return false, fmt.Errorf("the list has %d bytes: %w", len(bits), err)
	}
	var at int
	if _, err := fmt.Sscan(entry["statusListIndex"].(string), &at); err != nil {
		return false, err
	}
	return bits[at/8]>>(7-at%8)&1 == 0, nil
}

// unbaked is the credential in a PNG.
func unbaked(data []byte) string {
	for at := 8; at+8 <= len(data); {
		size := int(binary.BigEndian.Uint32(data[at:]))
		kind, body := string(data[at+4:at+8]), data[at+8:at+8+size]
		if rest, ok := strings.CutPrefix(string(body), "openbadgecredential\x00\x00\x00\x00\x00"); ok && kind == "iTXt" {
			return rest
		}
		at += 12 + size
	}
	return ""
}

// A badge verifies with what is public, in every form that it comes in, and stops once the
// status list is asked again after its revocation.
func testBadges(t *testing.T, w *apitest.World) {
	body := map[string]any{
		"personId": w.Learner(t, w.Acme), "subjectId": w.Exam(t, w.Acme), "recipientName": "Zoë <Å> \u2028 山田 \"&", "expiresAt": "2099-01-01T00:00:00Z",
	}
	k := w.CallAs(t, "createCertificate", "", w.Acme.New, body).Data(t)
	o := w.Operation(t, "getCertificateBadge")
	get := func(of map[string]any, query string) []byte {
		t.Helper()
		answer := w.Call(t, o, apitest.Request{Path: apitest.WithID(o, of["id"].(string)) + "?" + query, Key: w.Acme.New})
		require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
		return answer.Raw
	}
	embedded, err := checkEmbedded(get(k, "format=json"))
	require.NoError(t, err)
	token, err := checkToken(get(k, "format=jwt"))
	require.NoError(t, err)
	for _, c := range []map[string]any{embedded, token} {
		require.Contains(t, c["type"], "OpenBadgeCredential")
		require.Equal(t, "https://www.w3.org/ns/credentials/v2", c["@context"].([]any)[0])
		subject := c["credentialSubject"].(map[string]any)
		require.Equal(t, body["recipientName"], subject["identifier"].([]any)[0].(map[string]any)["identityHash"])
		require.Equal(t, k["title"], subject["achievement"].(map[string]any)["name"])
		require.Equal(t, "2099-01-01T00:00:00Z", c["validUntil"])
		require.NotContains(t, fmt.Sprint(c), body["personId"], "of the person nothing but the name")
		good, err := stands(c)
		require.NoError(t, err)
		require.True(t, good)
	}
	testPictures(t, get, k)
	testForgeries(t, get(k, "format=json"), get(k, "format=jwt"))

	before := get(k, "format=jwt")
	older := func(by string) {
		w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE issuer_key SET created_at = created_at - $2::INTERVAL WHERE org_id = $1`, tx.Org, by)
			return err
		})
	}
	older("1 hour")
	rotated := w.CallAs(t, "rotateIssuerKey", "", w.Acme.New, nil)
	require.Equal(t, http.StatusOK, rotated.Status, "%s", rotated.Raw)
	require.Equal(t, before, get(k, "format=jwt"), "the new one does not sign yet")
	older("10 minutes")
	after := get(k, "format=jwt")
	require.NotEqual(t, before, after)
	for _, each := range [][]byte{before, after} {
		_, err := checkToken(each)
		require.NoError(t, err, "what either key signed is good")
	}
	other := w.Certified(t, w.Acme)
	require.Equal(t, http.StatusOK, w.CallAs(t, "revokeCertificate", k["id"].(string), w.Acme.New, map[string]any{"reasonCode": "x"}).Status)
	good, err := stands(embedded)
	require.NoError(t, err)
	require.False(t, good)
	kept, err := checkEmbedded(get(other, ""))
	require.NoError(t, err)
	good, err = stands(kept)
	require.NoError(t, err)
	require.True(t, good, "another's stands")
}

// testPictures takes badges out of pictures again.
func testPictures(t *testing.T, get func(map[string]any, string) []byte, k map[string]any) {
	t.Helper()
	for proof, check := range map[string]func([]byte) (map[string]any, error){"embedded": checkEmbedded, "jwt": checkToken} {
		picture := get(k, "format=png&proof="+proof)
		_, err := png.Decode(bytes.NewReader(picture))
		require.NoError(t, err)
		_, err = check([]byte(unbaked(picture)))
		require.NoError(t, err, proof)

		var svg struct {
			Credential struct {
				Token string `xml:"verify,attr"`
				Text  string `xml:",chardata"`
			} `xml:"https://purl.imsglobal.org/ob/v3p0 credential"`
		}
		require.NoError(t, xml.Unmarshal(get(k, "format=svg&proof="+proof), &svg))
		_, err = check([]byte(svg.Credential.Token + svg.Credential.Text))
		require.NoError(t, err, proof)
	}
}

// testForgeries: the verifier can tell.
func testForgeries(t *testing.T, embedded, token []byte) {
	t.Helper()
	forged := bytes.Replace(embedded, []byte("山田"), []byte("山本"), 1)
	require.NotEqual(t, embedded, forged)
	_, err := checkEmbedded(forged)
	require.ErrorContains(t, err, "the signature is not")
	parts := strings.Split(string(token), ".")
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	require.NoError(t, err)
	parts[1] = base64.RawURLEncoding.EncodeToString(bytes.Replace(payload, []byte("2099"), []byte("2199"), 1))
	_, err = checkToken([]byte(strings.Join(parts, ".")))
	require.ErrorContains(t, err, "the signature is not")
}
