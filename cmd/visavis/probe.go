package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

const (
	probeAgain = time.Second
	// probeReads bounds what is read of an answer.
	probeReads = 8 << 20
	// probeShows bounds what is printed of it.
	probeShows = 400
)

// probeCommand asks as a caller would: an image without a shell has no curl.
func probeCommand() *cobra.Command {
	var (
		contains string
		patience time.Duration
	)
	cmd := &cobra.Command{
		Use:   "probe URL",
		Short: "GET a URL until it answers 200 with what is expected",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), patience)
			defer cancel()
			text, err := probeUntil(ctx, args[0], contains)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s answers: %.*s\n", args[0], probeShows, text)
			return nil
		},
	}
	cmd.Flags().StringVar(&contains, "contains", "", "`TEXT` that the answer must have in it")
	cmd.Flags().DurationVar(&patience, "timeout", 30*time.Second, "how long to try")
	return cmd
}

// probeUntil tries until the context ends; the error is then the last try's.
func probeUntil(ctx context.Context, url, contains string) (string, error) {
	for {
		text, err := probe(ctx, url, contains)
		if err == nil {
			return text, nil
		}
		select {
		case <-time.After(probeAgain):
		case <-ctx.Done():
			return "", err
		}
	}
}

// direct goes past the proxy of the environment: what answers is to be the platform, not
// a proxy in between.
var direct = &http.Client{Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}

func probe(ctx context.Context, url, contains string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return "", err
	}
	answer, err := direct.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, probeReads))
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %w", url, err)
	case answer.StatusCode != http.StatusOK:
		return "", fmt.Errorf("%s answered %s: %.*s", url, answer.Status, probeShows, text)
	case !strings.Contains(string(text), contains):
		return "", errors.New(url + " answered without " + contains)
	}
	return string(text), nil
}
