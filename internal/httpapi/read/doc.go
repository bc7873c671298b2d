// Package read keeps what is known of whole fleets, so that of one that is read again only what changed is.
package read
