/** What Converse leaves to each maker's own parameters is written for those whose parameters are known. */
export type ModelFamily = "claude" | "nova" | "gpt-oss" | "other";

/** By the maker's prefix, which also stands in profile ids and ARNs. */
export function modelFamily(upstreamModel: string): ModelFamily {
  if (/(^|[./])anthropic\.claude/.test(upstreamModel)) return "claude";
  if (/(^|[./])amazon\.nova/.test(upstreamModel)) return "nova";
  if (/(^|[./])openai\.gpt-oss/.test(upstreamModel)) return "gpt-oss";
  return "other";
}
