package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/store/database"
)

// bareRole makes this binary the floor: net/http and the SELECT that GET /avatars/{id} makes
// with its row as JSON, or the rows that PATCH /units/{id} commits, and nothing else.
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
	mux.HandleFunc("PATCH /change/{org}/{id}", func(w http.ResponseWriter, r *http.Request) { bareChange(w, r, db) })
	return http.ListenAndServe(addr, mux)
}

// bareChange renames a unit and enters an activity, an event and a delivery, in one commit
// of one trip.
func bareChange(w http.ResponseWriter, r *http.Request, db *database.DB) {
	org, errOrg := id.ParseOrg(r.PathValue("org"))
	which, errUnit := id.ParseUnit(r.PathValue("id"))
	var body struct{ Name string }
	if err := errors.Join(errOrg, errUnit, json.NewDecoder(r.Body).Decode(&body)); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	now := time.Now().UTC()
	happened := id.EventAt(now)
	data := map[string]any{"unitId": which, "name": body.Name, "renamedAt": now}
	var b pgx.Batch
	b.Queue(`BEGIN`)
	b.Queue(`UPDATE unit SET name = $3, updated_at = $4 WHERE org_id = $1 AND id = $2`, org, which, body.Name, now)
	b.Queue(`
		INSERT INTO activity (org_id, id, at, actor, action, target_kind, target_id, changes, address)
		VALUES ($1, $2, $3, 'bare', 'unit.updated', 'unit', $4, $5, '')`, org, id.NewActivity(), now, which.String(), data)
	b.Queue(`INSERT INTO event (org_id, id, type, created_at, data) VALUES ($1, $2, 'unit.renamed', $3, $4)`, org, happened, now, data)
	b.Queue(`
		INSERT INTO delivery (org_id, id, webhook_id, event_id, type, api_version, state, attempts, log, created_at)
		VALUES ($1, $2, $3, $4, 'unit.renamed', '', 'delivered', 0, '[]', $5)`, org, id.DeliveryAt(now), id.NewWebhook(), happened, now)
	b.Queue(`COMMIT`)
	if err := db.SendBatch(r.Context(), &b).Close(); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	answer, err := json.Marshal(map[string]any{"data": data})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(answer)
}
