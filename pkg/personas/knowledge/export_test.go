package knowledge

// Bound has a searcher hold packs of so many bytes at most.
func (s *Searcher) Bound(most int64) { s.most = most }

// Held is what the packs in memory are counted as, and how many were put out.
func (s *Searcher) Held() (packs int, bytes, evictions int64) {
	packs, bytes, _, evictions = s.cache.figures()
	return packs, bytes, evictions
}
