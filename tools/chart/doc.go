// Package chart holds the tests of the Helm chart in deploy/helm, which is rendered by Helm itself. They are a module of their own: nothing of Helm
// is in the product.
package chart
