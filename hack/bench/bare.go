package main

import (
	"encoding/json"
	"net/http"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/store/database"
)

// bareRole makes this binary the floor: net/http, the SELECT that
// GET /avatars/{id} makes, and its row as JSON, nothing else.
const bareRole = "bare"

func serveBare(addr, url string) error {
	db, err := database.Open(url, database.PoolOptions{})
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/health", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/{org}/{id}", func(w http.ResponseWriter, r *http.Request) {
		org, errOrg := id.ParseOrg(r.PathValue("org"))
		face, errFace := id.ParseAvatar(r.PathValue("id"))
		if errOrg != nil || errFace != nil {
			http.NotFound(w, r)
			return
		}
		rows, err := db.Query(r.Context(), avatar.SelectOwn, org, face)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		found, err := pgx.CollectExactlyOneRow(rows, avatar.ScanOwn)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(found)
	})
	return http.ListenAndServe(addr, mux)
}
