package api_test

import (
	"strings"
	"testing"

	"visavis.dev/api/apitest"
	"visavis.dev/api/route"
)

// stock makes something of every kind.
func stock(t testing.TB, w *apitest.World, org *apitest.Org) {
	t.Helper()
	for _, make := range apitest.Kinds {
		make(t, w, org)
	}
}

// noun is the path of the thing whose id a path has.
func noun(path string) string {
	before, _, _ := strings.Cut(path, "}")
	if before == "/inbox/team/{id" { // who deals with items is one of the people
		before = "/people/{id"
	}
	return before
}

// freshPath is the operation's path with the id of something new.
func freshPath(t testing.TB, w *apitest.World, o *route.Operation, org *apitest.Org) string {
	t.Helper()
	if k := apitest.Kind(t, o); k != "" {
		return apitest.WithID(o, apitest.Kinds[k](t, w, org))
	}
	return o.Path
}
