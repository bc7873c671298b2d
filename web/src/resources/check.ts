// Asks the server about what is typed, when the typing pauses: one question at a time, and none about what was asked already.
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, Refused, take, type Finding, type Plan } from "../api/client";
import type { Mark } from "../code";
import { toJson } from "../code/convert";
import { read } from "../code/document";
import { rangeIn, stepsOf } from "../code/pointer";

export interface Checked {
  state: "off" | "asking" | "taken" | "refused" | "unknown";
  /** One sentence about it. */
  words: string;
  marks: Mark[];
  plan?: Plan;
}

const off: Checked = { state: "off", words: "", marks: [] };

export function useServerCheck(tenant: string, fleet: string, text: string, wanted: boolean): Checked {
  const [rested] = useDebouncedValue(text, 700);
  const [asked, setAsked] = useState<string>();
  const ask = useQuery({
    queryKey: ["plan-one", tenant, fleet, asked],
    queryFn: ({ signal }) => planOne(tenant, fleet, asked ?? "", signal),
    enabled: asked !== undefined,
    retry: false,
    staleTime: Infinity,
    gcTime: 0, // what is typed is not kept, a secret above all
  });
  const ready = wanted && rested === text && rested !== asked && !ask.isFetching && read(rested).errors.length === 0;
  if (ready) setAsked(rested);
  if (!wanted) return off;
  if (asked !== text || ask.isFetching) return { ...off, state: "asking", words: read(text).errors.length > 0 ? "The server is asked when the document can be read." : "The server is asked when you pause." };
  return toldOf(text, ask.data, ask.error);
}

/** What an answer says of the text. */
export function toldOf(text: string, plan: Plan | undefined, error: unknown): Checked {
  if (error instanceof Refused && error.status < 500 && error.status !== 429 && error.status !== 401) {
    const doc = read(text);
    const marks: Mark[] = error.faults.map((f) => ({ ...rangeIn(text, doc, inDocument(f.pointer ?? ""), f.code === "unknown_field"), severity: "error", message: f.detail }));
    return { state: "refused", words: marks.length > 0 ? `The server would refuse it: ${marks.length === 1 ? "1 fault" : `${marks.length} faults`}.` : `The server would refuse it: ${error.message}`, marks };
  }
  if (error) return { state: "unknown", words: `It was not checked by the server: ${error instanceof Error ? error.message : "no answer"}`, marks: [] };
  if (!plan) return off;
  return { state: "taken", words: planWords(plan), marks: findingMarks(text, (plan.findings?.items ?? []).filter((f) => f.at !== undefined), (f) => inDocument(f.at ?? "")), plan };
}

function planWords(plan: Plan): string {
  const action = plan.resources[0]?.action;
  if (action === "unchanged") return "The server takes it. It is what is stored already.";
  const { reach } = plan;
  if (!reach || reach.nodes === 0) return "The server takes it.";
  return `The server takes it. It would reach ${reach.reached} of ${reach.nodes} ${reach.nodes === 1 ? "node" : "nodes"}.`;
}

/** Findings of the one document, at their lines. */
export function findingMarks(text: string, findings: readonly Finding[], at: (f: Finding) => string[] = (f) => stepsOf(f.pointer)): Mark[] {
  if (findings.length === 0) return [];
  const doc = read(text);
  return findings.map((f) => ({ ...rangeIn(text, doc, at(f)), severity: f.severity, message: f.detail }));
}

/** A pointer into what was sent, as one into the only document in it. */
function inDocument(pointer: string): string[] {
  const steps = stepsOf(pointer);
  return steps[0] === "resources" && steps[1] === "0" ? steps.slice(2) : [];
}

/** What writing this one document would do. The document goes as it was typed, whole numbers with all their digits. */
function planOne(tenant: string, fleet: string, text: string, signal: AbortSignal): Promise<Plan> {
  const body = `{"resources":[${toJson(text, 0)}]}`;
  return take(api.POST("/v1/tenants/{tenant}/fleets/{fleet}/plan", { params: { path: { tenant, fleet }, query: { limit: 1 } }, body: { resources: [] }, bodySerializer: () => body, signal }));
}
