package node

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// lifetime is more than any run of tests takes.
const lifetime = 30 * 24 * time.Hour

// identity is a party of the cluster and what it is known by.
type identity struct {
	file    string
	subject pkix.Name
	names   []string
	ips     []string
	// server is where it reaches the API server, if it is a client of it.
	server string
}

const inside, outside = "https://127.0.0.1:6443", "https://" + Address + ":6443"

func identities() []identity {
	component := func(name string) identity {
		return identity{file: name, subject: pkix.Name{CommonName: "system:" + name}, server: inside}
	}
	return []identity{
		{
			file: "apiserver", subject: pkix.Name{CommonName: "kube-apiserver"},
			names: []string{"kubernetes", "kubernetes.default", "kubernetes.default.svc", "localhost"},
			ips:   []string{"127.0.0.1", apiService, Address},
		},
		{
			file: "node", subject: pkix.Name{Organization: []string{"system:nodes"}, CommonName: "system:node:" + Name},
			names: []string{Name}, ips: []string{Address}, server: inside,
		},
		{
			file: "admin", subject: pkix.Name{Organization: []string{"system:masters"}, CommonName: "admin"},
			server: outside,
		},
		component("kube-controller-manager"), component("kube-scheduler"), component("kube-proxy"),
	}
}

// authority signs the cluster's certificates.
type authority struct {
	certificate *x509.Certificate
	key         crypto.Signer
	pem         []byte
}

// writeIdentities makes the cluster's keys, certificates and kubeconfigs.
func writeIdentities(state string, now time.Time) error {
	folder := filepath.Join(state, "pki")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	ca, err := newAuthority(now)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "ca.crt"), ca.pem, 0o600); err != nil {
		return err
	}
	for _, i := range identities() {
		certificate, key, err := ca.sign(i, now)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, i.file+".crt"), certificate, 0o600); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, i.file+".key"), key, 0o600); err != nil {
			return err
		}
		if i.server == "" {
			continue
		}
		if err := clientcmd.WriteToFile(kubeconfig(i.server, ca.pem, certificate, key), filepath.Join(state, i.file+".kubeconfig")); err != nil {
			return err
		}
	}
	return writeAccountKeys(folder)
}

func newAuthority(now time.Time) (authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return authority{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "visavis-cluster"},
		NotBefore: now.Add(-time.Minute), NotAfter: now.Add(lifetime),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return authority{}, err
	}
	certificate, err := x509.ParseCertificate(der)
	return authority{certificate: certificate, key: key, pem: block("CERTIFICATE", der)}, err
}

func (a authority) sign(i identity, now time.Time) (certificate, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: i.subject, DNSNames: i.names,
		NotBefore: now.Add(-time.Minute), NotAfter: now.Add(lifetime),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, ip := range i.ips {
		template.IPAddresses = append(template.IPAddresses, net.ParseIP(ip))
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, private.Public(), a.key)
	if err != nil {
		return nil, nil, err
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	return block("CERTIFICATE", der), block("PRIVATE KEY", pkcs8), err
}

// writeAccountKeys makes the pair that signs and proves service accounts.
func writeAccountKeys(folder string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "accounts.key"), block("PRIVATE KEY", private), 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "accounts.pub"), block("PUBLIC KEY", public), 0o600)
}

func kubeconfig(server string, ca, certificate, key []byte) api.Config {
	const name = "visavis"
	return api.Config{
		Clusters:       map[string]*api.Cluster{name: {Server: server, CertificateAuthorityData: ca}},
		AuthInfos:      map[string]*api.AuthInfo{name: {ClientCertificateData: certificate, ClientKeyData: key}},
		Contexts:       map[string]*api.Context{name: {Cluster: name, AuthInfo: name}},
		CurrentContext: name,
	}
}

func block(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
