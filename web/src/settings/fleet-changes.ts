// What of a form is to be sent: the fields alone that differ from what the fleet has.
import type { Fleet, FleetUpdate } from "../api/client";

export type Settings = Pick<Fleet, "description" | "references" | "node_ids" | "receipt_window" | "forget_nodes_after" | "static_clusters" | "private_clusters" | "local_ports" | "load_report_interval" | "load_report_clusters" | "load_report_endpoints">;

export function changes(fleet: Settings, typed: Partial<Settings>): FleetUpdate {
  const update: FleetUpdate = {};
  if (typed.description !== undefined && typed.description !== fleet.description) update.description = typed.description;
  if (typed.references !== undefined && typed.references !== fleet.references) update.references = typed.references;
  if (typed.node_ids !== undefined && typed.node_ids !== fleet.node_ids) update.node_ids = typed.node_ids;
  if (typed.receipt_window !== undefined && typed.receipt_window.trim() !== fleet.receipt_window) update.receipt_window = typed.receipt_window.trim();
  if (typed.forget_nodes_after !== undefined && typed.forget_nodes_after.trim() !== fleet.forget_nodes_after) update.forget_nodes_after = typed.forget_nodes_after.trim();
  if (typed.static_clusters !== undefined && !same(typed.static_clusters, fleet.static_clusters)) update.static_clusters = typed.static_clusters;
  if (typed.private_clusters !== undefined && !same(typed.private_clusters, fleet.private_clusters)) update.private_clusters = typed.private_clusters;
  if (typed.local_ports !== undefined && !same(typed.local_ports, fleet.local_ports)) update.local_ports = typed.local_ports;
  if (typed.load_report_interval !== undefined && typed.load_report_interval.trim() !== (fleet.load_report_interval ?? "")) update.load_report_interval = typed.load_report_interval.trim();
  if (typed.load_report_clusters !== undefined && !same(typed.load_report_clusters, fleet.load_report_clusters ?? [])) update.load_report_clusters = typed.load_report_clusters;
  if (typed.load_report_endpoints !== undefined && typed.load_report_endpoints !== (fleet.load_report_endpoints ?? false)) update.load_report_endpoints = typed.load_report_endpoints;
  return update;
}

// What is typed as ports: what is none is left out.
export function portsOf(typed: readonly string[]): number[] {
  return typed.filter((text) => /^[0-9]{1,5}$/.test(text)).map(Number).filter((port) => port >= 1 && port <= 65535);
}

// Where Envoy's admin interface listens by default.
export const adminPort = 9901;

function same<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((name, i) => name === b[i]);
}
