// The client of Fairlead's API. What it takes and answers is in schema.ts, which is generated from openapi.yaml.
import createClient, { type Client } from "openapi-fetch";
import type { FieldError, paths, Problem } from "./schema.js";

export type * from "./schema.js";

/** One method for each method of HTTP: `api.GET("/v1/tenants/{tenant}/fleets/{fleet}", {params: {path: {tenant, fleet}}})`. */
export type Api = Client<paths>;

/** Connects to an API with a token. Nothing is asked yet. */
export function connect(url: string, token: string): Api {
  return createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${token}` } });
}

/** What every method returns. */
export interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** Returns what the API answered. Throws a Refused if that is a problem, and an Error if it is not the API's answer. */
export function check<T>(answer: Answer<T>): T {
  const { data, error, response } = answer;
  if (response.ok) {
    return data as T;
  }
  if (isProblem(error)) {
    throw new Refused(error);
  }
  throw new Error(`an answer ${response.status} ${response.statusText} that is not the API's`);
}

/** An error that the API answered. */
export class Refused extends Error {
  constructor(readonly problem: Problem) {
    super(words(problem));
    this.name = "Refused";
  }
}

function isProblem(error: unknown): error is Problem {
  return typeof error === "object" && error !== null && "code" in error && "request_id" in error;
}

/** The status, the code, the sentence, and a line for each fault of the input. */
function words(p: Problem): string {
  const first = `${p.status} ${p.code}: ${p.detail ?? p.title} (request ${p.request_id})`;
  return [first, ...(p.errors ?? []).map((e) => `  ${place(e)}: ${e.detail}`)].join("\n");
}

/** Where a fault is: a pointer into the body, or a parameter. */
function place(e: FieldError): string {
  return e.parameter ?? (e.pointer || "the body");
}
