package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// toConfirm makes of a refusal until it is confirmed the problem that says why, and gives it the
// token that confirms it: of content, what the write comes to. Other errors stay what they are.
func toConfirm(err error, content [16]byte) error {
	var asked *store.UnconfirmedError
	if !errors.As(err, &asked) {
		return err
	}
	why := each(asked.Reasons, reasonOf)
	p := refuse(http.StatusPreconditionRequired, "confirmation_required",
		strings.Join(each(why, func(r oapi.ConfirmReason) string { return r.Detail }), "; ")+
			": if that is meant, send the same again with this answer's token as confirm")
	p.confirm, p.cause = why, err
	p.token = planToken{asked.Seen, content, store.ReasonsOf(asked.Reasons)}.String()
	return p
}

// confirmedDeletion reads what confirms a deletion; zero where nothing was sent.
func confirmedDeletion(sent *string, of [16]byte) (planToken, error) {
	if sent == nil {
		return planToken{}, nil
	}
	seen, ok := parsePlanToken(*sent)
	switch {
	case !ok:
		return seen, badParameter("confirm", "invalid_plan", notAPlan)
	case seen.content != of:
		name := "confirm"
		return seen, refuse(http.StatusPreconditionFailed, "precondition_failed", "this token confirms something else than this deletion",
			oapi.FieldError{Parameter: &name, Code: "other_content", Detail: "the token is of another fleet or tenant, or of no deletion"})
	}
	return seen, nil
}

// reasonOf tells why something is to be confirmed.
func reasonOf(r store.Reason) oapi.ConfirmReason {
	out := oapi.ConfirmReason{Code: oapi.ConfirmCode(r.Code), Count: r.Count}
	switch r.Code {
	case store.ReasonMostOfType:
		out.Type, out.Of = optional(oapi.ResourceType(r.Type.Slug())), &r.Of
		out.Detail = fmt.Sprintf("%d of the fleet's %d %s would be deleted", r.Count, r.Of, r.Type.Slug())
	case store.ReasonRemovesMany:
		out.Detail = fmt.Sprintf("%d resources would be removed", r.Count)
	case store.ReasonRefusedVersion:
		out.Nodes = &r.Nodes
		out.Detail = fmt.Sprintf("%s would come back in a version that %s refused", howMany(r.Count, "resource", "resources"), howMany(r.Nodes, "node has", "nodes have"))
	case store.ReasonLiveNodes:
		out.Detail = fmt.Sprintf("%s connected: the streams end, and the proxies go on with what they have", howMany(r.Count, "node is", "nodes are"))
	}
	return out
}

func howMany(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
