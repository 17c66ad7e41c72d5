package shard

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/resource"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/store/database"
)

const (
	// lookAgain is when to look again at what nothing tells of: Secrets and databases.
	lookAgain = 30 * time.Second
	// inhabitedAgain is when to look whether the last organization has left.
	inhabitedAgain = 30 * time.Second
	// answerWithin is how long a database has to answer.
	answerWithin = 5 * time.Second
)

// secret reads the URL of a shard's database.
func (r *Rules) secret(ctx context.Context, s *v1alpha1.Shard) (string, error) {
	from := s.Spec.Database
	var secret corev1.Secret
	err := r.Reader.Get(ctx, client.ObjectKey{Namespace: r.Namespace, Name: from.SecretName}, &secret)
	if apierrors.IsNotFound(err) {
		return "", resource.Pending(lookAgain, "There is no Secret %s/%s with the URL of its database.", r.Namespace, from.SecretName)
	}
	if err != nil {
		return "", err
	}
	url := strings.TrimSpace(string(secret.Data[from.Key]))
	if url == "" {
		return "", resource.Pending(lookAgain, "The Secret %s/%s has no entry %q with the URL of its database.", r.Namespace, from.SecretName, from.Key)
	}
	if _, ok := placeOf(url); !ok {
		return "", invalidURL(s)
	}
	return url, nil
}

// invalidURL says nothing of the URL: it has a password.
func invalidURL(s *v1alpha1.Shard) error {
	refusal := resource.Invalid("The entry %q of the Secret %s is not the URL of a database, postgres://user:password@host/name.",
		s.Spec.Database.Key, s.Spec.Database.SecretName)
	refusal.After = lookAgain
	return refusal
}

// place is which database a URL means, whoever logs in and however.
type place string

func placeOf(url string) (place, bool) {
	if !strings.HasPrefix(url, "postgres://") && !strings.HasPrefix(url, "postgresql://") {
		return "", false
	}
	c, err := pgx.ParseConfig(url)
	if err != nil {
		return "", false
	}
	return place(fmt.Sprintf("%s:%d/%s", strings.ToLower(c.Host), c.Port, c.Database)), true
}

// check asks a database whether it can be a shard's.
func check(ctx context.Context, db *database.DB, url string) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	at, _ := placeOf(url)
	err := db.Supported(ctx)
	unsupported, old := errors.AsType[*database.UnsupportedError](err)
	uncertain, doubtful := errors.AsType[*database.EngineError](err)
	refused, answered := errors.AsType[*pgconn.PgError](err)
	switch {
	case err == nil:
		return nil
	case old:
		r := resource.Invalid("%s.", unsupported.Error())
		r.After = lookAgain
		return r
	case doubtful:
		r := resource.Invalid("Its database, %s: %s.", at, uncertain.Reason)
		r.After = lookAgain
		return r
	case answered && strings.HasPrefix(refused.Code, "28"):
		return resource.Pending(lookAgain, "Its database, %s, refuses the user or the password.", at)
	case answered && refused.Code == "3D000":
		return resource.Pending(lookAgain, "There is no database %s.", at)
	}
	return resource.Pending(lookAgain, "Its database, %s, does not answer.", at)
}

// fingerprint tells two URLs apart and nothing else of them: who sees it cannot try
// passwords out.
func (r *Rules) fingerprint(ctx context.Context, url string) (string, error) {
	key, err := r.Directory.Secret(ctx, "fingerprints", vault.NewKey)
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(url))
	return hex.EncodeToString(mac.Sum(nil)[:8]), nil
}

// databases keeps a small pool for each shard's database.
type databases struct {
	mu    sync.Mutex
	pools map[string]pool
}

type pool struct {
	url string
	*database.DB
}

// open is the pool of a shard, a new one where it has another URL by now.
func (d *databases) open(shard, url string) (*database.DB, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p, ok := d.pools[shard]; ok && p.url == url {
		return p.DB, nil
	}
	db, err := database.Open(url, database.PoolOptions{MaxConns: 2})
	if err != nil {
		return nil, err
	}
	d.drop(shard)
	if d.pools == nil {
		d.pools = map[string]pool{}
	}
	d.pools[shard] = pool{url, db}
	return db, nil
}

func (d *databases) close(shard string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.drop(shard)
}

func (d *databases) drop(shard string) {
	if p, ok := d.pools[shard]; ok {
		delete(d.pools, shard)
		go p.Close() // it waits for what is under way
	}
}
