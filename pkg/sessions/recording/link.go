package recording

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"time"

	"github.com/google/uuid"

	"visavis.dev/pkg/base/id"
)

// LinkLasts is how long a link to a recording is good.
const LinkLasts = 15 * time.Minute

// Links makes and reads what opens a recording to whoever has it, for a while.
type Links struct{ Secret []byte }

const (
	linkBody = 16 + 16 + 8
	linkLong = linkBody + sha256.Size
)

// Sign makes what opens a recording until a time.
func (l Links) Sign(org id.Org, s id.Session, until time.Time) string {
	body := make([]byte, 0, linkLong)
	body = append(body, org[:]...)
	body = append(body, s[:]...)
	body = binary.BigEndian.AppendUint64(body, uint64(until.Unix()))
	return base64.RawURLEncoding.EncodeToString(append(body, l.sum(body)...))
}

// Open reads what Sign made; ok is false for anything else, and once its time is over.
func (l Links) Open(token string, now time.Time) (org id.Org, s id.Session, ok bool) {
	data, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(data) != linkLong || !hmac.Equal(l.sum(data[:linkBody]), data[linkBody:]) {
		return org, s, false
	}
	until := int64(binary.BigEndian.Uint64(data[32:]))
	return id.Org(uuid.UUID(data[:16])), id.Session(uuid.UUID(data[16:32])), now.Unix() < until
}

func (l Links) sum(body []byte) []byte {
	mac := hmac.New(sha256.New, l.Secret)
	mac.Write([]byte("recording\n"))
	mac.Write(body)
	return mac.Sum(nil)
}
