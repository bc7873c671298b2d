// The one door to the API. What it takes and answers is generated from openapi.yaml.
import createClient from "openapi-fetch";
import type { paths, FieldError, Problem } from "../../../clients/typescript/src/schema";

export type * from "../../../clients/typescript/src/schema";

/** The session's cookie goes along by itself. The header is what a page of another site cannot send. */
export const api = createClient<paths>({
  baseUrl: typeof location === "undefined" ? "" : location.origin,
  credentials: "same-origin",
  cache: "no-store",
  fetch: (request) => globalThis.fetch(request), // the one of the moment: tests play the server
  headers: { "X-Fairlead-Request": "1" },
});

/** An error that the API answered. */
export class Refused extends Error {
  readonly status: number;
  readonly code: string;
  readonly faults: FieldError[];
  constructor(readonly problem: Problem) {
    super(problem.detail ?? problem.title);
    this.name = "Refused";
    this.status = problem.status;
    this.code = problem.code;
    this.faults = problem.errors ?? [];
  }
}

/** The API did not answer, or something before it did. */
export class Unreachable extends Error {
  constructor(words: string) {
    super(words);
    this.name = "Unreachable";
  }
}

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** Called when an answer says that there is no session any more. */
let onSignedOut: () => void = () => undefined;
export function whenSignedOut(f: () => void) {
  onSignedOut = f;
}

/** What the API answered. Throws Refused or Unreachable. */
export async function take<T>(asked: Promise<Answer<T>>): Promise<T> {
  return (await takeWhole(asked)).data;
}

/** The same with the answer's headers, for those who need the ETag. */
export async function takeWhole<T>(asked: Promise<Answer<T>>): Promise<{ data: T; headers: Headers }> {
  let answer: Answer<T>;
  try {
    answer = await asked;
  } catch (e) {
    if (e instanceof DOMException && e.name === "AbortError") throw e;
    throw new Unreachable("The server does not answer.");
  }
  const { data, error, response } = answer;
  if (response.ok) return { data: data as T, headers: response.headers };
  if (isProblem(error)) {
    if (error.status === 401) onSignedOut();
    throw new Refused(error);
  }
  throw new Unreachable(`Something before the API answered ${response.status}.`);
}

export function isProblem(error: unknown): error is Problem {
  return typeof error === "object" && error !== null && "code" in error && "request_id" in error;
}

/** Whether asking again may help by itself. */
export function isPassing(e: unknown): boolean {
  return e instanceof Unreachable || (e instanceof Refused && (e.status === 503 || e.status === 429));
}
