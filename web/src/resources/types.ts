// The types of resources, as they are called in the API and among people.
import type { ResourceType } from "../api/client";

export const types: readonly ResourceType[] = ["listeners", "routes", "scoped-routes", "virtual-hosts", "clusters", "endpoints", "secrets", "runtimes", "extensions"];

const one: Record<ResourceType, string> = {
  listeners: "listener",
  routes: "route configuration",
  "scoped-routes": "scoped route",
  "virtual-hosts": "virtual host",
  clusters: "cluster",
  endpoints: "endpoints",
  secrets: "secret",
  runtimes: "runtime",
  extensions: "extension",
};

export const oneOf = (type: ResourceType) => one[type];

export function isType(word: string | undefined): word is ResourceType {
  return types.some((t) => t === word);
}
