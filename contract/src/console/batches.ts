import { z } from "zod";
import { route } from "./route.ts";
import { batchStates } from "./states.ts";
import { at, count, id, pageOf, pageQuery, usd } from "./words.ts";

const consoleBatchSchema = z.object({
  id: id.describe("`batch_…`, as `batch_id` of its requests."),
  api_id: id.describe("The id in its own API, such as `msgbatch_…`."),
  api: z.enum(["openai", "anthropic", "gemini"]),
  endpoint: z.string(),
  workspace: z.object({ id, slug: z.string() }),
  key: z.object({ id, name: z.string() }),
  name: z.string().describe("The caller's name for it; empty: none."),
  model: z.string().describe("Empty: its rows name several models."),
  provider: z.string().nullable().describe("The vendor that runs it as a batch. null: the gateway runs its rows."),
  state: z.enum(batchStates),
  rows: z.object({
    total: count,
    succeeded: count,
    failed: count,
    canceled: count,
    expired: count,
    open: count.describe("Rows that have not ended."),
  }),
  cost_usd: usd.describe("Cost of the rows that have ended."),
  created_at: at,
  started_at: at.nullable(),
  ended_at: at.nullable(),
  expires_at: at.describe("Rows that have not begun by then are not run."),
});
export type ConsoleBatch = z.infer<typeof consoleBatchSchema>;

const batchDetailSchema = consoleBatchSchema.extend({
  reserved_usd: usd.describe("Held for rows that have not ended, in pieces of 1,000 rows. 0 if it has ended."),
  input_file: z.string().nullable().describe("`file-…` with its rows. null: they were part of the request."),
  metadata: z.record(z.string(), z.string()),
  cancel_at: at.nullable().describe("When it was canceled."),
  results: z
    .array(z.enum(["output", "errors"]))
    .describe("Results that the caller may download at `batchResultPath`; empty: none yet, or no right to them."),
  results_until: at.nullable().describe("When its results are deleted. null: it has not ended."),
  problems: z
    .array(z.object({ line: count.nullable(), code: z.string(), message: z.string() }))
    .describe("Why the batch was refused, by line of its input. `line` null: the whole batch."),
  failed_rows: z
    .array(
      z.object({
        row: count.describe("From 1."),
        custom_id: z.string(),
        request_id: id.describe("Id of its request. A vendor's refusal of a row has no request."),
        status: z.int().nullable(),
        code: z.string().nullable().describe("The code or type of the error in the answer."),
      }),
    )
    .describe("The first failed rows, at most 50."),
});
export type BatchDetail = z.infer<typeof batchDetailSchema>;

/** Batches of a workspace. To create one, call the data plane with a key. Their results are at `batchResultPath`. */
export const batchRoutes = {
  "batches.list": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/batches",
    summary: "List batches, newest first. Members and viewers see only their own batches and batches of shared keys",
    needs: "viewer",
    query: pageQuery.extend({
      state: z
        .enum([...batchStates, "open"])
        .optional()
        .describe("`open`: every batch that has not ended."),
      model: z.string().max(256).optional(),
      key: id.optional(),
      person: id.optional().describe("User id. Only admins may name another user."),
    }),
    answer: pageOf(consoleBatchSchema),
  }),
  "batches.show": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/batches/{batch}",
    summary: "Get a batch with its failed rows",
    needs: "viewer",
    answer: batchDetailSchema,
  }),
  "batches.cancel": route({
    method: "POST",
    path: "/api/workspaces/{workspace}/batches/{batch}/cancel",
    summary: "Cancel a batch. Rows that run are finished and charged, no further row begins",
    needs: "member",
    answer: consoleBatchSchema,
  }),
} as const;
