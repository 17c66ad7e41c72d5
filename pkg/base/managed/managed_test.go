package managed_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/managed"
)

func TestBy(t *testing.T) {
	require.Equal(t, "api", managed.API.String())
	_, ok := managed.API.Resource()
	require.False(t, ok)

	orders := managed.Resource{Kind: "Webhook", Namespace: "acme", Name: "orders", UID: "42"}
	require.Equal(t, "Webhook acme/orders", orders.By().String())
	back, ok := orders.By().Resource()
	require.True(t, ok)
	require.Equal(t, orders, back)

	from, to := orders.Named()
	before := managed.Resource{Kind: "Webhook", Namespace: "acme", Name: "orders", UID: "7"}
	require.True(t, orders.SameName(before))
	require.True(t, from <= before.By() && before.By() < to)
	other := managed.Resource{Kind: "Webhook", Namespace: "acme", Name: "orders-2", UID: "7"}
	require.False(t, orders.SameName(other))
	require.False(t, from <= other.By() && other.By() < to)

	eu := managed.Resource{Kind: "Shard", Name: "eu", UID: "7"}
	require.Equal(t, "Shard eu", eu.By().String())
	back, ok = eu.By().Resource()
	require.True(t, ok)
	require.Equal(t, eu, back)
}

func TestCheck(t *testing.T) {
	orders := managed.Resource{Kind: "Webhook", Namespace: "acme", Name: "orders", UID: "42"}.By()
	require.NoError(t, managed.API.Check(managed.API, "webhook", "wh_1"))
	require.NoError(t, orders.Check(orders, "webhook", "wh_1"))
	var refused *managed.Error
	require.ErrorAs(t, orders.Check(managed.API, "webhook", "wh_1"), &refused)
	require.Equal(t, orders, refused.By)
	require.EqualError(t, refused, "it is managed by Webhook acme/orders")
	again := managed.Resource{Kind: "Webhook", Namespace: "acme", Name: "orders", UID: "43"}.By()
	require.Error(t, orders.Check(again, "webhook", "wh_1"), "made anew, a resource is another")
}
