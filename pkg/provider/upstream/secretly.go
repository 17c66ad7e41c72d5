package upstream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
)

// longestRefusal bounds what is read of why a request is refused, in bytes.
const longestRefusal = 64 << 10

// PostSecretly posts JSON to an address that is a secret itself, as those of incoming webhooks are, and reads
// the answer, also one that refuses: no error tells the address. The error is an Error, or context.Canceled.
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
	if refused := CheckStatus(resp); refused != nil {
		answer, _ = io.ReadAll(io.LimitReader(resp.Body, longestRefusal)) // whatever it says, it is refused
		return resp.StatusCode, answer, refused
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
