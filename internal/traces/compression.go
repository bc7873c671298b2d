package traces

import (
	"errors"
	"io"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/gzip" // first, so that what it registers is replaced
)

// The exporter needs no more of grpc's gzip than its name. But to import that registers it for each gRPC server of the process, where a message of 255 KiB
// would become 256 MiB before its size is looked at (T17).
func init() { encoding.RegisterCompressor(refusing{}) }

var errCompressed = errors.New("this server takes no compressed messages, and sends none: leave grpc-encoding out")

// refusing stands in for a compressor.
type refusing struct{}

// Name implements encoding.Compressor.
func (refusing) Name() string { return gzip.Name }

// Compress implements encoding.Compressor.
func (refusing) Compress(io.Writer) (io.WriteCloser, error) { return nil, errCompressed }

// Decompress implements encoding.Compressor.
func (refusing) Decompress(io.Reader) (io.Reader, error) { return nil, errCompressed }
