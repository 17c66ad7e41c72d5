// Package packed holds what is sent to browsers as it is: its bytes, once more
// packed, and the tag by which a browser asks whether it has them already.
package packed

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// Document is something as it is sent, packed and not. It never changes.
type Document struct {
	contentType string
	body        []byte
	// pack packs the body the first time that somebody asks for it; nil where that is not worth it.
	pack func() []byte
	etag Tag
}

// worthPacking is from what size packing saves a packet.
const worthPacking = 1000

// New makes a document of bytes that nobody changes.
func New(body []byte, contentType string) *Document {
	sum := sha256.Sum256(body)
	return Tagged(body, contentType, Tag(`"`+hex.EncodeToString(sum[:12])+`"`))
}

// Tag is an entity tag that is known before there are bytes, with its quotes.
type Tag string

// weak is the tag as it is sent: packed or not, what it names is the same.
func (t Tag) weak() string { return "W/" + string(t) }

// in says whether a browser that asks has what the tag names.
func (t Tag) in(r *http.Request) bool {
	return t != "" && strings.Contains(r.Header.Get("If-None-Match"), string(t))
}

// Known answers a browser that has what the tag names already, and says whether it has.
func (t Tag) Known(w http.ResponseWriter, r *http.Request) bool {
	if !t.in(r) {
		return false
	}
	w.Header().Set("ETag", t.weak())
	w.Header().Add("Vary", "Accept-Encoding")
	w.WriteHeader(http.StatusNotModified)
	return true
}

// Tagged is New with a tag that names these bytes, and none other of the same address.
func Tagged(body []byte, contentType string, tag Tag) *Document {
	d := &Document{contentType: contentType, body: body, etag: tag}
	if len(body) >= worthPacking && (!strings.HasPrefix(contentType, "image/") || contentType == "image/svg+xml") {
		d.pack = sync.OnceValue(func() []byte { return packed(body) })
	}
	return d
}

func packed(body []byte) []byte {
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		panic(err) // the level is a good one
	}
	_, _ = z.Write(body) // a buffer takes everything
	_ = z.Close()
	return packed.Bytes()
}

// Serve sends the document, unless the browser has it already.
func (d *Document) Serve(w http.ResponseWriter, r *http.Request, status int) {
	if status == http.StatusOK && d.etag.Known(w, r) {
		return
	}
	header := w.Header()
	header.Set("ETag", d.etag.weak())
	header.Add("Vary", "Accept-Encoding")
	header.Set("Content-Type", d.contentType)
	body := d.body
	if d.pack != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		header.Set("Content-Encoding", "gzip")
		body = d.pack()
	}
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the caller went away
	}
}
