// Package run puts the two servers together out of their parts: the API server and the
// xDS server, each as flags, a constructor and components for package lifecycle. The
// commands api and xds run one of them, `fairlead dev` both.
package run
