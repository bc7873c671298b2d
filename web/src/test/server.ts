// The API, played by MSW. Answers are typed from the contract: one that the API could not give does not compile.
import { http, HttpResponse, type HttpResponseResolver } from "msw";
import { setupServer } from "msw/node";
import type { Problem, Whoami } from "../api/client";
import { authorOf, type Author } from "../draft/store";

export const me: Whoami = { kind: "tenant", id: "t-1", name: "tester", tenant: "acme", role: "owner" };

/** Whose drafts they are who is signed in as me. */
export const author: Author = authorOf(me);

const origin = location.origin;

/** Answers a GET of the path, whose parameters are written as ":fleet". */
export function get<T extends object>(path: string, answer: T | ((request: Request) => T)) {
  return http.get(`${origin}${path}`, ({ request }) => HttpResponse.json(typeof answer === "function" ? answer(request) : answer));
}

/** Answers any method as it likes. */
export function on(method: "get" | "post" | "put" | "patch" | "delete", path: string, resolve: HttpResponseResolver) {
  return http[method](`${origin}${path}`, resolve);
}

/** The API's answer of an error. */
export function problem(status: number, code: string, detail: string, more: Partial<Problem> = {}) {
  const body: Problem = { type: "about:blank", title: code, status, code, detail, request_id: "r-1", ...more };
  return HttpResponse.json(body, { status, headers: { "Content-Type": "application/problem+json" } });
}

export const server = setupServer(get("/v1/whoami", me));
