package api_test

import "fmt"

func keyBody(n int) map[string]any {
	return map[string]any{
		"name": fmt.Sprint("key ", n), "scopes": []any{"avatars:read"}, "environment": "live", "expiresAt": "2099-01-01T00:00:00Z",
		"allowedAddresses": []any{"127.0.0.0/8"},
	}
}
