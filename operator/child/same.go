package child

import (
	"maps"
	"reflect"
	"slices"
)

// Same says whether an object has everything that is wanted of it. What others added
// is theirs, but for what would change the meaning of what is wanted: an entry of a
// selector, or of a list that is one value.
func Same(want, have map[string]any) bool {
	for key, w := range want {
		if key == "apiVersion" || key == "kind" {
			continue // an object of the cache has none
		}
		h, ok := have[key]
		if !ok || !same(key, w, h) {
			return false
		}
	}
	return true
}

// whole are the maps of which nobody else has a part.
var whole = map[string]bool{"matchLabels": true, "selector": true, "nodeSelector": true}

// keyed are the lists that others may add to, and what tells their entries apart.
var keyed = map[string][]string{
	"containers": {"name"}, "initContainers": {"name"}, "env": {"name"}, "volumes": {"name"}, "volumeMounts": {"mountPath"},
	"imagePullSecrets": {"name"}, "ownerReferences": {"uid"}, "topologySpreadConstraints": {"topologyKey", "whenUnsatisfiable"},
}

func same(field string, want, have any) bool {
	switch w := want.(type) {
	case map[string]any:
		h, ok := have.(map[string]any)
		return ok && (!whole[field] || len(w) == len(h)) && Same(w, h)
	case []any:
		h, ok := have.([]any)
		if !ok {
			return false
		}
		if keys := keyed[field]; keys != nil {
			return sameKeyed(keys, w, h)
		}
		if len(w) != len(h) {
			return false
		}
		for i := range w {
			if !same("", w[i], h[i]) {
				return false
			}
		}
		return true
	default:
		return reflect.DeepEqual(want, have)
	}
}

func sameKeyed(keys []string, want, have []any) bool {
	key := func(item any) any {
		m, _ := item.(map[string]any)
		m = maps.Clone(m)
		maps.DeleteFunc(m, func(k string, _ any) bool { return !slices.Contains(keys, k) })
		return m
	}
	for _, w := range want {
		found := false
		for _, h := range have {
			if reflect.DeepEqual(key(w), key(h)) {
				found = same("", w, h)
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}
