// Nothing here is run: tsc refuses this file if a body of the API has lost its type.
import type { ApplyInput, FleetUpdate, operations } from "../src/index.js";

export const good: ApplyInput = { resources: [{ type: "clusters", name: "a", body: { name: "a" } }], expected_revision: 7 };

// @ts-expect-error: a member that the API does not have
export const misspelt: ApplyInput = { resorces: [] };

// @ts-expect-error: a member of another type
export const wrong: ApplyInput = { expected_revision: "7" };

// @ts-expect-error: a word that is none of the setting's
export const unknown: FleetUpdate = { references: "sometimes" };

/** The body that an operation takes, if it takes one. */
type Body<O> = O extends { requestBody: { content: infer C } } ? C[keyof C] : never;

/** The operations whose body could be anything. */
type Untyped = { [K in keyof operations]: unknown extends Body<operations[K]> ? K : never }[keyof operations];

type None<T extends never> = T;
export type EveryBodyIsTyped = None<Untyped>;
