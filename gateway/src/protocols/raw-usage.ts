import { bounds } from "#core/index.ts";

/** An upstream's own words on usage, as the ledger keeps them; `{}` where they are too long. */
export function rawUsage(reported: unknown): string {
  const text = JSON.stringify(reported) ?? "{}";
  return text.length <= bounds.rawUsageBytesMax ? text : "{}";
}
