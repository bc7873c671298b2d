package main

import (
	"errors"
	"fmt"

	"fairlead/internal/bootstrap"
)

// nodeLabels are the flags by which a bootstrap says what selectors ask of its node.
type nodeLabels struct {
	Metadata []string `name:"metadata" sep:"none" placeholder:"KEY=VALUE" help:"A field of the node's metadata, any number of them. The value is a text, unless it is JSON: true, 5, {...}, [...]."`
	Label    []string `name:"label" sep:"none" placeholder:"KEY=VALUE" help:"A label as a selector names it, any number of them: metadata.canary=true, locality.region=eu."`
}

// into writes them into a bootstrap.
func (l *nodeLabels) into(conf *bootstrap.Config) error {
	for _, text := range l.Metadata {
		if err := conf.SetMetadata(text); err != nil {
			return usageError(fmt.Sprintf("--metadata %s: %s", text, labelFault(err)))
		}
	}
	for _, text := range l.Label {
		if err := conf.SetLabel(text); err != nil {
			return usageError(fmt.Sprintf("--label %s: %s", text, labelFault(err)))
		}
	}
	return nil
}

// labelFault is what is wrong with a label, for the command line.
func labelFault(err error) string {
	var wrong *bootstrap.FieldError
	switch {
	case !errors.As(err, &wrong):
		return err.Error()
	case wrong.Field == "NodeID":
		return "write it as --node-id"
	}
	return wrong.Why
}
