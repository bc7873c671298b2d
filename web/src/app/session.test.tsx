import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse } from "msw";
import { expect, test } from "vitest";
import { open } from "../test/render";
import { get, me, on, problem, server } from "../test/server";

test("without a session one signs in, and stays where one was", async () => {
  let signed = false;
  server.use(
    on("get", "/v1/whoami", () => (signed ? HttpResponse.json(me) : problem(401, "unauthenticated", "sign in"))),
    on("post", "/v1/session", async ({ request }) => {
      expect(await request.json()).toEqual({ token: "fla_x" });
      expect(request.headers.get("X-Fairlead-Request")).toBe("1");
      signed = true;
      return new HttpResponse(null, { status: 204 });
    }),
    get("/v1/tenants/acme/tokens", { items: [] }),
    get("/v1/tenants/acme/sessions", { items: [] }),
    get("/v1/tenants/acme/usage", { items: [], fleets: [] }),
  );
  open("/settings");
  await userEvent.type(await screen.findByLabelText(/API token/), " fla_x ");
  await userEvent.click(screen.getByRole("button", { name: "Sign in" }));
  expect(await screen.findByRole("heading", { level: 1, name: "Settings" })).toBeTruthy();
});
