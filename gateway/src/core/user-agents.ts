/**
 * Families of clients by the beginning of their user agent, in lower case. The first match counts. The list is closed, so that callers
 * cannot add values to the hourly sums, and SQL and code must agree on it: see `userAgentFamily`.
 */
export const userAgentFamilies = [
  ["claude-cli", "claude-code"],
  ["claude-code", "claude-code"],
  ["codex", "codex"],
  ["geminicli", "gemini-cli"],
  ["gemini-cli", "gemini-cli"],
  ["opencode", "opencode"],
  ["cursor", "cursor"],
  ["cline", "cline"],
  ["roo-code", "roo-code"],
  ["roocode", "roo-code"],
  ["kilo-code", "kilo-code"],
  ["continue", "continue"],
  ["zed", "zed"],
  ["aider", "aider"],
  ["qwen", "qwen-code"],
  ["crush", "crush"],
  ["goose", "goose"],
  ["githubcopilot", "github-copilot"],
  ["open webui", "open-webui"],
  ["openwebui", "open-webui"],
  ["librechat", "librechat"],
  ["litellm", "litellm"],
  ["langchain", "langchain"],
  ["llamaindex", "llamaindex"],
  ["openai/python", "openai-python"],
  ["asyncopenai/python", "openai-python"],
  ["azureopenai/python", "openai-python"],
  ["asyncazureopenai/python", "openai-python"],
  ["openai/js", "openai-node"],
  ["openai/node", "openai-node"],
  ["azureopenai/js", "openai-node"],
  ["openai/go", "openai-go"],
  ["openai/java", "openai-java"],
  ["openaiclientimpl/java", "openai-java"],
  ["openai/ruby", "openai-ruby"],
  ["openai-python", "openai-python"],
  ["openai-node", "openai-node"],
  ["openai/", "openai-sdk"],
  ["anthropic/python", "anthropic-python"],
  ["asyncanthropic/python", "anthropic-python"],
  ["anthropic/js", "anthropic-node"],
  ["anthropic/go", "anthropic-go"],
  ["anthropic/java", "anthropic-java"],
  ["anthropicclientimpl/java", "anthropic-java"],
  ["anthropic-python", "anthropic-python"],
  ["anthropic/", "anthropic-sdk"],
  ["google-genai-sdk", "google-genai"],
  ["ai-sdk/", "vercel-ai-sdk"],
  ["ai/", "vercel-ai-sdk"],
  ["python-httpx", "python-httpx"],
  ["python-requests", "python-requests"],
  ["python/", "python-aiohttp"],
  ["axios", "axios"],
  ["node", "node"],
  ["undici", "node"],
  ["bun/", "bun"],
  ["deno/", "deno"],
  ["go-http-client", "go"],
  ["java-http-client", "java"],
  ["apache-httpclient", "java"],
  ["okhttp", "okhttp"],
  ["ruby", "ruby"],
  ["guzzlehttp", "php"],
  ["reqwest", "rust"],
  ["curl/", "curl"],
  ["wget/", "wget"],
  ["postmanruntime", "postman"],
  ["insomnia", "insomnia"],
  ["k6/", "k6"],
  ["mozilla/", "browser"],
] as const satisfies readonly (readonly [prefix: string, family: string])[];

/** The family of every other client. A client without a user agent has an empty one. */
export const otherUserAgents = "other";

export function userAgentFamily(userAgent: string): string {
  if (userAgent === "") return "";
  const cached = recent.get(userAgent);
  if (cached !== undefined) return cached;
  // ASCII only, as the databases do it.
  const lower = userAgent.slice(0, longestPrefix).replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const family = userAgentFamilies.find(([prefix]) => lower.startsWith(prefix))?.[1] ?? otherUserAgents;
  if (recent.size === recentMax) recent.clear();
  recent.set(userAgent, family);
  return family;
}

const longestPrefix = Math.max(...userAgentFamilies.map(([prefix]) => prefix.length));
/** Families by whole user agents, because the drain asks for each entry. */
const recent = new Map<string, string>();
const recentMax = 256;

/** Families of coding agents, by the names that users see. */
const codingAgents: Readonly<Record<string, string>> = {
  "claude-code": "Claude Code",
  codex: "Codex",
  "gemini-cli": "Gemini CLI",
  opencode: "OpenCode",
  cursor: "Cursor",
  cline: "Cline",
  "roo-code": "Roo Code",
  "kilo-code": "Kilo Code",
  continue: "Continue",
  zed: "Zed",
  aider: "aider",
  "qwen-code": "Qwen Code",
  crush: "Crush",
  goose: "goose",
};

/** The name of the coding agent that sends this user agent; null if it is not one of the list. */
export function codingAgentOf(userAgent: string): string | null {
  return codingAgents[userAgentFamily(userAgent)] ?? null;
}

const agentNameMax = 64;

/** The program behind a user agent: a coding agent, else the first product of the header. Empty if there is none. */
export function agentNameOf(userAgent: string): string {
  return codingAgentOf(userAgent) ?? /^[\w.-]+/.exec(userAgent)?.[0].slice(0, agentNameMax) ?? "";
}
