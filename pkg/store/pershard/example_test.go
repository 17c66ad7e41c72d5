package pershard_test

import (
	"context"
	"fmt"
	"time"

	"visavis.dev/pkg/store/pershard"
)

// A shard that does not answer takes nothing of the others' time.
func ExampleGather() {
	answers := pershard.Gather(context.Background(), []string{"shard-1", "frozen", "shard-2"}, 50*time.Millisecond,
		func(ctx context.Context, shard string) (string, error) {
			if shard == "frozen" {
				<-ctx.Done()
				return "", ctx.Err()
			}
			return shard + " answers", nil
		})
	for _, a := range answers {
		fmt.Println(a.Shard+":", a.Value, a.Err)
	}
	// Output:
	// shard-1: shard-1 answers <nil>
	// frozen:  context deadline exceeded
	// shard-2: shard-2 answers <nil>
}
