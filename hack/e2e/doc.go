// Package e2e proves the product on a real Kubernetes, with images of the tree
// as it is and a database outside of the cluster. make e2e runs it: hack/e2e.sh
// starts the cluster and says in the environment where it is. Elsewhere the
// tests are skipped.
package e2e
