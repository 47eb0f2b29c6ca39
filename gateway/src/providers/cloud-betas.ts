import { type FieldPlaces, findFields, type Warn } from "#protocols/index.ts";
import type { OutboundDraft } from "./outbound-draft.ts";
import { settingList } from "./settings.ts";

/** What one cloud takes of Anthropic's betas. It refuses the whole request for one that it does not know. */
interface CloudBetas {
  readonly takes: readonly string[];
  /** Betas that it knows by other names. */
  readonly renames: Readonly<Record<string, readonly string[]>>;
}

const common: readonly string[] = [
  "interleaved-thinking-2025-05-14",
  "context-1m-2025-08-07",
  "context-management-2025-06-27",
  "compact-2026-01-12",
  "computer-use-2025-01-24",
  "computer-use-2025-11-24",
  "tool-search-tool-2025-10-19",
];

/** Source: docs.aws.amazon.com/bedrock, "Anthropic Claude Messages API", beta headers; and "Tool search tool". */
export const bedrockBetas: CloudBetas = {
  takes: [
    ...common,
    "effort-2025-11-24",
    "tool-examples-2025-10-29",
    "fine-grained-tool-streaming-2025-05-14",
    "token-efficient-tools-2025-02-19",
  ],
  renames: { "advanced-tool-use-2025-11-20": ["tool-search-tool-2025-10-19", "tool-examples-2025-10-29"] },
};

/** Source: platform.claude.com, "Claude on Vertex AI" and "Tool search tool". */
export const vertexBetas: CloudBetas = {
  takes: common,
  renames: { "advanced-tool-use-2025-11-20": ["tool-search-tool-2025-10-19"] },
};

interface RequestedBetas extends Pick<OutboundDraft, "provider" | "upstreamModel" | "body"> {
  /** By the caller. */
  readonly named: readonly string[];
}

/**
 * The betas that a cloud is told, and the body that fits them. `settings.betas` of a provider says otherwise which it takes, "*" all
 * of them. A beta that belongs to fields is told where the body has them, named or not: Anthropic's own API takes many
 * without it by now. Where it is not taken, the fields go, with a warning where somebody would miss them.
 */
export function sentBetas(cloud: CloudBetas, asked: RequestedBetas, warn?: Warn) {
  const { provider, upstreamModel, body } = asked;
  const said = Array.isArray(provider.settings["betas"]) ? settingList(provider, "betas") : null;
  const named = [...new Set(asked.named)];
  if (said?.includes("*") === true) return { betas: named, body };
  const taken = new Set<unknown>(said ?? cloud.takes);
  const renamed = named.flatMap((beta) => (taken.has(beta) ? [beta] : (cloud.renames[beta] ?? [beta])));
  const found = body === null ? null : fieldsIn(body, upstreamModel);
  const needed = (found?.betas ?? []).flatMap((beta) => takenAs(beta, taken));
  const betas = [...new Set([...renamed, ...needed])].filter((beta) => taken.has(beta) && fits(beta, needed, said));
  const unknown = renamed.filter((beta) => !taken.has(beta) && betaFields.every((field) => field.beta !== beta));
  if (unknown.length > 0) warn?.("betas that the upstream does not take were left out");
  const refused = found?.betas.filter((beta) => takenAs(beta, taken).length === 0) ?? [];
  if (found === null || refused.length === 0) return { betas, body };
  return { betas, body: found.without(refused, (what) => warn?.(what)) };
}

/** The same beta of whatever date. */
function takenAs(beta: string, taken: ReadonlySet<unknown>): readonly string[] {
  const isSame = (one: unknown): one is string => typeof one === "string" && familyOf(one) === familyOf(beta);
  return taken.has(beta) ? [beta] : [...taken].filter(isSame).slice(0, 1);
}

function familyOf(beta: string): string {
  return beta.replace(/-\d{4}-\d{2}-\d{2}$/, "");
}

