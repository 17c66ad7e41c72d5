package main

import (
	"net/http"
	"time"

	"visavis.dev/pkg/database"
	"visavis.dev/pkg/id"
)

// bareRole makes this binary the floor: net/http and one SELECT, nothing else.
const bareRole = "bare"

// bareSelect reads the row that GET /avatars/{id} reads.
const bareSelect = `
	SELECT name, gender, age_band, heritage, width, height, created_at, updated_at FROM avatar
	WHERE org_id = $1 AND id = $2`

func serveBare(addr, url string) error {
	db, err := database.Open(url, database.PoolOptions{})
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/health", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/{org}/{id}", func(w http.ResponseWriter, r *http.Request) {
		org, errOrg := id.ParseOrg(r.PathValue("org"))
		avatar, errAvatar := id.ParseAvatar(r.PathValue("id"))
		if errOrg != nil || errAvatar != nil {
			http.NotFound(w, r)
			return
		}
		var (
			name, gender, age, heritage string
			width, height               int64
			created, updated            time.Time
		)
		if err := db.QueryRow(r.Context(), bareSelect, org, avatar).
			Scan(&name, &gender, &age, &heritage, &width, &height, &created, &updated); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = w.Write([]byte(name))
	})
	return http.ListenAndServe(addr, mux)
}
