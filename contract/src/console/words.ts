import { z } from "zod";
import { passThroughSchema } from "../config.ts";
import { linePattern, lineRule } from "../names.ts";
import { limitedObjects } from "./states.ts";

/** Shared fields of the admin API. */
export const at = z.int().nonnegative().describe("Unix milliseconds.");
export const maybeAt = at.nullable();
export const count = z.int().nonnegative();
export const usd = z.number().nonnegative().describe("USD.");
/** A cost of the ledger. */
export const cost = z.number().describe("USD. Negative where adjustments exceed the cost of calls.");
export const signedUsd = z.number();
export const ms = z.number().nonnegative().describe("Milliseconds.");
export const id = z.string().min(1).max(128);
export const label = z.string().trim().min(1).max(256).regex(linePattern, lineRule);
export const patterns = z.array(z.string().min(1).max(256)).max(1_000).describe("Model names, or patterns with *.");
export const passThrough = passThroughSchema.describe(
  "Ids of providers that may be called directly, with their own API, below /v1/providers/{id}/. Workspace, group and key must each list the provider.",
);
export const managedBy = z
  .enum(["file", "console", "suspended"])
  .describe(
    "`file` objects are read-only here: change the config file. `suspended` objects are no longer in the config file: they cannot be used, can be deleted, and resume when the file declares them again.",
  );

/** A page of a list. `next` is the `cursor` of the next page; null at the end. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({ data: z.array(item), next: z.string().nullable() });
}

/** A page of a list that counts its rows. `total` counts the rows of all pages that match the filters. */
export function totalPageOf<Item extends z.ZodType>(item: Item) {
  return pageOf(item).extend({ total: count });
}

/** A page of a list that may be too long to count. */
export function countedPageOf<Item extends z.ZodType>(item: Item) {
  return pageOf(item).extend({
    total: count
      .nullable()
      .describe("Rows of all pages that match the filters, at most 100,000. null: too many rows to count the matches."),
    more_than_total: z.boolean().describe("There are more than `total`."),
  });
}

export const pageQuery = z.object({
  cursor: z.string().max(2_048).optional(),
  limit: z.coerce.number().int().min(1).max(200).optional().describe("Default 50."),
});

export const nothing = z.object({});

const leaverKeyActionSchema = z.union([
  z.enum(["revoke", "disable"]),
  z.strictObject({ hand_over_to: id.describe("A user's id.") }),
]);
export type LeaverKeyAction = z.infer<typeof leaverKeyActionSchema>;

/** Key ids in a list of decisions; a request body has room for them. */
export const decidedKeysMax = 1_000;

/** The treatment of the API keys of a user who leaves: one action for all, or a list of actions with the keys that each is for. */
export const leaverKeysSchema = z
  .union([
    leaverKeyActionSchema,
    z
      .array(z.strictObject({ action: leaverKeyActionSchema, keys: z.array(id).min(1).max(decidedKeysMax) }))
      .min(1)
      .max(100),
  ])
  .describe(
    "Required if the user created or owns API keys that are in use: revoke them permanently, " +
      "disable them until an admin enables them, or hand them over to a member or an administrator. " +
      "An action applies to each key. A list decides about each key by its id and must name exactly these keys; " +
      "otherwise the call fails with `conflict` and changes nothing. `GET …/keys?leaver=<user id>` lists them.",
  );
export type LeaverKeys = z.infer<typeof leaverKeysSchema>;

/** A user as shown in lists. */
export const personSchema = z.object({ id, email: z.string(), name: z.string() });
export type Person = z.infer<typeof personSchema>;

/** Usage of the budget of a key, group or workspace. */
export const budgetUse = {
  budget_used: z
    .number()
    .nullable()
    .describe(
      "USD used of its budget in this period. null: no budget, not readable now, or not visible to the caller.",
    ),
  exhausted_by: z
    .enum(limitedObjects)
    .nullable()
    .describe("The narrowest exhausted budget, which refuses calls with 402. null: none."),
};
