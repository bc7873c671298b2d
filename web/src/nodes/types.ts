// The words of the API that filters offer, with what they mean.
import type { NodeResourceState, ResourceType } from "../api/client";

export const resourceTypes: readonly ResourceType[] = ["listeners", "routes", "scoped-routes", "virtual-hosts", "clusters", "endpoints", "secrets", "runtimes", "extensions"];

export const stateWords: Record<NodeResourceState, { color: string; means: string }> = {
  synced: { color: "teal", means: "The node has confirmed it." },
  pending: { color: "yellow", means: "The node has not confirmed it yet, or it is withheld from it." },
  refused: { color: "red", means: "The node refused the fleet's version. Another one stands in where there is one." },
  absent: { color: "red", means: "The node refused every version that it was sent, and holds none." },
  unreferenced: { color: "gray", means: "Nothing in the fleet names it, and clients ask for this type by name: the node has it only if its own bootstrap asks." },
  not_subscribed: { color: "gray", means: "The node does not ask for it, so it is not sent." },
  on_demand: { color: "gray", means: "It is delivered by name alone: the node has it if it has asked for it, which is not told." },
  unmatched: { color: "gray", means: "No variant of it matches the node, so the node has none." },
};

/** What a list of what a node holds can be narrowed to. */
export const listedStates = ["synced", "pending", "refused", "absent", "unreferenced", "not_subscribed", "on_demand"] as const satisfies readonly NodeResourceState[];

/** "not_subscribed" for people. */
export const stateWord = (s: NodeResourceState) => s.replaceAll("_", " ");
