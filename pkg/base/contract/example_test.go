package contract_test

import (
	"fmt"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/problem"
)

// The code knows the newest contract alone; an answer is walked back to the caller's.
func ExampleFailure() {
	p := problem.New(problem.UpgradeRequired, "Your plan does not have this.")
	fmt.Println(contract.Failure(contract.V20260708, p)["error"])
	// Output: upgrade_required
}