function fits(beta: string, needed: readonly string[], said: readonly unknown[] | null): boolean {
  return (
    said !== null ||
    needed.includes(beta) ||
    betaFields.every((field) => field.beta !== beta || field.onlyWithFields !== true)
  );
}

export function namedBetas(header: string | undefined): readonly string[] {
  return (header ?? "").split(",").flatMap((beta) => beta.trim() || []);
}

/** Fields of a messages request that belong to a beta. */
interface BetaField {
  readonly beta: string;
  /** Where they are; see FieldPlaces. */
  readonly at: FieldPlaces;
  /** Models that take them only with it; absent: all. */
  readonly models?: RegExp;
  /** Without them the beta asks for nothing, and models that need none for them refuse it. */
  readonly onlyWithFields?: true;
  /** What the caller hears when they are left out; null: the answer does not depend on them. */
  readonly lost: string | null;
}

/** Sources: platform.claude.com, the page of each; the types of @anthropic-ai/sdk. */
const betaFields: readonly BetaField[] = [
  {
    beta: "tool-search-tool-2025-10-19",
    at: { ofTools: ["defer_loading"], toolTypes: ["tool_search_tool_"] },
    onlyWithFields: true,
    lost: "the search for tools is not taken by the upstream: all tools were given to the model at once",
  },
  {
    beta: "tool-examples-2025-10-29",
    at: { ofTools: ["input_examples"] },
    onlyWithFields: true,
    lost: "input_examples of tools are not taken by the upstream and were left out",
  },
  {
    beta: "fine-grained-tool-streaming-2025-05-14",
    at: { ofTools: ["eager_input_streaming"] },
    lost: null,
  },
  {
    beta: "effort-2025-11-24",
    at: { nested: { output_config: ["effort"] } },
    models: /opus-4-5/,
    onlyWithFields: true,
    lost: "the effort is not taken by the upstream and was left out",
  },
  {
    beta: "context-management-2025-06-27",
    at: { members: ["context_management"] },
    lost: "context_management is not taken by the upstream and was left out",
  },
  {
    beta: "mcp-client-2025-11-20",
    at: { members: ["mcp_servers"], toolTypes: ["mcp_toolset"] },
    lost: "MCP servers are not called by the upstream and were left out",
  },
  {
    beta: "thinking-binding-controls-2026-08-01",
    at: { nested: { thinking: ["block_binding"] } },
    lost: "block_binding is not taken by the upstream and was left out",
  },
  {
    beta: "task-budgets-2026-03-13",
    at: { nested: { output_config: ["task_budget"] } },
    lost: "task_budget is not taken by the upstream and was left out",
  },
  {
    beta: "advisor-tool-2026-03-01",
    at: { toolTypes: ["advisor_"] },
    lost: "the advisor is not asked by the upstream and was left out",
  },
  {
    beta: "fast-mode-2026-02-01",
    at: { members: ["speed"] },
    lost: "speed is not taken by the upstream and was left out",
  },
  { beta: "prompt-caching-scope-2026-01-05", at: { ofCacheMarks: ["scope"] }, lost: null },
];

/** Looked for in the bytes first; null: it has none of them. */
function fieldsIn(body: Uint8Array, upstreamModel: string) {
  const asked = betaFields.filter(({ models }) => models === undefined || models.test(upstreamModel));
  const document = findFields(
    body,
    asked.map(({ at }) => at),
  );
  if (document === null) return null;
  const there = asked.filter(({ at }) => document.has(at));
  return {
    /** The betas whose fields the body has. */
    betas: there.map(({ beta }) => beta),
    /** The body without the fields of these betas. */
    without(betas: readonly string[], warn: Warn): Uint8Array {
      const gone = there.filter(({ beta }) => betas.includes(beta));
      for (const { lost } of gone) if (lost !== null) warn(lost);
      return document.without(gone.map(({ at }) => at));
    },
  };
}
