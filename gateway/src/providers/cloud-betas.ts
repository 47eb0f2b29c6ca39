import { type FieldPlaces, findFields, type Warn } from "#protocols/index.ts";
import type { OutboundDraft } from "./outbound-draft.ts";
import { settingList } from "./settings.ts";

/** The Anthropic betas that a cloud supports. It refuses requests with others. */
interface CloudBetas {
  readonly supports: readonly string[];
  /** The cloud's names for a beta. */
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
  supports: [
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
  supports: common,
  renames: { "advanced-tool-use-2025-11-20": ["tool-search-tool-2025-10-19"] },
};

interface RequestedBetas extends Pick<OutboundDraft, "provider" | "upstreamModel" | "body"> {
  /** From the caller's header. */
  readonly named: readonly string[];
}

/**
 * The betas to send to a cloud, and the matching body. `settings.betas` overrides the supported ones, "*" allows all. A
 * beta that belongs to fields is sent if the body has them, since Anthropic's own API accepts many without it. Fields of an
 * unsupported beta are dropped, with a warning if that changes the answer.
 */
export function betasFor(cloud: CloudBetas, request: RequestedBetas, warn?: Warn) {
  const { provider, upstreamModel, body } = request;
  const configured = Array.isArray(provider.settings["betas"]) ? settingList(provider, "betas") : null;
  const named = [...new Set(request.named)];
  if (configured?.includes("*") === true) return { betas: named, body };
  const supported = new Set<unknown>(configured ?? cloud.supports);
  const renamed = named.flatMap((beta) => (supported.has(beta) ? [beta] : (cloud.renames[beta] ?? [beta])));
  const found = body === null ? null : fieldsIn(body, upstreamModel);
  const needed = (found?.betas ?? []).flatMap((beta) => matchingBetas(beta, supported));
  const betas = [...new Set([...renamed, ...needed])].filter(
    (beta) => supported.has(beta) && isWanted(beta, needed, configured),
  );
  const unknown = renamed.filter((beta) => !supported.has(beta) && betaFields.every((field) => field.beta !== beta));
  if (unknown.length > 0) warn?.("betas that are not supported by the upstream were dropped");
  const refused = found?.betas.filter((beta) => matchingBetas(beta, supported).length === 0) ?? [];
  if (found === null || refused.length === 0) return { betas, body };
  return { betas, body: found.without(refused, (what) => warn?.(what)) };
}

/** Matches a beta of another date. */
function matchingBetas(beta: string, supported: ReadonlySet<unknown>): readonly string[] {
  const isSame = (one: unknown): one is string => typeof one === "string" && familyOf(one) === familyOf(beta);
  return supported.has(beta) ? [beta] : [...supported].filter(isSame).slice(0, 1);
}

function familyOf(beta: string): string {
  return beta.replace(/-\d{4}-\d{2}-\d{2}$/, "");
}

function isWanted(beta: string, needed: readonly string[], configured: readonly unknown[] | null): boolean {
  return (
    configured !== null ||
    needed.includes(beta) ||
    betaFields.every((field) => field.beta !== beta || field.onlyWithFields !== true)
  );
}

export function parseBetas(header: string | undefined): readonly string[] {
  return (header ?? "").split(",").flatMap((beta) => beta.trim() || []);
}

interface BetaField {
  readonly beta: string;
  readonly at: FieldPlaces;
  /** Models that need the beta for the fields; absent: all. */
  readonly models?: RegExp;
  /** Some models refuse the beta without its fields. */
  readonly onlyWithFields?: true;
  /** The warning when fields are dropped; null: they do not change the answer. */
  readonly warning: string | null;
}

/** Sources: platform.claude.com, the page of each; the types of @anthropic-ai/sdk. */
const betaFields: readonly BetaField[] = [
  {
    beta: "tool-search-tool-2025-10-19",
    at: { ofTools: ["defer_loading"], toolTypes: ["tool_search_tool_"] },
    onlyWithFields: true,
    warning: "tool search is not supported by the upstream: all tools were sent to the model",
  },
  {
    beta: "tool-examples-2025-10-29",
    at: { ofTools: ["input_examples"] },
    onlyWithFields: true,
    warning: "input_examples of tools are not supported by the upstream and were dropped",
  },
  {
    beta: "fine-grained-tool-streaming-2025-05-14",
    at: { ofTools: ["eager_input_streaming"] },
    warning: null,
  },
  {
    beta: "effort-2025-11-24",
    at: { nested: { output_config: ["effort"] } },
    models: /opus-4-5/,
    onlyWithFields: true,
    warning: "effort is not supported by the upstream and was dropped",
  },
  {
    beta: "context-management-2025-06-27",
    at: { members: ["context_management"] },
    warning: "context_management is not supported by the upstream and was dropped",
  },
  {
    beta: "mcp-client-2025-11-20",
    at: { members: ["mcp_servers"], toolTypes: ["mcp_toolset"] },
    warning: "MCP servers are not supported by the upstream and were dropped",
  },
  {
    beta: "thinking-binding-controls-2026-08-01",
    at: { nested: { thinking: ["block_binding"] } },
    warning: "block_binding is not supported by the upstream and was dropped",
  },
  {
    beta: "task-budgets-2026-03-13",
    at: { nested: { output_config: ["task_budget"] } },
    warning: "task_budget is not supported by the upstream and was dropped",
  },
  {
    beta: "advisor-tool-2026-03-01",
    at: { toolTypes: ["advisor_"] },
    warning: "the advisor is not supported by the upstream and was dropped",
  },
  {
    beta: "fast-mode-2026-02-01",
    at: { members: ["speed"] },
    warning: "speed is not supported by the upstream and was dropped",
  },
  { beta: "prompt-caching-scope-2026-01-05", at: { ofCacheMarks: ["scope"] }, warning: null },
];

/** null: the body has none of the fields. */
function fieldsIn(body: Uint8Array, upstreamModel: string) {
  const candidates = betaFields.filter(({ models }) => models === undefined || models.test(upstreamModel));
  const document = findFields(
    body,
    candidates.map(({ at }) => at),
  );
  if (document === null) return null;
  const present = candidates.filter(({ at }) => document.has(at));
  return {
    betas: present.map(({ beta }) => beta),
    without(betas: readonly string[], warn: Warn): Uint8Array {
      const removed = present.filter(({ beta }) => betas.includes(beta));
      for (const { warning: lost } of removed) if (lost !== null) warn(lost);
      return document.without(removed.map(({ at }) => at));
    },
  };
}
