import { bounds, noUsage, type Usage } from "#core/index.ts";

/** Seconds of video as usage, whole as they are paid for: vendors tell 5.041 of what they bill as 5. */
export function secondsUsage(seconds: unknown): Usage | null {
  const number = typeof seconds === "string" && seconds !== "" ? Number(seconds) : seconds;
  if (typeof number !== "number" || !Number.isFinite(number) || number <= 0) return null;
  return { ...noUsage, videoSeconds: Math.max(1, Math.round(number)) };
}

/** What the vendor said of usage, as it stands in the ledger; null when it said nothing or too much. */
export function rawUsageOf(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  const text = JSON.stringify(value);
  return text.length > bounds.rawUsageBytesMax ? null : text;
}
