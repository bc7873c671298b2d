// How the topology is told.
import type { ResourceType } from "../api/client";
import type { Mark, Name } from "./graph";

const single: Record<ResourceType, string> = {
  listeners: "listener",
  routes: "route",
  "scoped-routes": "scoped route",
  "virtual-hosts": "virtual host",
  clusters: "cluster",
  endpoints: "endpoints",
  secrets: "secret",
  runtimes: "runtime",
  extensions: "extension",
};

/** "cluster", of one resource. */
export const typeWord = (type: ResourceType) => single[type];

/** "1 cluster", "48 endpoints". */
export function amount(n: number, type: ResourceType): string {
  return `${n} ${n === 1 ? single[type] : type.replace("-", " ")}`;
}

/** The state in a few words; "" of what is there and well. */
export function stateWords(n: Pick<Name, "state" | "mark">): string {
  if (n.mark) return n.mark.words;
  return n.state === "bootstrap" ? "in the proxies' bootstrap" : "";
}

/** The state of several at once, in one or two words. */
export const groupWords: Record<Mark["kind"], string> = { missing: "not there", refused: "refused", withheld: "withheld", pending: "not answered yet" };

export const markColor: Record<Mark["kind"], string> = { missing: "red", refused: "red", withheld: "orange", pending: "yellow" };
