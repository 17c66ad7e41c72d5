package dashboard

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"time"

	"github.com/google/uuid"

	"visavis.dev/pkg/base/id"
)

// Embed is a dashboard as a page shows it to whoever has its link.
type Embed struct {
	Org    id.Org
	Key    Key
	Portal id.Portal
	// By is the key that the link was asked for with: it shows no more than that may read, and
	// nothing once that is revoked.
	By    id.Key
	Until time.Time
}

// Embeds make and read the links of pages.
type Embeds struct{ Secret []byte }

// embedFixed is what is signed before the dashboard's key.
const embedFixed = 16 + 16 + 16 + 8

// Sign makes what opens a dashboard until a time.
func (l Embeds) Sign(e Embed) string {
	body := make([]byte, 0, embedFixed+len(e.Key)+sha256.Size)
	body = append(body, e.Org[:]...)
	body = append(body, e.Portal[:]...)
	body = append(body, e.By[:]...)
	body = binary.BigEndian.AppendUint64(body, uint64(e.Until.Unix()))
	body = append(body, e.Key...)
	return base64.RawURLEncoding.EncodeToString(append(body, l.sum(body)...))
}

// Open reads what Sign made; ok is false for anything else, and once its time is over.
func (l Embeds) Open(token string, now time.Time) (e Embed, ok bool) {
	data, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(data) < embedFixed+sha256.Size {
		return e, false
	}
	data, sum := data[:len(data)-sha256.Size], data[len(data)-sha256.Size:]
	if !hmac.Equal(l.sum(data), sum) {
		return e, false
	}
	e = Embed{
		Org: id.Org(uuid.UUID(data[:16])), Portal: id.Portal(uuid.UUID(data[16:32])), By: id.Key(uuid.UUID(data[32:48])),
		Until: time.Unix(int64(binary.BigEndian.Uint64(data[48:embedFixed])), 0).UTC(), Key: Key(data[embedFixed:]),
	}
	return e, slices.Contains(Keys(), e.Key) && now.Before(e.Until)
}

func (l Embeds) sum(body []byte) []byte {
	mac := hmac.New(sha256.New, l.Secret)
	mac.Write([]byte("dashboard\n"))
	mac.Write(body)
	return mac.Sum(nil)
}
