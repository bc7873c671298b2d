// Package xdstest puts an xds.Server behind an in-memory connection and scripts its
// clients, with grpc's own codec: what it sees is what any client sees. The scripts work
// with any other server as well. They are made for bubbles of testing/synctest, in which
// quiet is certain and waiting costs nothing.
package xdstest
