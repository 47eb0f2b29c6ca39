import { z } from "zod";
import { passThroughSchema } from "../config.ts";
import { limitScopes } from "./states.ts";

/** What the schemas of the admin API are made of. Times are Unix milliseconds, money is USD, lists page by cursor. */
export const at = z.int().nonnegative().describe("Unix milliseconds.");
export const maybeAt = at.nullable();
export const count = z.int().nonnegative();
export const usd = z.number().nonnegative().describe("USD.");
export const ms = z.number().nonnegative().describe("Milliseconds.");
export const id = z.string().min(1).max(128);
export const label = z.string().trim().min(1).max(256);
export const patterns = z.array(z.string().min(1).max(256)).max(1_000).describe("Names of models, or patterns with *.");
/** Of answers, and of bodies of those who may give it. */
export const passThrough = passThroughSchema.describe(
  "Ids of providers whose own API may be used whole, below /v1/providers/{id}/; workspace, group and key must each name one.",
);
export const managedBy = z
  .enum(["file", "console", "suspended"])
  .describe(
    "`file` objects are read-only here: change the config file. `suspended` objects are no longer in the config file: they cannot be used, can be deleted, and resume when the file declares them again.",
  );

/** A page of a list, newest or first first. `next` goes into `cursor`; null at the end. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({ data: z.array(item), next: z.string().nullable() });
}

export const pageQuery = z.object({
  cursor: z.string().max(2_048).optional(),
  limit: z.coerce.number().int().min(1).max(200).optional().describe("Default 50."),
});

export const nothing = z.object({});

/** What becomes of the API keys that somebody made who may no longer manage them. */
export const leaverKeysSchema = z
  .union([z.enum(["revoke", "disable"]), z.strictObject({ hand_over_to: id.describe("A user's id.") })])
  .describe(
    "Needed when somebody leaves API keys behind that they made and that are not revoked: they are revoked for good, " +
      "disabled until an admin enables them, or handed over to a member or an administrator.",
  );
export type LeaverKeys = z.infer<typeof leaverKeysSchema>;

/** Somebody as lists show them. */
export const personSchema = z.object({ id, email: z.string(), name: z.string() });
export type Person = z.infer<typeof personSchema>;

/** How far the budget of a key, a group or a workspace is used. */
export const budgetUse = {
  budget_used: z
    .number()
    .nullable()
    .describe(
      "USD of its own budget in the running period; null: it has none, that cannot be read now, or it is somebody else's and not for the caller.",
    ),
  exhausted_by: z
    .enum(limitScopes)
    .nullable()
    .describe("Whose budget is exhausted, so that calls are refused with 402: the narrowest; null: none is."),
};
