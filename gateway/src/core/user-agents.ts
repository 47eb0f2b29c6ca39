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
  // ASCII only, as the databases do it.
  const lower = userAgent.slice(0, longestPrefix).replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return userAgentFamilies.find(([prefix]) => lower.startsWith(prefix))?.[1] ?? otherUserAgents;
}

const longestPrefix = Math.max(...userAgentFamilies.map(([prefix]) => prefix.length));
