package main

import (
	"context"
	"log/slog"
	"time"

	"visavis.dev/pkg/store/database"
)

// whenReachable tries again while the database cannot be reached: pods start
// in any order.
func whenReachable[T any](ctx context.Context, log *slog.Logger, try func() (T, error)) (T, error) {
	for pause := 200 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		v, err := try()
		if err == nil || !database.Unavailable(err) {
			return v, err
		}
		log.Warn("the database cannot be reached yet", "error", err)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return v, ctx.Err()
		}
	}
}
