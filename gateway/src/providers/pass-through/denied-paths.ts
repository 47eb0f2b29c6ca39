/** Paths of a vendor's API that administer the account. */
export interface DeniedPaths {
  readonly what: string;
  /** Consecutive segments anywhere in a path. `name*` matches a prefix, `:verb` a suffix. */
  readonly paths: readonly string[];
}

/**
 * Denied for every provider type, since an OpenAI-compatible URL may be any of them. Case does not matter.
 * docs/pass-through.md shows this table; `settings.pass_through.deny` adds to it.
 *
 * Sources, read on 2026-11-22: the API references of OpenAI (Administration), Anthropic (Admin API), OpenRouter (API keys,
 * credits), Replicate, Runway, Google (IAM, permissions of tuned models and corpora), Mistral, vLLM, Ollama and LiteLLM.
 * Others are from general
 * knowledge of the servers.
 */
export const deniedPaths: readonly DeniedPaths[] = [
  {
    what: "organization: members, projects, keys and costs (OpenAI, Anthropic, Runway)",
    paths: ["organization", "organizations", "projects"],
  },
  { what: "administration, billing and credit", paths: ["admin", "dashboard", "billing", "credits", "account"] },
  { what: "API keys", paths: ["api_keys", "api-keys", "api-key", "apikeys", "keys", "key", "auth"] },
  {
    what: "service accounts, members and secrets",
    paths: ["service_accounts", "serviceaccounts", "users", "invites", "secrets", "webhooks/default/secret"],
  },
  {
    what: "permissions, sharing and ownership",
    paths: ["permissions", "share", "guardrails", ":setiampolicy", ":getiampolicy", ":transferownership"],
  },
  { what: "balance and spending of the account", paths: ["user", "activity", "spend"] },
  { what: "LiteLLM: teams, customers, budgets and credentials", paths: ["team", "customer", "budget", "credentials"] },
  {
    what: "LiteLLM: models, configuration and cache",
    paths: ["model/new", "model/update", "model/delete", "config", "get/config", "cache/flushall"],
  },
  { what: "Ollama: installed models", paths: ["api/pull", "api/push", "api/create", "api/copy", "api/delete"] },
  {
    what: "vLLM and SGLang: loaded models",
    paths: ["load_lora_adapter", "unload_lora_adapter", "update_weights*", "collective_rpc", "scale_elastic_ep"],
  },
  {
    what: "vLLM and SGLang: state of the server",
    paths: [
      ...["sleep", "wake_up", "start_profile", "stop_profile", "pause_generation", "continue_generation"],
      ...["release_memory_occupation", "resume_memory_occupation"],
    ],
  },
  { what: "vLLM and SGLang: shared caches", paths: ["reset_prefix_cache", "reset_mm_cache", "flush_cache"] },
];

const deniedParts = deniedPaths.flatMap(({ paths }) => paths.map((path) => path.split("/")));

/** The first match; null: none. `parts` are percent-decoded. */
export function deniedBy(parts: readonly string[], more: readonly string[]): string | null {
  const folded = parts.map(canonicalPart);
  const match = deniedParts.find((denied) => contains(folded, denied));
  if (match !== undefined) return match.join("/");
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
