package idempotency

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
)

// seal encrypts an answer with AES-256-GCM under a key derived from the
// secret; without a secret the answer stays as it is.
func seal(secret, answer []byte) []byte {
	if secret == nil {
		return answer
	}
	return aead(secret).Seal(nil, nil, answer, nil)
}

func open(secret, sealed []byte) ([]byte, error) {
	if secret == nil {
		return sealed, nil
	}
	return aead(secret).Open(nil, nil, sealed, nil)
}

// aead cannot fail: the key's length is fixed here.
func aead(secret []byte) cipher.AEAD {
	key, err := hkdf.Key(sha256.New, secret, nil, "visavis idempotency answer", 32)
	if err != nil {
		panic(err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err)
	}
	gcm, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err)
	}
	return gcm
}
