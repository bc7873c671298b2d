// Package filesync is an xDS client that keeps what a node should hold as files from which an Envoy subscribes (path_config_source).
//
//   - folder: the files, written one by one so that all of them are whole at every moment;
//   - content: what the server has sent, what stands in the folder, and what may be written next;
//   - session: one stream, and what is answered on it;
//   - admin: what an Envoy says of the files that it has read;
//   - Sync: the streams, one after the other.
//
// It decides nothing about what a node holds: that does the server.
package filesync
