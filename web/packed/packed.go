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
)

// Document is something as it is sent, packed and not. It never changes.
type Document struct {
	contentType string
	body        []byte
	packed      []byte
	etag        string
}

// worthPacking is from what size packing saves a packet.
const worthPacking = 1000

// New makes a document of bytes that nobody changes.
func New(body []byte, contentType string) *Document {
	sum := sha256.Sum256(body)
	d := &Document{contentType: contentType, body: body, etag: `W/"` + hex.EncodeToString(sum[:12]) + `"`}
	if len(body) < worthPacking || strings.HasPrefix(contentType, "image/") && contentType != "image/svg+xml" {
		return d
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		panic(err) // the level is a good one
	}
	_, _ = z.Write(body) // a buffer takes everything
	_ = z.Close()
	d.packed = packed.Bytes()
	return d
}

// Serve sends the document, unless the browser has it already.
func (d *Document) Serve(w http.ResponseWriter, r *http.Request, status int) {
	header := w.Header()
	header.Set("ETag", d.etag)
	header.Add("Vary", "Accept-Encoding")
	if status == http.StatusOK && strings.Contains(r.Header.Get("If-None-Match"), d.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	header.Set("Content-Type", d.contentType)
	body := d.body
	if d.packed != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		header.Set("Content-Encoding", "gzip")
		body = d.packed
	}
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the caller went away
	}
}
