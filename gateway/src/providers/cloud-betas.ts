import type { Provider } from "#core/index.ts";
import type { Warn } from "#protocols/index.ts";
import { betaFields, type FieldsFound, fieldsIn } from "./cloud-fields.ts";

/** What one cloud takes of Anthropic's betas. It refuses the whole request for one that it does not know. */
export interface CloudBetas {
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

export interface RequestedBetas {
  readonly provider: Provider;
  readonly upstreamModel: string;
  /** By the caller. */
  readonly named: readonly string[];
  readonly body: Uint8Array | null;
}

export interface SentBetas {
  readonly betas: readonly string[];
  readonly body: Uint8Array | null;
}

/**
 * The betas that a cloud is told, and the body that fits them. `settings.betas` of a provider says otherwise which it takes, "*" all
 * of them. A beta that belongs to fields is told where the body has them, named or not: Anthropic's own API takes many
 * without it by now. Where it is not taken, the fields go, with a warning where somebody would miss them.
 */
export function sentBetas(cloud: CloudBetas, asked: RequestedBetas, warn?: Warn): SentBetas {
  const { provider, upstreamModel, body } = asked;
  const said = betasSetting(provider);
  const named = [...new Set(asked.named)];
  if (said?.includes("*") === true) return { betas: named, body };
  const taken = new Set<unknown>(said ?? cloud.takes);
  const renamed = named.flatMap((beta) => (taken.has(beta) ? [beta] : (cloud.renames[beta] ?? [beta])));
  const found = body === null ? null : fieldsIn(body, upstreamModel);
  const needed = (found?.betas ?? []).flatMap((beta) => takenAs(beta, taken));
  const betas = [...new Set([...renamed, ...needed])].filter((beta) => taken.has(beta) && fits(beta, needed, said));
  const unknown = renamed.filter((beta) => !taken.has(beta) && betaFields.every((field) => field.beta !== beta));
  if (unknown.length > 0) warn?.("betas that the upstream does not take were left out");
  return { betas, body: body === null ? null : withoutFields(body, found, taken, warn) };
}

/** The same beta of whatever date. */
function takenAs(beta: string, taken: ReadonlySet<unknown>): readonly string[] {
  const isSame = (one: unknown): one is string => typeof one === "string" && familyOf(one) === familyOf(beta);
  return taken.has(beta) ? [beta] : [...taken].filter(isSame).slice(0, 1);
}

function familyOf(beta: string): string {
  return beta.replace(/-\d{4}-\d{2}-\d{2}$/, "");
}

/** A beta without its fields asks for nothing, and models that need none for them refuse it. */
function fits(beta: string, needed: readonly string[], said: readonly unknown[] | null): boolean {
  return said !== null || needed.includes(beta) || betaFields.every((field) => field.beta !== beta || field.always);
}

function withoutFields(
  body: Uint8Array,
  found: FieldsFound | null,
  taken: ReadonlySet<unknown>,
  warn?: Warn,
): Uint8Array {
  const refused = found?.betas.filter((beta) => takenAs(beta, taken).length === 0) ?? [];
  return found === null || refused.length === 0 ? body : found.without(refused, (what) => warn?.(what));
}

export function namedBetas(header: string | undefined): readonly string[] {
  return (header ?? "").split(",").flatMap((beta) => beta.trim() || []);
}

/** What is wrong with `settings.betas`; null when nothing is. */
export function betasProblem(provider: Provider): string | null {
  const said = provider.settings["betas"];
  if (said === undefined || (Array.isArray(said) && said.every((beta) => typeof beta === "string"))) return null;
  return "settings.betas must be a list of names of betas";
}

function betasSetting(provider: Provider): readonly unknown[] | null {
  const said = provider.settings["betas"];
  return Array.isArray(said) ? said : null;
}
