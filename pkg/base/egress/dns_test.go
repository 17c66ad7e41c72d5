package egress_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"
)

// records are what the server of names says, whatever name it is asked for.
type records struct {
	addrs     []netip.Addr
	aliases   int // how many CNAMEs come before them
	code      dnsmessage.RCode
	truncated bool // over UDP, so that it is asked again over TCP
	silent    bool
}

// nameServer is a DNS server on loopback whose answers change as a test likes.
// Nothing it says may be remembered by others: every TTL is zero.
type nameServer struct {
	says      atomic.Pointer[records]
	questions atomic.Int32
	udp       net.PacketConn
	tcp       net.Listener
}

func serveNames(t *testing.T) *nameServer {
	t.Helper()
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &nameServer{udp: udp, tcp: tcp}
	s.say(records{})
	t.Cleanup(func() {
		udp.Close()
		tcp.Close()
	})
	go s.serveUDP()
	go s.serveTCP()
	return s
}

func (s *nameServer) say(r records) { s.says.Store(&r) }

func (s *nameServer) sayAddrs(addrs ...string) { s.say(records{addrs: parseAddrs(addrs...)}) }

func parseAddrs(addrs ...string) []netip.Addr {
	parsed := make([]netip.Addr, len(addrs))
	for i, addr := range addrs {
		parsed[i] = netip.MustParseAddr(addr)
	}
	return parsed
}

// resolver is the language's own, with the server for the network's.
func (s *nameServer) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		address := s.udp.LocalAddr().String()
		if network == "tcp" {
			address = s.tcp.Addr().String()
		}
		return new(net.Dialer).DialContext(ctx, network, address)
	}}
}

func (s *nameServer) serveUDP() {
	buffer := make([]byte, 4096)
	for {
		n, from, err := s.udp.ReadFrom(buffer)
		if err != nil {
			return
		}
		if reply := s.reply(buffer[:n], s.says.Load().truncated); reply != nil {
			_, _ = s.udp.WriteTo(reply, from)
		}
	}
}

func (s *nameServer) serveTCP() {
	for {
		conn, err := s.tcp.Accept()
		if err != nil {
			return
		}
		go s.serveConn(conn)
	}
}

func (s *nameServer) serveConn(conn net.Conn) {
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	var length [2]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return
	}
	question := make([]byte, binary.BigEndian.Uint16(length[:]))
	if _, err := io.ReadFull(conn, question); err != nil {
		return
	}
	if reply := s.reply(question, false); reply != nil {
		_, _ = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...))
	}
}

// reply packs what the server says, nil for nothing.
func (s *nameServer) reply(packed []byte, truncated bool) []byte {
	s.questions.Add(1)
	says := s.says.Load()
	var question dnsmessage.Message
	if says.silent || question.Unpack(packed) != nil || len(question.Questions) != 1 {
		return nil
	}
	reply := dnsmessage.Message{
		Header: dnsmessage.Header{
			ID: question.ID, Response: true, RecursionAvailable: true, RecursionDesired: question.RecursionDesired,
			RCode: says.code, Truncated: truncated,
		},
		Questions: question.Questions,
	}
	if !truncated {
		reply.Answers = says.answers(question.Questions[0])
	}
	out, err := reply.Pack()
	if err != nil {
		return nil
	}
	return out
}

func (r *records) answers(q dnsmessage.Question) []dnsmessage.Resource {
	var answers []dnsmessage.Resource
	name := q.Name
	add := func(kind dnsmessage.Type, body dnsmessage.ResourceBody) {
		header := dnsmessage.ResourceHeader{Name: name, Type: kind, Class: dnsmessage.ClassINET}
		answers = append(answers, dnsmessage.Resource{Header: header, Body: body})
	}
	for i := range r.aliases {
		alias := dnsmessage.MustNewName(string(rune('a'+i)) + ".alias.example.")
		add(dnsmessage.TypeCNAME, &dnsmessage.CNAMEResource{CNAME: alias})
		name = alias
	}
	for _, addr := range r.addrs {
		switch {
		case addr.Is4() && q.Type == dnsmessage.TypeA:
			add(q.Type, &dnsmessage.AResource{A: addr.As4()})
		case addr.Is6() && q.Type == dnsmessage.TypeAAAA:
			add(q.Type, &dnsmessage.AAAAResource{AAAA: addr.As16()})
		}
	}
	return answers
}
