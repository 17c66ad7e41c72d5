package embedded

import (
	"net"
	"strconv"
)

const loopback = "127.0.0.1"

// choosePort returns the port of the last start when it is free, so that the
// URLs people have noted keep working, else any free one. Another process can
// still take it before the server does; launch then chooses again.
func choosePort(d *directory) (int, error) {
	text, err := d.read("port")
	if err != nil {
		return 0, err
	}
	if last, err := strconv.Atoi(text); err == nil && portFree(last) {
		return last, nil
	}
	l, err := net.Listen("tcp4", net.JoinHostPort(loopback, "0"))
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

func portFree(port int) bool {
	l, err := net.Listen("tcp4", net.JoinHostPort(loopback, strconv.Itoa(port)))
	if err != nil {
		return false
	}
	return l.Close() == nil
}
