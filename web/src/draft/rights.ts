import { may } from "../app/session";
import type { Whoami } from "../api/client";

/** Whether the caller may write configuration and roll it back: all but a viewer, a pipeline too. */
export const mayWrite = (me: Whoami) => may(me, "ci");

/** Why not. */
export const whyNotWrite = (me: Whoami) => `Your role is ${me.role ?? me.kind}. To change the fleet takes an editor: ask an owner of the tenant for a token of that role.`;
