package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"visavis.dev/hack/receiver/endpoint"
)

// parseBehaviour reads words with a comma between them, each alone or with a
// value: "hang", "latency:200ms,status:503". No words are the zero Behaviour.
// A value holds no comma.
func parseBehaviour(text string) (endpoint.Behaviour, error) {
	var b endpoint.Behaviour
	if text = strings.TrimSpace(text); text == "" {
		return b, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		word, value, valued := strings.Cut(strings.TrimSpace(part), ":")
		if err := setWord(&b, word, value, valued); err != nil {
			return endpoint.Behaviour{}, fmt.Errorf("%s: %w", word, err)
		}
	}
	return b, nil
}

func setWord(b *endpoint.Behaviour, word, value string, valued bool) (err error) {
	if flag := flagNamed(b, word); flag != nil {
		if valued {
			return errors.New("it takes no value")
		}
		*flag = true
		return nil
	}
	switch word {
	case "status":
		b.Status, err = number(value, 200, 599)
	case "fail-first":
		b.FailFirst, err = number(value, 1, 1_000_000)
	case "fail-every":
		b.FailEvery, err = number(value, 1, 1_000_000)
	case "latency":
		b.Latency, err = duration(value)
	case "trickle":
		b.Trickle, err = duration(value)
	case "retry-after":
		b.RetryAfter, err = nonempty(value)
	case "location":
		b.Location, err = nonempty(value)
	case "secret":
		b.Secret, err = nonempty(value)
	case "previous-secret":
		b.PreviousSecret, err = nonempty(value)
	default:
		err = errors.New("no such behaviour")
	}
	return err
}

// flagNamed is the field of a word that stands alone, or nil.
func flagNamed(b *endpoint.Behaviour, word string) *bool {
	switch word {
	case "hang":
		return &b.Hang
	case "reset":
		return &b.Reset
	case "close-midway":
		return &b.CloseMidway
	case "endless":
		return &b.Endless
	case "gigantic-header":
		return &b.GiganticHeader
	}
	return nil
}

func number(text string, least, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%q is no number from %d to %d", text, least, most)
	}
	return n, nil
}

func duration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%q is no positive duration", text)
	}
	return d, nil
}

func nonempty(text string) (string, error) {
	if text == "" {
		return "", errors.New("it takes a value")
	}
	return text, nil
}
