import { z } from "zod";
import { guardrailFields, guardrailScopeMax } from "../guardrail-fields.ts";
import { guardrailChecks } from "../guardrail-table.ts";
import { route } from "./route.ts";
import { at, count, id, personSchema } from "./words.ts";

const ids = z.array(id).max(guardrailScopeMax).optional();
const { check, on, at: places, action, unreadable, stream } = guardrailFields;

/** Requests that an answer lists. */
export const replayFoundMax = 50;
/** The same as for the fields of a guardrail. */
const replayBytesMax = 1024 * 1024;

/** Sums of one side: of the captured requests, or of their answers. */
const sideSchema = z.object({
  examined: count,
  blocked: count,
  masked: count,
  flagged: count,
  unreadable: count.describe("Files, pictures and other bodies that are not stored as text."),
  cut: count.describe("Only the beginning was captured, and examined."),
  redacted: count.describe(
    "Credentials were removed before the body was stored, so the guardrail could not find them there.",
  ),
  failed: count,
});

/** Results of one guardrail on captured requests. */
export const capturedResultFields = {
  not_run: z
    .enum(guardrailChecks)
    .nullable()
    .describe("Nothing was examined: this check asks a model or a service, which would cost money and send the texts."),
  calls: count
    .nullable()
    .describe(
      "Requests of this time to which the guardrail would apply, captured or not. null: continued with a cursor.",
    ),
  captured: count.describe("Captured requests that were examined."),
  found: count.describe("Captured requests with a finding in the request or the answer."),
  input: sideSchema,
  output: sideSchema.describe("Answers of requests that would not have been blocked."),
  types: z.array(z.object({ type: z.string(), findings: count })),
  people: z
    .array(z.object({ person: personSchema, requests: count }))
    .describe("Senders of the requests with findings. Shared keys have no person."),
  keys: z.array(z.object({ id, name: z.string(), requests: count })),
  requests: z
    .array(
      z.object({
        request_id: id,
        at,
        workspace: z.object({ id, slug: z.string() }),
        key: z.object({ id, name: z.string() }),
        person: personSchema.nullable(),
        side: z.enum(["input", "output"]),
        verdict: z.enum(["blocked", "masked", "flagged", "failed"]),
      }),
    )
    .describe(`Requests with findings, newest first; at most ${replayFoundMax}.`),
  read_until: at.describe("Everything since then was examined."),
};

const guardrailReplaySchema = z.object({
  from: at.describe("Widened to whole hours, like `to`."),
  to: at,
  ...capturedResultFields,
  next: z.string().nullable().describe("Cursor to continue with. null: the whole time was examined."),
});
export type GuardrailReplay = z.infer<typeof guardrailReplaySchema>;

export const guardrailReplayRoutes = {
  "guardrails.replay": route({
    method: "POST",
    path: "/api/workspaces/{workspace}/guardrails/replay",
    summary:
      "Count the results that a guardrail would have on captured requests, newest first, for at most two seconds. Continue with `next` and add up the answers. Nothing is stored, and no text is returned; each call adds an audit entry",
    needs: "admin",
    body: z.strictObject({
      ...{ check, on, action, unreadable, stream },
      at: places.nullable().describe("Places to check. null: everywhere."),
      ...{ workspaces: ids, groups: ids, keys: ids },
      from: z.int().nonnegative().optional().describe("Default: seven days before `to`."),
      to: z.int().nonnegative().optional().describe("Default: now."),
      cursor: z.string().max(512).optional(),
    }),
    bodyBytesMax: replayBytesMax,
    answer: guardrailReplaySchema,
  }),
} as const;
