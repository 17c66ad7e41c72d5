package operator

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// In no second are there more requests than the limit, however many clients there are.
func TestLimit(t *testing.T) {
	var mu sync.Mutex
	var at []time.Time
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		at = append(at, time.Now())
		_, _ = w.Write([]byte("{}"))
	}))
	defer s.Close()
	const qps = 20
	config := Limit(&rest.Config{Host: s.URL, APIPath: "/api"}, qps)
	config.GroupVersion, config.NegotiatedSerializer = &corev1.SchemeGroupVersion, scheme.Codecs.WithoutConversion()
	var group sync.WaitGroup
	for range 3 {
		c, err := rest.RESTClientFor(config)
		require.NoError(t, err)
		group.Go(func() {
			for range 15 {
				if err := c.Get().AbsPath("/x").Do(t.Context()).Error(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	require.Len(t, at, 45)
	for i := range at {
		n := 0
		for _, other := range at[i:] {
			if other.Sub(at[i]) < time.Second {
				n++
			}
		}
		require.LessOrEqual(t, n, qps)
	}
}

func TestLimitOfFew(t *testing.T) {
	for _, qps := range []int{0, 1, 2, 5} {
		require.Positive(t, Limit(&rest.Config{}, qps).RateLimiter.QPS())
	}
}
