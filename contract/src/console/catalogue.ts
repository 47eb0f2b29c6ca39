import { z } from "zod";
import { priceSchema } from "../config.ts";
import { route } from "./route.ts";
import { at, count, managedBy } from "./words.ts";

const priceChangeSchema = z.object({
  model: z.string(),
  provider: z.string().describe("Of its first deployment, by whose model the catalogue was asked."),
  upstream_model: z.string(),
  managed_by: managedBy,
  from: at
    .nullable()
    .describe("When it comes into force, taken now or later; within thirty days. null: when it is taken."),
  before: priceSchema.nullable().describe("null: it has none."),
  after: priceSchema,
  guessed: z
    .boolean()
    .describe(
      "The catalogue's entry is for a similar name (`claude-sonnet-5` for `claude-sonnet-5-5`). Check the price before you take it.",
    ),
});

const catalogueSchema = z.object({
  source: z.string().describe("Where the catalogue in use is from."),
  taken_at: at.nullable().describe("null: it came with the program."),
  digest: z.string().nullable().describe("SHA-256 of what was taken; null: it came with the program."),
  published_at: at.nullable().describe("null: the data does not say."),
  age_days: count.nullable().describe("Since it was published, or else taken. null: neither is known."),
  models: count.describe("How many it knows."),
  changes: z
    .array(priceChangeSchema)
    .describe("Prices that it knows and models have not. One that somebody has set is never among them."),
  version: z.string().describe("Of these changes; it is sent back with those that are taken."),
});
export type ConsoleCatalogue = z.infer<typeof catalogueSchema>;

export const catalogueRoutes = {
  "catalogue.show": route({
    method: "GET",
    path: "/api/catalogue",
    summary: "The catalogue of prices, and what it would change",
    needs: "administrator",
    answer: catalogueSchema,
  }),
  "catalogue.take": route({
    method: "POST",
    path: "/api/catalogue/take",
    summary: "Take prices of the catalogue, each as a new version",
    needs: "administrator",
    body: z.strictObject({
      version: z.string().min(1).max(128).describe("As it was shown: 409 when something has changed since."),
      models: z
        .array(z.string().min(1).max(256))
        .min(1)
        .max(10_000)
        .optional()
        .describe("Default: all that were shown."),
    }),
    answer: catalogueSchema.extend({
      taken: z.array(z.string()),
      guessed: z.array(z.string()).describe("Of those taken, models whose price is a guess: check them."),
    }),
  }),
} as const;
