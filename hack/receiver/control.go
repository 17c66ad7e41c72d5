package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"

	"visavis.dev/hack/receiver/endpoint"
)

// control tells what was received, and changes how endpoints behave.
type control struct {
	server *endpoint.Server
	// secret is that of behaviours that name none.
	secret string
}

// serveControl serves until the context ends.
func serveControl(ctx context.Context, l net.Listener, c control) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /stats", c.stats)
	mux.HandleFunc("GET /events", c.events)
	mux.HandleFunc("GET /ca", c.ca)
	mux.HandleFunc("PUT /behaviour", c.behave)
	server := &http.Server{Handler: mux}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// stats answers the counts by path.
func (c control) stats(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(c.server.Counts()); err != nil {
		panic(http.ErrAbortHandler) // the caller went away
	}
}

// events answers a line for each event of a path: its id and how often it came.
func (c control) events(w http.ResponseWriter, r *http.Request) {
	counts := c.server.Events(r.URL.Query().Get("path"))
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	for _, id := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintln(w, id, counts[id])
	}
}

// ca answers the certificate to trust.
func (c control) ca(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/x-pem-file")
	if _, err := w.Write(c.server.CA()); err != nil {
		panic(http.ErrAbortHandler) // the caller went away
	}
}

// behave replaces all of a path's behaviour.
func (c control) behave(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	b, err := parseBehaviour(string(text))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	b.Secret = cmp.Or(b.Secret, c.secret)
	c.server.Set(r.URL.Query().Get("path"), b)
	w.WriteHeader(http.StatusNoContent)
}
