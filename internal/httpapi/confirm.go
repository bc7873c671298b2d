package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/httpapi/write"
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
	p.token = write.PlanToken{Seen: asked.Seen, Content: content, Reasons: store.ReasonsOf(asked.Reasons)}.String()
	return p
}

// confirmedDeletion reads what confirms a deletion; zero where nothing was sent.
func confirmedDeletion(sent *string, of [16]byte) (write.PlanToken, error) {
	if sent == nil {
		return write.PlanToken{}, nil
	}
	seen, ok := write.ParsePlanToken(*sent)
	switch {
	case !ok:
		return seen, badParameter("confirm", "invalid_plan", write.NotAPlan)
	case seen.Content != of:
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

// errNotPlanned refuses an apply of something else than what its plan was of; pointer is where the token stands.
func errNotPlanned(pointer string) error {
	return refuse(http.StatusPreconditionFailed, "precondition_failed", "the content is not what this plan was of: plan what is to be applied, and apply that",
		oapi.FieldError{Pointer: &pointer, Code: "other_content", Detail: "the plan was of other content, or of another fleet"})
}

// errRollsBackOther refuses a rollback that changes something else than what was seen.
func errRollsBackOther(pointer string) error {
	return refuse(http.StatusPreconditionFailed, "precondition_failed", "the rollback would change something else than what was seen: plan it again, and roll back what that shows",
		oapi.FieldError{Pointer: &pointer, Code: "other_content", Detail: "others have written since, or the token is of something else"})
}
