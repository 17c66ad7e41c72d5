package pdf

import (
	"maps"
	"slices"
)

// page is a leaf of the page tree with what it inherits.
type page struct {
	dict      dict
	resources any
}

// pages walks the page tree. A file whose tree is broken has its pages in the order
// of their numbers.
func (f *File) pages() ([]page, error) {
	t := &tree{file: f, seen: map[ref]bool{}}
	if root := f.dict(f.trailer["Root"])["Pages"]; root != nil {
		if err := t.walk(root, nil, 0); err != nil || len(t.pages) > 0 {
			return t.pages, err
		}
	}
	for _, r := range slices.Sorted(maps.Keys(f.where)) {
		if f.name(f.dict(r)["Type"]) == "Page" {
			if err := t.walk(r, nil, 0); err != nil {
				return nil, err
			}
		}
	}
	return t.pages, nil
}

// tree is a walk through the page tree.
type tree struct {
	file  *File
	seen  map[ref]bool
	pages []page
}

func (t *tree) walk(v, resources any, depth int) error {
	if err := t.file.ctx.Err(); err != nil {
		return err
	}
	if r, ok := v.(ref); ok {
		if t.seen[r] {
			return nil
		}
		t.seen[r] = true
	}
	node := t.file.dict(v)
	if own := node["Resources"]; own != nil {
		resources = own
	}
	kids, inner := t.file.get(node["Kids"]).(array)
	switch {
	case node == nil || depth > maxNesting:
		return nil
	case !inner && len(t.pages) >= maxPages:
		return ErrTooLarge
	case !inner:
		t.pages = append(t.pages, page{node, resources})
		return nil
	}
	for _, kid := range kids {
		if err := t.walk(kid, resources, depth+1); err != nil {
			return err
		}
	}
	return nil
}
