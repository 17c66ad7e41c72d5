// Package rate names the rate classes and holds the numbers of requests a minute
// that each allows (spec, Limits). Package limits does the counting.
package rate

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
)

// Class is a rate class of the spec's table "Limits". The empty class is
// limited by address alone.
type Class string

// The classes that are counted per key and per organization.
const (
	Heavy  Class = "heavy"
	Live   Class = "live"
	Read   Class = "read"
	Search Class = "search"
	Write  Class = "write"
)

// Classes lists the classes in the spec's order.
func Classes() []Class { return []Class{Read, Write, Live, Heavy, Search} }

// Rate is how many requests a minute a class allows.
type Rate struct {
	PerKey          int64 `json:"perKey"`
	PerOrganization int64 `json:"perOrganization"`
}

// Rates are the limits of one organization, by class.
type Rates map[Class]Rate

// SpecRates are the spec's own numbers.
func SpecRates() Rates {
	return Rates{
		Read:   {600, 1200},
		Write:  {120, 240},
		Live:   {30, 60},
		Heavy:  {20, 40},
		Search: {120, 240},
	}
}

// SpecPerAddress is the spec's limit of one address, whatever the key.
const SpecPerAddress = 600

// With is a copy of the rates in which other's replace these.
func (r Rates) With(other Rates) Rates {
	merged := make(Rates, len(r))
	maps.Copy(merged, r)
	maps.Copy(merged, other)
	return merged
}

// ParseRates reads a deployment's setting such as "read=600/1200,write=120/240".
func ParseRates(s string) (Rates, error) {
	rates := Rates{}
	for item := range strings.SplitSeq(s, ",") {
		if strings.TrimSpace(item) == "" {
			continue
		}
		name, value, _ := strings.Cut(strings.TrimSpace(item), "=")
		if _, known := SpecRates()[Class(name)]; !known {
			return nil, fmt.Errorf("rates: %q is not a class; the classes are %v", name, Classes())
		}
		perKey, perOrg, found := strings.Cut(value, "/")
		k, errK := strconv.ParseInt(perKey, 10, 64)
		o, errO := strconv.ParseInt(perOrg, 10, 64)
		if !found || errK != nil || errO != nil || k < 1 || o < 1 {
			return nil, fmt.Errorf("rates: %q is not CLASS=PER_KEY/PER_ORGANIZATION with whole numbers from 1", item)
		}
		rates[Class(name)] = Rate{k, o}
	}
	return rates, nil
}
