// Package chaos kills the product's processes at random while it works, and
// then looks for what was lost or made up. Its tests run short by themselves
// and long with make chaos.
package chaos
