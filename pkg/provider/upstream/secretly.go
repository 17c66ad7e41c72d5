package upstream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
)

// PostSecretly posts JSON to an address that is a secret itself, as those of incoming webhooks are, and reads
// the whole answer: no error tells the address. The error is an Error, or context.Canceled.
func PostSecretly(ctx context.Context, client *http.Client, address string, body []byte) (status int, answer []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return 0, nil, &Error{Code: AddressRefused}
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return 0, nil, FromRequest(bare(err))
	}
	defer resp.Body.Close()
	if err := CheckStatus(resp); err != nil {
		return resp.StatusCode, nil, err
	}
	answer, err = io.ReadAll(resp.Body)
	return resp.StatusCode, answer, FromBody(bare(err))
}

// bare is what went wrong with a request, without its address.
func bare(err error) error {
	if quoted, ok := errors.AsType[*url.Error](err); ok {
		return quoted.Err
	}
	return err
}
