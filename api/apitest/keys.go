package apitest

import (
	"fmt"
)

// keyBody is a good body with every property of a key to be made.
func keyBody(n int) map[string]any {
	body := keyChange(n)
	body["environment"] = "live"
	return body
}

// keyChange is a good change of every property that a key's owner may change.
func keyChange(n int) map[string]any {
	return map[string]any{
		"name": fmt.Sprint("key ", n), "scopes": []any{"avatars:read"}, "expiresAt": "2099-01-01T00:00:00Z",
		"allowedAddresses": []any{"127.0.0.0/8"},
	}
}
