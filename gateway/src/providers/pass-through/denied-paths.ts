/** A path that administers the account. */
export interface DeniedPath {
  /** Consecutive segments anywhere in a path. `name*` matches a prefix, `:verb` a suffix. */
  readonly parts: readonly string[];
  readonly what: string;
}

/**
 * Denied for every provider type, since an OpenAI-compatible URL may be any of them. Case does not matter.
 * docs/pass-through.md shows this table; `settings.pass_through.deny` adds to it.
 *
 * Sources, read on 2026-11-22: the API references of OpenAI (Administration), Anthropic (Admin API), OpenRouter (API keys,
 * credits), Replicate, Runway, Google (IAM, permissions of tuned models and corpora), Mistral, vLLM, Ollama and LiteLLM.
 * Rows from `customer` on are from general knowledge.
 */
export const deniedPaths: readonly DeniedPath[] = [
  {
    parts: ["organization"],
    what: "OpenAI: users, projects, API keys, certificates, costs of the organisation; Runway",
  },
  { parts: ["organizations"], what: "Anthropic: members, workspaces, API keys, usage and costs of the organisation" },
  { parts: ["projects"], what: "OpenAI: roles and members of a project" },
  { parts: ["admin"], what: "administration, whoever has it" },
  { parts: ["dashboard"], what: "OpenAI: billing" },
  { parts: ["billing"], what: "billing, whoever has it" },
  { parts: ["credits"], what: "OpenRouter: credit, and buying it" },
  { parts: ["account"], what: "Replicate and others: who the account belongs to" },
  { parts: ["api_keys"], what: "API keys" },
  { parts: ["api-keys"], what: "API keys" },
  { parts: ["api-key"], what: "xAI: what the key is and may do" },
  { parts: ["apikeys"], what: "Fireworks, Google: API keys" },
  { parts: ["keys"], what: "OpenRouter, LiteLLM: API keys" },
  { parts: ["key"], what: "OpenRouter, LiteLLM: API keys" },
  { parts: ["auth"], what: "OpenRouter: keys by sign-in" },
  { parts: ["service_accounts"], what: "service accounts" },
  { parts: ["serviceaccounts"], what: "Google: service accounts" },
  { parts: ["users"], what: "members of the account" },
  { parts: ["invites"], what: "members of the account" },
  { parts: ["secrets"], what: "stored secrets of the account" },
  { parts: ["permissions"], what: "OpenAI and Google: who else may use what the account owns" },
  { parts: ["share"], what: "Mistral: who else may use what the account owns" },
  { parts: ["guardrails"], what: "OpenRouter: what keys of the account may do" },
  { parts: ["activity"], what: "OpenRouter: what every key of the account spent" },
  { parts: ["user"], what: "DeepSeek: the account's balance; LiteLLM: its users" },
  { parts: ["team"], what: "LiteLLM: teams and their budgets" },
  { parts: ["budget"], what: "LiteLLM: budgets" },
  { parts: ["credentials"], what: "LiteLLM: credentials of its vendors" },
  { parts: ["model", "new"], what: "LiteLLM: what it serves" },
  { parts: ["model", "update"], what: "LiteLLM: what it serves" },
  { parts: ["model", "delete"], what: "LiteLLM: what it serves" },
  { parts: ["config"], what: "LiteLLM: its configuration" },
  { parts: ["webhooks", "default", "secret"], what: "Replicate: what webhooks are signed with" },
  { parts: [":setiampolicy"], what: "Google: who may use what the account owns" },
  { parts: [":getiampolicy"], what: "Google: who may use what the account owns" },
  { parts: [":transferownership"], what: "Google: the owner of a tuned model" },
  { parts: ["load_lora_adapter"], what: "vLLM: what the server runs" },
  { parts: ["unload_lora_adapter"], what: "vLLM: what the server runs" },
  { parts: ["collective_rpc"], what: "vLLM: any method of its workers" },
  { parts: ["sleep"], what: "vLLM: whether the server runs" },
  { parts: ["wake_up"], what: "vLLM: whether the server runs" },
  { parts: ["reset_prefix_cache"], what: "vLLM: what every caller shares" },
  { parts: ["api", "pull"], what: "Ollama: which models the server has" },
  { parts: ["api", "push"], what: "Ollama: which models the server has" },
  { parts: ["api", "create"], what: "Ollama: which models the server has" },
  { parts: ["api", "copy"], what: "Ollama: which models the server has" },
  { parts: ["api", "delete"], what: "Ollama: which models the server has" },
  { parts: ["update_weights*"], what: "vLLM, SGLang: what the server runs" },
  { parts: ["customer"], what: "LiteLLM: its customers and their budgets" },
  { parts: ["spend"], what: "LiteLLM: what every key spent" },
  { parts: ["cache", "flushall"], what: "LiteLLM: what every caller shares" },
  { parts: ["get", "config"], what: "LiteLLM: its configuration" },
  { parts: ["scale_elastic_ep"], what: "vLLM: what the server runs" },
  { parts: ["start_profile"], what: "vLLM, SGLang: whether the server is slowed down" },
  { parts: ["stop_profile"], what: "vLLM, SGLang: whether the server is slowed down" },
  { parts: ["reset_mm_cache"], what: "vLLM: what every caller shares" },
  { parts: ["flush_cache"], what: "SGLang: what every caller shares" },
  { parts: ["pause_generation"], what: "SGLang: whether the server runs" },
  { parts: ["continue_generation"], what: "SGLang: whether the server runs" },
  { parts: ["release_memory_occupation"], what: "SGLang: whether the server runs" },
  { parts: ["resume_memory_occupation"], what: "SGLang: whether the server runs" },
];

/** The first match; null: none. `parts` are percent-decoded. */
export function deniedBy(parts: readonly string[], more: readonly string[]): string | null {
  const folded = parts.map(canonicalPart);
  const match = deniedPaths.find((denied) => contains(folded, denied.parts));
  if (match !== undefined) return match.parts.join("/");
  return more.find((path) => startsWith(folded, path)) ?? null;
}

function canonicalPart(part: string): string {
  return plainPart(part).toLowerCase();
}

/** A segment as servers may read it: without parameters after a semicolon (RFC 3986, 3.3), Unicode-normalized. */
export function plainPart(part: string): string {
  return part.normalize("NFKC").split(";", 1)[0] ?? "";
}

function contains(path: readonly string[], parts: readonly string[]): boolean {
  const [only] = parts;
  if (only?.startsWith(":") === true) return path.some((part) => part.endsWith(only));
  return path.some((_, at) => parts.every((part, index) => isNamed(nameOf(path[at + index] ?? ""), part)));
}

function isNamed(name: string, denied: string): boolean {
  return denied.endsWith("*") ? name.startsWith(denied.slice(0, -1)) : name === denied;
}

/** Google appends verbs: `permissions:create`. */
function nameOf(part: string): string {
  return part.split(":", 1)[0] ?? "";
}

/** An operator's entry matches the start of the path, with or without a version. */
function startsWith(path: readonly string[], denied: string): boolean {
  const parts = denied
    .split("/")
    .map(canonicalPart)
    .filter((part) => part !== "");
  const at = isVersion(path[0] ?? "") && !isVersion(parts[0] ?? "") ? 1 : 0;
  return parts.length > 0 && parts.every((part, index) => isPart(path[at + index] ?? "", part));
}

function isPart(part: string, denied: string): boolean {
  return part === denied || nameOf(part) === denied;
}

export function isVersion(part: string): boolean {
  return /^v\d+[a-z0-9]*$/.test(part);
}
