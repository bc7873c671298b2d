// Package door bounds what strangers cost who have not proved who they are: their connections, their calls, and the lines
// that they cause in the log.
package door
