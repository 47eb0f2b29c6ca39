import { z } from "zod";
import {
  guardrailCheckSchema,
  guardrailFields,
  guardrailScopeMax,
  shownGuardrailCheckSchema,
} from "../guardrail-fields.ts";
import { guardrailActions, guardrailChecks, guardrailPlaces, guardrailSides } from "../guardrail-table.ts";
import { route } from "./route.ts";
import { at, count, id, managedBy, nothing, pageOf } from "./words.ts";

const ids = z.array(id).max(guardrailScopeMax);
const failure = z.enum(["block", "pass"]);

const scopeFields = {
  workspaces: ids
    .optional()
    .describe("Ids. Only for guardrails of the installation. With `groups` and `keys` empty too: every call."),
  groups: ids.optional().describe("Ids of groups that it applies to. All three empty: every call of its workspace."),
  keys: ids.optional().describe("Ids of keys that it applies to."),
};

const { at: places, ...fields } = guardrailFields;
const draft = z.strictObject({
  ...fields,
  ...scopeFields,
  at: places.nullable().describe("Places to check. null: everywhere."),
});

const guardrailSchema = z.object({
  id,
  name: z.string(),
  workspace: z.object({ id, slug: z.string() }).nullable().describe("null: the installation."),
  inherited: z
    .boolean()
    .describe("Set by the installation for the workspace in the path, which cannot change or disable it."),
  enabled: z.boolean(),
  workspaces: ids.describe("Without workspaces that the caller cannot see."),
  groups: ids.describe("Without groups that the caller cannot see."),
  keys: ids.describe("Without keys that the caller cannot see."),
  all_calls: z.boolean().describe("It applies to every call of the installation or its workspace."),
  on: z.array(z.enum(guardrailSides)),
  at: z.array(z.enum(guardrailPlaces)).nullable().describe("null: everywhere."),
  kind: z.enum(guardrailChecks),
  check: shownGuardrailCheckSchema
    .nullable()
    .describe("null: only admins see it. Of the webhook of an inherited one, they see the host."),
  action: z.enum(guardrailActions),
  on_error: failure,
  unreadable: failure,
  stream: z.enum(["window", "whole"]),
  timeout_ms: z.int(),
  enforce: z.boolean().describe("false: shadow mode."),
  managed_by: managedBy,
  created_at: at,
});
export type ConsoleGuardrail = z.infer<typeof guardrailSchema>;

/** Longest text for `guardrails.test`, in UTF-16 code units. */
export const guardrailTestCharsMax = 10_000;

/** Most findings that the answer lists; `total` counts all. */
export const guardrailTestFindingsMax = 500;

/** Enough for the longest list of words of an average length. */
const guardrailBytesMax = 1024 * 1024;

const testResultSchema = z.object({
  findings: z.array(
    z.object({
      type: z.string().describe("For example `email`, or the name of the pattern."),
      start: count.describe("UTF-16 offset."),
      end: count.describe("UTF-16 offset, exclusive."),
    }),
  ),
  total: count.describe(`Number of findings. At most ${guardrailTestFindingsMax} are listed.`),
  masked: z.string().describe("The text with placeholders. `mask` sends longer ones."),
});
export type GuardrailTestResult = z.infer<typeof testResultSchema>;

export const guardrailRoutes = {
  "guardrails.list": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/guardrails",
    summary: "List a workspace's guardrails, also inherited ones of the installation. `-`: only the installation's",
    needs: "viewer",
    answer: pageOf(guardrailSchema),
  }),
  "guardrails.show": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/guardrails/{guardrail}",
    summary: "Get a guardrail",
    needs: "viewer",
    answer: guardrailSchema,
  }),
  "guardrails.create": route({
    method: "POST",
    path: "/api/workspaces/{workspace}/guardrails",
    summary: "Create a guardrail. `-` as the workspace: for the installation",
    needs: "admin",
    body: draft,
    bodyBytesMax: guardrailBytesMax,
    answer: guardrailSchema,
    status: 201,
  }),
  "guardrails.update": route({
    method: "PATCH",
    path: "/api/workspaces/{workspace}/guardrails/{guardrail}",
    summary: "Update, enable or disable a guardrail",
    needs: "admin",
    body: draft.partial(),
    bodyBytesMax: guardrailBytesMax,
    answer: guardrailSchema,
  }),
  "guardrails.remove": route({
    method: "DELETE",
    path: "/api/workspaces/{workspace}/guardrails/{guardrail}",
    summary: "Delete a guardrail",
    needs: "admin",
    answer: nothing,
  }),
  "guardrails.test": route({
    method: "POST",
    path: "/api/workspaces/{workspace}/guardrails/test",
    summary: "Try a check on a text. Nothing is stored",
    needs: "admin",
    body: z.strictObject({
      text: z.string().min(1).max(guardrailTestCharsMax),
      check: guardrailCheckSchema.optional().describe("A check that finds places in a text. Or name a `guardrail`."),
      guardrail: id.optional().describe("Id of a guardrail that applies in the workspace."),
    }),
    bodyBytesMax: guardrailBytesMax,
    answer: testResultSchema,
  }),
} as const;
