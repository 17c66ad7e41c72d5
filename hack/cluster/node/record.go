package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// record is what Up notes of the node's first process. A process id comes round
// again, so that of another process is told from it by the time it started.
type record struct {
	pid     int
	started string
	// programs is the folder the daemons are of.
	programs string
}

func recordFile(state string) string { return filepath.Join(state, "process") }

func (r record) write(state string) error {
	return os.WriteFile(recordFile(state), fmt.Appendf(nil, "%d\n%s\n%s\n", r.pid, r.started, r.programs), 0o600)
}

// readRecord is nil where no node was started, or not far enough to be noted.
func readRecord(state string) (*record, error) {
	text, err := os.ReadFile(recordFile(state))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	lines := strings.Split(string(text), "\n")
	if len(lines) < 3 {
		return nil, nil
	}
	pid, err := strconv.Atoi(lines[0])
	if err != nil || pid <= 1 {
		return nil, fmt.Errorf("%s names no process: %q", recordFile(state), lines[0])
	}
	return &record{pid: pid, started: lines[1], programs: lines[2]}, nil
}

// alive tells whether the very process still runs.
func (r record) alive() bool {
	started, state, err := processOf(r.pid)
	return err == nil && started == r.started && state != "Z" && state != "X"
}

// processOf reads when a process started, in ticks since the machine did, and
// its state.
func processOf(pid int) (started, state string, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", "", err
	}
	return parseStat(string(text))
}

// parseStat reads a line of proc_pid_stat(5). The second field is a name in
// parentheses that may hold anything, so fields count from its end.
func parseStat(line string) (started, state string, err error) {
	const stateField, startField = 3, 22
	end := strings.LastIndexByte(line, ')')
	if end < 0 {
		return "", "", fmt.Errorf("no process in %q", line)
	}
	fields := strings.Fields(line[end+1:])
	if len(fields) <= startField-stateField {
		return "", "", fmt.Errorf("no start time in %q", line)
	}
	return fields[startField-stateField], fields[0], nil
}
