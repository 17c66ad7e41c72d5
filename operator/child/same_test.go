package child

import (
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

func TestSame(t *testing.T) {
	for name, c := range map[string]struct {
		want, have string
		same       bool
	}{
		"the same":                       {`{spec: {a: 1}}`, `{spec: {a: 1}}`, true},
		"a default":                      {`{spec: {a: 1}}`, `{spec: {a: 1, b: 2}, status: {}}`, true},
		"another value":                  {`{spec: {a: 1}}`, `{spec: {a: 2}}`, false},
		"zero is a value":                {`{spec: {a: 0}}`, `{spec: {a: 1}}`, false},
		"a field that was removed":       {`{spec: {a: 1, b: 2}}`, `{spec: {a: 1}}`, false},
		"what an object of a cache has":  {`{kind: A, apiVersion: v1, spec: {}}`, `{spec: {}}`, true},
		"another's label":                {`{metadata: {labels: {a: b}}}`, `{metadata: {labels: {a: b, c: d}}}`, true},
		"a label more in a selector":     {`{spec: {selector: {a: b}}}`, `{spec: {selector: {a: b, c: d}}}`, false},
		"a label more in matchLabels":    {`{spec: {podSelector: {matchLabels: {a: b}}}}`, `{spec: {podSelector: {matchLabels: {a: b, c: d}}}}`, false},
		"arguments":                      {`{args: [a, b]}`, `{args: [a]}`, false},
		"an argument more":               {`{args: [a]}`, `{args: [a, b]}`, false},
		"another's variable":             {`{env: [{name: a, value: b}]}`, `{env: [{name: x}, {name: a, value: b}]}`, true},
		"a variable of another value":    {`{env: [{name: a, value: b}]}`, `{env: [{name: a, value: c}]}`, false},
		"a variable that was removed":    {`{env: [{name: a, value: b}]}`, `{env: [{name: x}]}`, false},
		"a default in a container":       {`{containers: [{name: a}]}`, `{containers: [{name: a, terminationMessagePath: x}]}`, true},
		"a rule more":                    {`{egress: [{to: []}]}`, `{egress: [{to: []}, {ports: []}]}`, false},
		"a constraint of the same topic": {`{topologySpreadConstraints: [{topologyKey: a, whenUnsatisfiable: b, maxSkew: 1}]}`, `{topologySpreadConstraints: [{topologyKey: a, whenUnsatisfiable: c, maxSkew: 1}]}`, false},
		"another type":                   {`{a: {b: c}}`, `{a: c}`, false},
		"a list that is none":            {`{a: [b]}`, `{a: b}`, false},
	} {
		var want, have map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(c.want), &want))
		require.NoError(t, yaml.Unmarshal([]byte(c.have), &have))
		require.Equal(t, c.same, Same(want, have), name)
	}
}
