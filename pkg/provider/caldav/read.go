package caldav

import (
	"io"
	"net/http"

	"visavis.dev/pkg/provider/upstream"
)

// readAll reads an answer, which the guard bounds.
func readAll(resp *http.Response) ([]byte, error) {
	body, err := io.ReadAll(resp.Body)
	return body, upstream.FromBody(err)
}
