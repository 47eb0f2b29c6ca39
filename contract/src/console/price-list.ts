import { z } from "zod";
import { priceSchema } from "../config.ts";
import { route } from "./route.ts";
import { at, count, id, managedBy } from "./words.ts";

const priceChangeSchema = z.object({
  model: z.string(),
  provider: z.string().describe("Provider of the first deployment. The price list is searched for its model."),
  upstream_model: z.string(),
  managed_by: managedBy,
  from: at
    .nullable()
    .describe("When the price takes effect, at most thirty days ahead. null: as soon as it is applied."),
  before: priceSchema.nullable().describe("null: no price."),
  after: priceSchema,
  guessed: z
    .boolean()
    .describe(
      "The price is from an entry with a similar name (`claude-sonnet-5` for `claude-sonnet-5-5`). Check it before you apply it.",
    ),
});

const priceListSchema = z.object({
  source: z.string().describe("Origin of the price list in use."),
  loaded_at: at.nullable().describe("When this price list was loaded. null: the built-in price list."),
  digest: z.string().nullable().describe("SHA-256 of the file. null: the built-in price list."),
  published_at: at.nullable().describe("null: unknown."),
  age_days: count.nullable().describe("Days since it was published, or otherwise since it was loaded. null: unknown."),
  models: count.describe("Number of models."),
  changes: z
    .array(priceChangeSchema)
    .describe("Prices that differ from the current prices of models. Prices set by a user are never changed."),
  version: z.string().describe("Version of these changes. Send it back when you apply some of them."),
});
export type ConsolePriceList = z.infer<typeof priceListSchema>;

export const priceListRoutes = {
  "priceList.entry": route({
    method: "GET",
    path: "/api/price-list/entry",
    summary: "Find the price list's entry for an upstream model of a provider",
    needs: "administrator",
    query: z.object({ provider: id, upstream_model: z.string().min(1).max(256) }),
    answer: z.object({
      price: priceSchema.nullable().describe("null: unknown, or in a unit that cannot be charged."),
      guessed: z.boolean().describe("From an entry with a similar name. Check it."),
      context_window: count.nullable(),
      deprecated: z.boolean(),
    }),
  }),
  "priceList.show": route({
    method: "GET",
    path: "/api/price-list",
    summary: "Get the price list and the price changes it proposes",
    needs: "administrator",
    answer: priceListSchema,
  }),
  "priceList.apply": route({
    method: "POST",
    path: "/api/price-list/apply",
    summary: "Apply prices of the price list, each as a new version",
    needs: "administrator",
    body: z.strictObject({
      version: z.string().min(1).max(128).describe("The `version` of the changes. Returns 409 if they changed since."),
      models: z.array(z.string().min(1).max(256)).min(1).max(10_000).optional().describe("Default: all changes."),
    }),
    answer: priceListSchema.extend({
      applied: z.array(z.string()).describe("Models that got a new price."),
      guessed: z
        .array(z.string())
        .describe("Models in `applied` with a price guessed from a similar name. Check them."),
    }),
  }),
} as const;
