package delivery

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"visavis.dev/pkg/eventing/webhook"
)

// The headers of a delivery (spec, Delivery). The last is sent while a
// secret's predecessor is still good.
const (
	headerSignature         = "X-Service-Signature"
	headerTimestamp         = "X-Service-Timestamp"
	headerEvent             = "X-Service-Event"
	headerEventID           = "X-Service-Event-Id"
	headerDeliveryID        = "X-Service-Delivery-Id"
	headerPreviousSignature = "X-Service-Signature-Previous"
)

// timestamp is a moment in milliseconds since 1970.
func timestamp(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }

// sign is the signature of a body sent at a timestamp.
func sign(s webhook.Secret, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(s))
	mac.Write([]byte(timestamp))
	mac.Write([]byte{'.'})
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}
