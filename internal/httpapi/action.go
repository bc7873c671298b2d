package httpapi

import (
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
)

var wordsByAction = [fleet.NumActions]string{
	fleet.ActionNoSuspect:      "nothing sent: no resource could be held responsible",
	fleet.ActionKept:           "kept the last known good version",
	fleet.ActionRemoved:        "removed from this node: no version of it was ever accepted",
	fleet.ActionFrozen:         "kept back from its present stream alone: this node refuses so many resources of this type; it is offered again on the next one",
	fleet.ActionUnknown:        "left alone: the version that this node has is not known to this server",
	fleet.ActionLost:           "left alone: the bytes of the last known good version are not there any more; write the resource again",
	fleet.ActionStandInRefused: "left alone: the version that stood in for it was refused too",
	fleet.ActionSuperseded:     "nothing kept back: another version is in force by now",
	fleet.ActionDeleted:        "nothing kept back: the resource is deleted by now",
}

// actionWords says for people what was done about a refusal; "" if none is told of.
func actionWords(a fleet.Action, beside bool) string {
	words := wordsByAction[a]
	if beside && words != "" {
		words += "; another stream with this node id goes on as it is"
	}
	return words
}

// actionCode is nil where no action is told of.
func actionCode(a fleet.Action) *oapi.ActionCode {
	if a == fleet.ActionNone {
		return nil
	}
	code := oapi.ActionCode(a.String())
	return &code
}
