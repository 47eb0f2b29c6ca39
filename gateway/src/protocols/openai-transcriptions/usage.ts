import { noUsage } from "#core/index.ts";
import type { UsageReading } from "../dialect.ts";
import { countOf, numberOf, objectOf } from "../json-value.ts";

/** `{type:"duration",seconds}`, or tokens with the sounds among them apart. null when there is neither. */
export function transcriptUsage(reported: unknown): Pick<UsageReading, "usage"> | null {
  const usage = objectOf(reported);
  const seconds = secondsUsage(usage["seconds"]);
  if (seconds !== null) return seconds;
  const input = countOf(usage["input_tokens"]) ?? countOf(usage["prompt_tokens"]);
  const output = countOf(usage["output_tokens"]) ?? countOf(usage["completion_tokens"]);
  if (input === null && output === null) return null;
  const details = objectOf(usage["input_token_details"]);
  const text = Math.min(countOf(details["text_tokens"]) ?? 0, input ?? 0);
  // Where nothing says what they are, they are of the sound. Mistral tells its seconds beside them.
  const audioSeconds = Math.max(0, Math.ceil(numberOf(usage["prompt_audio_seconds"]) ?? 0));
  return {
    usage: { ...noUsage, inputUncached: text, audioInput: (input ?? 0) - text, output: output ?? 0, audioSeconds },
  };
}

/** Vendors charge for whole seconds. */
export function secondsUsage(seconds: unknown): Pick<UsageReading, "usage"> | null {
  const length = numberOf(seconds);
  if (length === null || !(length >= 0) || !Number.isFinite(length)) return null;
  return { usage: { ...noUsage, audioSeconds: Math.ceil(length) } };
}
