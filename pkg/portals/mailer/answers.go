package mailer

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"strings"

	"visavis.dev/pkg/base/id"
)

// Answers are the addresses that visitors answer to, by which what they write is added to their item. A nil one is none.
type Answers struct {
	// Domain is that of all of them; the operator's mail gateway hands what comes to it over.
	Domain string
	// Key signs them.
	Key []byte
}

// ErrNoAnswer says that an address is of no item.
var ErrNoAnswer = errors.New("the address is of no item")

// letters are those of an address before the @, whose case mail servers may change. The ids of an organization and an item and
// 64 bits of their signature make 64 of them, which is as many as there can be (RFC 5321, 4.5.3.1.1).
var letters = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

const (
	idBytes   = 16
	signature = 8
)

func (a *Answers) sign(org id.Org, i id.InboxItem) []byte {
	h := hmac.New(sha256.New, a.Key)
	_, _ = h.Write([]byte("inbox answer\x00"))
	_, _ = h.Write(org[:])
	_, _ = h.Write(i[:])
	return h.Sum(nil)[:signature]
}

// Address is where the visitor of an item answers to.
func (a *Answers) Address(org id.Org, i id.InboxItem) string {
	token := append(append(append([]byte(nil), org[:]...), i[:]...), a.sign(org, i)...)
	return letters.EncodeToString(token) + "@" + a.Domain
}

// Open finds the item of an address. The error is ErrNoAnswer.
func (a *Answers) Open(address string) (org id.Org, i id.InboxItem, err error) {
	name, domain, ok := strings.Cut(strings.ToLower(strings.TrimSpace(address)), "@")
	if !ok || domain != a.Domain {
		return org, i, ErrNoAnswer
	}
	token, err := letters.DecodeString(name)
	if err != nil || len(token) != 2*idBytes+signature {
		return org, i, ErrNoAnswer
	}
	copy(org[:], token)
	copy(i[:], token[idBytes:])
	if !hmac.Equal(token[2*idBytes:], a.sign(org, i)) {
		return id.Org{}, id.InboxItem{}, ErrNoAnswer
	}
	return org, i, nil
}

// Of finds the item of the first of some addresses that is one's. The error is ErrNoAnswer.
func (a *Answers) Of(addresses []string) (org id.Org, i id.InboxItem, err error) {
	for _, address := range addresses {
		if org, i, err := a.Open(address); err == nil {
			return org, i, nil
		}
	}
	return org, i, ErrNoAnswer
}
