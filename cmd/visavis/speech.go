package main

import (
	"log/slog"

	"visavis.dev/pkg/speech/espeak"
)

// openSpeech starts what speaks: the program that lies beside this one. Where there is
// none, or it has no library to load, conversations go on in text.
func openSpeech(log *slog.Logger) *espeak.Pool {
	pool, err := espeak.Open(espeak.Options{Program: espeak.Beside(), Log: log})
	if err != nil {
		log.Warn("no speech engine, conversations go on in text", "error", err)
		return nil
	}
	return pool
}
