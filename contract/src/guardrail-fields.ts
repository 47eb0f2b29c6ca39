import { z } from "zod";
import {
  guardrailActions,
  guardrailBounds,
  guardrailPlaces,
  guardrailSides,
  personalDataTypes,
} from "./guardrail-table.ts";
import { slugPattern, slugRule } from "./names.ts";

const slug = z.string().regex(slugPattern, slugRule);
const modelName = z.string().min(1).max(256);
const failure = z.enum(["block", "pass"]);

export const personalDataTypesSchema = z.array(z.enum(personalDataTypes)).min(1);

const patternSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9_-]{0,39}$/, "a letter, then letters, digits, dashes or underscores; at most 40")
    .describe("Name of its findings, and of their placeholders."),
  regex: z.string().min(1).max(guardrailBounds.patternCharsMax).describe("In RE2 syntax: without lookaround."),
});

const textChecks = [
  z.strictObject({ kind: z.literal("credentials") }),
  z.strictObject({
    kind: z.literal("personal_data"),
    types: personalDataTypesSchema.optional().describe("Default: every type."),
  }),
  z.strictObject({
    kind: z.literal("patterns"),
    patterns: z.array(patternSchema).min(1).max(guardrailBounds.patternsMax),
  }),
  z.strictObject({
    kind: z.literal("words"),
    words: z.array(z.string().trim().min(1).max(guardrailBounds.wordCharsMax)).min(1).max(guardrailBounds.wordsMax),
    whole_words: z.boolean().optional().describe("Default: true."),
    ignore_case: z.boolean().optional().describe("Default: true."),
  }),
] as const;

const modelChecks = [
  z.strictObject({
    kind: z.literal("moderation"),
    model: modelName.describe("A moderation model of the gateway."),
    categories: z
      .array(z.string().min(1).max(64))
      .min(1)
      .max(64)
      .optional()
      .describe("Categories of the model that count. Default: all."),
    threshold: z.number().min(0).max(1).optional().describe("Lowest score that counts. Default: the model decides."),
  }),
  z.strictObject({
    kind: z.literal("classifier"),
    model: modelName.describe("A chat model of the gateway."),
    instructions: z.string().trim().min(1).max(8_000).describe("The contents to find, in plain words."),
  }),
] as const;

const webhookCheck = {
  kind: z.literal("webhook"),
  url: z
    .url({ protocol: /^https?$/ })
    .max(2_048)
    .describe("An http or https URL. `SLUICE_WEBHOOK_ALLOW` must list a private one."),
};

const secret = z.string().min(16).max(512).describe("Signs the requests, so that the webhook can verify them.");

/** The check of a guardrail in the config file and in a request. */
export const guardrailCheckSchema = z
  .discriminatedUnion("kind", [
    ...textChecks,
    ...modelChecks,
    z.strictObject({ ...webhookCheck, secret: secret.nullable().optional() }),
  ])
  .describe("The contents that the guardrail finds.");
export type GuardrailCheckConfig = z.infer<typeof guardrailCheckSchema>;

/** The check of a guardrail in a response, without a secret. */
export const shownGuardrailCheckSchema = z.discriminatedUnion("kind", [
  ...textChecks,
  ...modelChecks,
  z.strictObject({ ...webhookCheck, has_secret: z.boolean() }),
]);

/** The fields that guardrails of an installation and of a workspace have in common. */
export const guardrailFields = {
  name: slug.describe("Callers see it when it refuses their request or answer."),
  enabled: z.boolean().optional().describe("Default: true."),
  on: z
    .array(z.enum(guardrailSides))
    .min(1)
    .max(guardrailSides.length)
    .optional()
    .describe("Check requests (`input`), answers (`output`), or both. Default: both."),
  at: z
    .array(z.enum(guardrailPlaces))
    .min(1)
    .max(guardrailPlaces.length)
    .optional()
    .describe("Places to check. Default: everywhere."),
  check: guardrailCheckSchema,
  action: z
    .enum(guardrailActions)
    .describe(
      "`block` refuses the call. `mask` replaces findings with placeholders and restores them in the answer. `flag` only records them.",
    ),
  on_error: failure
    .optional()
    .describe("If the check fails or is too slow. Default: `block`; of a guardrail that flags: `pass`."),
  unreadable: failure
    .optional()
    .describe("Contents that cannot be read, such as images and encrypted reasoning. Default: `pass`."),
  stream: z
    .enum(["window", "whole"])
    .optional()
    .describe(
      "How to check a streamed answer: while it passes (`window`), or before its first byte (`whole`). Default: `window`.",
    ),
  timeout_ms: z
    .int()
    .min(guardrailBounds.timeoutMsMin)
    .max(guardrailBounds.timeoutMsMax)
    .optional()
    .describe("Default: 2000."),
  enforce: z
    .boolean()
    .optional()
    .describe("false: shadow mode. Findings are recorded, calls are not changed. Default: true."),
};

/** Longest lists of workspaces, groups and keys that a guardrail applies to. */
export const guardrailScopeMax = 1_000;
const namesOf = (item: z.ZodString) => z.array(item).max(guardrailScopeMax).optional();
const keyName = z.string().min(1).max(256);
const qualified = z
  .string()
  .max(320)
  .regex(/^[a-z0-9][a-z0-9-]{0,62}\/./, "the workspace and the name, as in acme/ci");

export const guardrailSchema = z.strictObject({
  ...guardrailFields,
  workspaces: namesOf(slug).describe(
    "Slugs of workspaces. With `groups` and `keys` empty too, it applies to every call of the installation.",
  ),
  groups: namesOf(qualified).describe("Groups that it applies to: `acme/support`."),
  keys: namesOf(qualified).describe("Keys that it applies to: `acme/ci`."),
});

export const workspaceGuardrailSchema = z.strictObject({
  ...guardrailFields,
  groups: namesOf(slug).describe("Groups that it applies to. With `keys` empty too: every call of the workspace."),
  keys: namesOf(keyName).describe("Keys that it applies to."),
});

export type GuardrailConfig = z.infer<typeof guardrailSchema>;
export type WorkspaceGuardrailConfig = z.infer<typeof workspaceGuardrailSchema>;
