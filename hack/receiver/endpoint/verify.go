package endpoint

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strconv"
	"time"
)

// The headers of a delivery (Events, Delivery).
const (
	headerSignature = "X-Service-Signature"
	// headerPrevious is sent while a webhook has two secrets.
	headerPrevious  = "X-Service-Signature-Previous"
	headerTimestamp = "X-Service-Timestamp"
	headerEvent     = "X-Service-Event"
	headerEventID   = "X-Service-Event-Id"
	headerDelivery  = "X-Service-Delivery-Id"
)

const oldest = 5 * time.Minute

// verify follows the receiver rules (Events, Delivery). It answers why a
// request is to be refused, or nothing.
func verify(b *Behaviour, method string, r *Request) string {
	if method != http.MethodPost {
		return "the method is not POST"
	}
	timestamp := r.Header.Get(headerTimestamp)
	milliseconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return "the timestamp is no number"
	}
	if r.At.Sub(time.UnixMilli(milliseconds)) > oldest {
		return "the timestamp is more than five minutes old"
	}
	if b.Secret != "" && !signed(b.Secret, timestamp, r.Body, r.Header.Get(headerSignature)) {
		return "the signature is wrong"
	}
	previous := r.Header.Get(headerPrevious)
	expected := b.PreviousSecret != "" && (previous != "" || b.Secret == "")
	if expected && !signed(b.PreviousSecret, timestamp, r.Body, previous) {
		return "the signature with the previous secret is wrong"
	}
	switch {
	case r.EventID == "" || r.EventID != r.Header.Get(headerEventID):
		return "the event id is not the body's"
	case r.Type == "" || r.Type != r.Header.Get(headerEvent):
		return "the event type is not the body's"
	case r.DeliveryID == "":
		return "the delivery id is missing"
	}
	return ""
}

func signed(secret, timestamp string, body []byte, signature string) bool {
	return hmac.Equal([]byte(signature), []byte(sign(secret, timestamp, body)))
}

// sign makes the signature that a request should carry.
func sign(secret, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = io.WriteString(mac, timestamp+".")
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}
