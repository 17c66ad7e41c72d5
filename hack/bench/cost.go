package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// cost is what was spent so far.
type cost struct {
	// rows are rows inserted, changed and deleted on the shard, and commits its
	// commits.
	rows, commits float64
	// The rest is CPU time in seconds: of the worker, of the database server
	// with all its processes, and of this process.
	worker, database, self float64
}

// cost reads the counters of the shard and of the processes; worker may be nil.
func (f *fixture) cost(ctx context.Context, worker *process) (c cost, err error) {
	conn, err := pgx.Connect(ctx, f.shardURL)
	if err != nil {
		return c, err
	}
	defer conn.Close(ctx)
	// Processes publish their counts when they are idle for a moment.
	if _, err := conn.Exec(ctx, `SELECT pg_stat_clear_snapshot(), pg_sleep(1.2)`); err != nil {
		return c, err
	}
	var server int
	if err := conn.QueryRow(ctx, `
		SELECT (SELECT COALESCE(sum(n_tup_ins + n_tup_upd + n_tup_del), 0) FROM pg_stat_user_tables)::FLOAT8,
			xact_commit::FLOAT8, (SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer')
		FROM pg_stat_database WHERE datname = current_database()`).Scan(&c.rows, &c.commits, &server); err != nil {
		return c, err
	}
	checkpointer, err := readStat(server)
	if err != nil {
		return c, err
	}
	if c.database, err = familyCPU(checkpointer.parent); err != nil {
		return c, err
	}
	pids := map[int]*float64{os.Getpid(): &c.self}
	if worker != nil {
		pids[worker.cmd.Process.Pid] = &c.worker
	}
	for pid, seconds := range pids {
		s, err := readStat(pid)
		if err != nil {
			return c, err
		}
		*seconds = s.own
	}
	return c, nil
}

// stat is what /proc tells of a process.
type stat struct {
	parent int
	// own is its CPU time, children that of the children it waited for.
	own, children float64
}

// ticks are the units of CPU time in /proc, of which Linux has 100 a second.
const ticks = 100

func readStat(pid int) (s stat, err error) {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return s, err
	}
	// The name before may hold anything but ends at the last parenthesis.
	fields := strings.Fields(string(line[bytes.LastIndexByte(line, ')')+1:]))
	number := func(field int) float64 {
		n, e := strconv.ParseFloat(fields[field-3], 64)
		if e != nil {
			err = e
		}
		return n
	}
	s.parent = int(number(4))
	s.own, s.children = (number(14)+number(15))/ticks, (number(16)+number(17))/ticks
	return s, err
}

// familyCPU is the CPU time of a process and of its children, also of those
// that ended.
func familyCPU(parent int) (float64, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, err
	}
	own, err := readStat(parent)
	if err != nil {
		return 0, err
	}
	sum := own.own + own.children
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		// One that ended between the two is among those that were waited for.
		if s, err := readStat(pid); err == nil && s.parent == parent {
			sum += s.own
		}
	}
	return sum, nil
}
