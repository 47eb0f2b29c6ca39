import { type FieldPlaces, findFields, type Warn } from "#protocols/index.ts";

/** Fields of a messages request that belong to a beta. */
export interface BetaField {
  readonly beta: string;
  /** Where they are; see FieldPlaces. */
  readonly at: FieldPlaces;
  /** Models that take them only with it; absent: all. */
  readonly models?: RegExp;
  /** The beta is told without them too: it does more. */
  readonly always: boolean;
  /** What the caller hears when they are left out; null: the answer does not depend on them. */
  readonly lost: string | null;
}

/** Sources: platform.claude.com, the page of each; the types of @anthropic-ai/sdk. */
export const betaFields: readonly BetaField[] = [
  {
    beta: "tool-search-tool-2025-10-19",
    at: { ofTools: ["defer_loading"], toolTypes: ["tool_search_tool_"] },
    always: false,
    lost: "the search for tools is not taken by the upstream: all tools were given to the model at once",
  },
  {
    beta: "tool-examples-2025-10-29",
    at: { ofTools: ["input_examples"] },
    always: false,
    lost: "input_examples of tools are not taken by the upstream and were left out",
  },
  {
    beta: "fine-grained-tool-streaming-2025-05-14",
    at: { ofTools: ["eager_input_streaming"] },
    always: true,
    lost: null,
  },
  {
    beta: "effort-2025-11-24",
    at: { nested: { output_config: ["effort"] } },
    models: /opus-4-5/,
    always: false,
    lost: "the effort is not taken by the upstream and was left out",
  },
  {
    beta: "context-management-2025-06-27",
    at: { members: ["context_management"] },
    always: true,
    lost: "context_management is not taken by the upstream and was left out",
  },
  {
    beta: "mcp-client-2025-11-20",
    at: { members: ["mcp_servers"], toolTypes: ["mcp_toolset"] },
    always: true,
    lost: "MCP servers are not called by the upstream and were left out",
  },
  {
    beta: "thinking-binding-controls-2026-08-01",
    at: { nested: { thinking: ["block_binding"] } },
    always: true,
    lost: "block_binding is not taken by the upstream and was left out",
  },
  {
    beta: "task-budgets-2026-03-13",
    at: { nested: { output_config: ["task_budget"] } },
    always: true,
    lost: "task_budget is not taken by the upstream and was left out",
  },
  {
    beta: "advisor-tool-2026-03-01",
    at: { toolTypes: ["advisor_"] },
    always: true,
    lost: "the advisor is not asked by the upstream and was left out",
  },
  {
    beta: "fast-mode-2026-02-01",
    at: { members: ["speed"] },
    always: true,
    lost: "speed is not taken by the upstream and was left out",
  },
  { beta: "prompt-caching-scope-2026-01-05", at: { ofCacheMarks: ["scope"] }, always: true, lost: null },
];

export interface FieldsFound {
  /** The betas whose fields the body has. */
  readonly betas: readonly string[];
  /** The body without the fields of these betas. */
  without(betas: readonly string[], warn: Warn): Uint8Array;
}

/** Looked for in the bytes first; null: it has none of them. */
export function fieldsIn(body: Uint8Array, upstreamModel: string): FieldsFound | null {
  const asked = betaFields.filter(({ models }) => models === undefined || models.test(upstreamModel));
  const document = findFields(
    body,
    asked.map(({ at }) => at),
  );
  if (document === null) return null;
  const there = asked.filter(({ at }) => document.has(at));
  return {
    betas: there.map(({ beta }) => beta),
    without(betas, warn) {
      const gone = there.filter(({ beta }) => betas.includes(beta));
      for (const { lost } of gone) if (lost !== null) warn(lost);
      return document.without(gone.map(({ at }) => at));
    },
  };
}
