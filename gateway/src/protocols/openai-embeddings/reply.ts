import { bounds, Failure, noUsage } from "#core/index.ts";
import type { ReplyFacts, UsageReading } from "../dialect.ts";
import { skimObject, skimValue } from "../json-skim.ts";
import { countOf, isObject } from "../json-value.ts";
import { errorText } from "../openai-chat/reply.ts";

const wanted: ReadonlySet<string> = new Set(["data", "usage", "error"]);

/** Reads a whole embeddings answer: what it used. The vectors are not looked at. */
export function readEmbeddingsReply(body: Uint8Array): ReplyFacts {
  const members = skimObject(body, 0, body.length, wanted);
  if (members === null) {
    throw new Failure("upstream_error", "The upstream's answer is not a JSON object.", {
      retry: "other",
      unwell: true,
    });
  }
  const error = skimValue(body, members.get("error"));
  return {
    usage: embeddingsUsage(skimValue(body, members.get("usage"))),
    errorMessage: error !== null && !members.has("data") ? errorText(error) : null,
    outputEstimate: 0,
    id: null,
  };
}

/** `{"prompt_tokens","total_tokens"}`, which are the same number; some vendors send only one of them. */
function embeddingsUsage(reported: unknown): UsageReading | null {
  if (!isObject(reported)) return null;
  const input = countOf(reported["prompt_tokens"]) ?? countOf(reported["total_tokens"]);
  if (input === null) return null;
  const raw = JSON.stringify(reported);
  return { usage: { ...noUsage, inputUncached: input }, raw: raw.length <= bounds.rawUsageBytesMax ? raw : "{}" };
}
