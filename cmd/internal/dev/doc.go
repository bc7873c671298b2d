// Package dev is `fairlead dev`: Postgres, both servers, a demo and an Envoy in one
// process, from nothing to a routed request.
package dev
