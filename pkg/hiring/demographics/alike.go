package demographics

// leavesOpen says whether what is told leaves open what any one of those who were selected, and any
// one of those who were not, said. Who they are is known: were all of them of one category, it would
// be told of each of them.
//
// A cell is taken for known to have nobody where there is nobody in what is not told around it, though
// it may not be possible to work that out. Who did not say are no category for that: of who was
// selected and is of one sex or did not say, too much is known.
func (o *telling) leavesOpen(g grid) bool {
	return o.open(g, func(n Count) int64 { return n.Selected }) && o.open(g, Count.rejected)
}

// open is leavesOpen for some of the people: for all of them together and, where cells
// are told, for those of each sex and race, since a sex is often known by the name.
func (o *telling) open(g grid, of func(Count) int64) bool {
	var all spread
	lines, cells := map[Answer]*spread{}, false
	for _, a := range allCells() {
		n := g.columns[g.column[a.Race]][g.row[a.Sex]]
		if o.cells[a] {
			n, cells = o.table[a], true
		}
		if of(n) == 0 {
			continue
		}
		all.add(a)
		for _, line := range []Answer{{Sex: a.Sex}, {Race: a.Race}} {
			if lines[line] == nil {
				lines[line] = &spread{}
			}
			lines[line].add(a)
		}
	}
	if len(all.sexes) < 2 || len(all.races) < 2 {
		return false
	}
	for line, s := range lines {
		if cells && s.tells(line) {
			return false
		}
	}
	return true
}

// tells says whether it is known what people of a sex said of their race, or of a race of their sex.
func (s *spread) tells(of Answer) bool {
	return of.Sex != "" && of.Sex != UnknownSex && len(s.races) < 2 || of.Race != "" && of.Race != UnknownRace && len(s.sexes) < 2
}

// allCells are all sexes with all races.
func allCells() (all []Answer) {
	for _, sex := range Sexes() {
		for _, race := range Races() {
			all = append(all, Answer{sex, race})
		}
	}
	return all
}

// spread are the categories that people may be of, without those of who did not say.
type spread struct {
	sexes map[Sex]bool
	races map[Race]bool
}

func (s *spread) add(a Answer) {
	if s.sexes == nil {
		s.sexes, s.races = map[Sex]bool{}, map[Race]bool{}
	}
	if a.Sex != UnknownSex {
		s.sexes[a.Sex] = true
	}
	if a.Race != UnknownRace {
		s.races[a.Race] = true
	}
}
