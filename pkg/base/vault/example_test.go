package vault_test

import (
	"errors"
	"fmt"

	"visavis.dev/pkg/base/vault"
)

// A key is replaced by putting another before it; what the old one sealed still opens, at
// the place that it was sealed for.
func ExampleVault() {
	older, newer := vault.NewKey(), vault.NewKey()
	before, _ := vault.New(older)
	sealed := before.Seal("webhook wh_1", []byte("secret"))

	after, _ := vault.New(newer, older)
	secret, err := after.Open("webhook wh_1", sealed)
	fmt.Println(string(secret), err)
	_, err = after.Open("webhook wh_2", sealed)
	fmt.Println(errors.Is(err, vault.ErrCannotOpen))
	// Output:
	// secret <nil>
	// true
}
