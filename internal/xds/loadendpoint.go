package xds

import (
	"net"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"fairlead/internal/load"
)

// Tags of what an UpstreamEndpointStats holds.
const (
	endpointAddress                                                           = 1<<3 | bytesOf
	endpointSucceeded, endpointInProgress, endpointFailed, endpointIssued tag = 2<<3 | varint, 3<<3 | varint, 4<<3 | varint, 7<<3 | varint
)

// endpoint decodes what a locality says of one of its endpoints.
func (r *loadReport) endpoint(c *load.Cluster, l *load.Locality, b []byte) error {
	if !r.endpoints || len(r.Clusters) >= load.MaxClusters { // of a cluster that is left out
		return nil
	}
	var e load.Endpoint
	var address []byte
	err := eachField(b, func(f field) error {
		switch f.tag {
		case endpointAddress:
			address = f.bytes
		case endpointIssued:
			e.Issued = f.n
		case endpointSucceeded:
			e.Succeeded = f.n
		case endpointFailed:
			e.Failed = f.n
		case endpointInProgress:
			e.InProgress = f.n
		}
		return nil
	})
	if err != nil || e.Issued|e.Succeeded|e.Failed|e.InProgress == 0 {
		return err
	}
	text, err := addressText(address)
	if err != nil {
		return err
	}
	n := len(l.Endpoints)
	for i := range c.Localities {
		n += len(c.Localities[i].Endpoints)
	}
	var ok bool
	if e.Address, ok = keptText(text, load.MaxText); !ok || e.Address == "" || n >= load.MaxEndpoints {
		r.LeftOut++
		return nil
	}
	l.Endpoints = append(l.Endpoints, e)
	return nil
}

// addressText is an Address as Envoy writes it: a host with its port, a path, or envoy://listener/endpoint of an internal listener.
func addressText(b []byte) (text []byte, err error) {
	err = eachBytes(b, func(num protowire.Number, v []byte) (err error) {
		switch num {
		case 1: // socket_address
			text, err = socketText(v)
		case 2: // pipe
			text = nil
			err = eachBytes(v, func(num protowire.Number, path []byte) error {
				if num == 1 {
					text = path
				}
				return nil
			})
		case 3: // envoy_internal_address
			text, err = internalText(v)
		}
		return err
	})
	return text, err
}

func socketText(b []byte) ([]byte, error) {
	var host, port string
	err := eachField(b, func(f field) error {
		switch f.tag {
		case 2<<3 | bytesOf:
			host = string(f.bytes)
		case 3<<3 | varint:
			port = strconv.FormatUint(f.n, 10)
		case 4<<3 | bytesOf:
			port = string(f.bytes)
		}
		return nil
	})
	return []byte(net.JoinHostPort(host, port)), err
}

func internalText(b []byte) ([]byte, error) {
	var name, id []byte
	err := eachBytes(b, func(num protowire.Number, v []byte) error {
		switch num {
		case 1:
			name = v
		case 2:
			id = v
		}
		return nil
	})
	return []byte("envoy://" + string(name) + "/" + string(id)), err
}
