package agent

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"time"
)

// ErrThread says that a conversation was held with no agent of the organization, or is too old.
var ErrThread = errors.New("the conversation was held with no agent of the organization")

const (
	// threadFor is how long a conversation can be carried on.
	threadFor = time.Hour
	// threadTurns is how many questions with their answers it holds, and threadRunes how
	// much of each.
	threadTurns = 3
	threadRunes = 300
)

// exchange is a question and what was answered.
type exchange struct {
	Question string `json:"q"`
	Answer   string `json:"a"`
}

type thread struct {
	At   int64      `json:"t"`
	Past []exchange `json:"p"`
}

// threads seals conversations, so that whoever asks can carry theirs and nobody else has
// to keep it.
type threads struct{ sealed cipher.AEAD }

// NewThreadSecret makes a secret for New, which all processes share.
func NewThreadSecret() []byte {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails: the program ends instead
	return secret
}

// newThreads makes threads with a secret of 32 bytes.
func newThreads(secret []byte) (*threads, error) {
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, err
	}
	sealed, err := cipher.NewGCMWithRandomNonce(block)
	return &threads{sealed}, err
}

// open reads a conversation with the agents of an organization; an empty one is a new one.
func (t *threads) open(of, text string, now time.Time) ([]exchange, error) {
	if text == "" {
		return nil, nil
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, ErrThread
	}
	body, err := t.sealed.Open(nil, nil, raw, []byte(of))
	if err != nil {
		return nil, ErrThread
	}
	var kept thread
	if err := json.Unmarshal(body, &kept); err != nil || now.Sub(time.Unix(kept.At, 0)) > threadFor {
		return nil, ErrThread
	}
	return kept.Past, nil
}

// seal writes a conversation with one exchange more.
func (t *threads) seal(of string, past []exchange, next exchange, now time.Time) (string, error) {
	past = append(past, exchange{shortened(next.Question), shortened(next.Answer)})
	past = past[max(0, len(past)-threadTurns):]
	body, err := json.Marshal(thread{At: now.Unix(), Past: past})
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(t.sealed.Seal(nil, nil, body, []byte(of))), nil
}

func shortened(text string) string {
	runes := []rune(text)
	return string(runes[:min(len(runes), threadRunes)])
}
