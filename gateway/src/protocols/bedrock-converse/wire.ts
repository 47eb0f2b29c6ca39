import { bounds, type Failure, noUsage, type Served } from "#core/index.ts";
import type { Dialect, ReplyFacts, ReplyReader, StreamTap, UsageReading } from "../dialect.ts";
import { reportedFailure } from "../errors/error-event.ts";
import { invalidFirstEvent, isContextTooLong, scanReply } from "../errors/upstream-errors.ts";
import { valueAt } from "../json/scan.ts";
import { arrayOf, countOf, isObject, objectOf, parseObject, textOf } from "../json/value.ts";
import { EventTap, eventData, pieceTokens } from "../stream/sse-events.ts";
import { missingSideOf, readServed } from "../usage/read-served.ts";
import { rawUsage } from "../usage/reading.ts";

/** `inputTokens` excludes the cache; `cacheDetails` has what was written for an hour. Null without a usable object. */
export function readConverseUsage(reported: unknown): UsageReading | null {
  const counts = objectOf(reported);
  const input = countOf(counts["inputTokens"]);
  const output = countOf(counts["outputTokens"]);
  if (input === null && output === null) return null;
  const written = countOf(counts["cacheWriteInputTokens"]) ?? 0;
  let hour = 0;
  for (const entry of arrayOf(counts["cacheDetails"])) {
    const { ttl, inputTokens } = objectOf(entry);
    if (ttl === "1h") hour += countOf(inputTokens) ?? 0;
  }
  const cacheWrite1h = Math.min(hour, written);
  return {
    usage: {
      ...noUsage,
      inputUncached: input ?? 0,
      cacheRead: countOf(counts["cacheReadInputTokens"]) ?? 0,
      cacheWrite5m: written - cacheWrite1h,
      cacheWrite1h,
      output: output ?? 0,
    },
    raw: rawUsage(counts),
    missingSide: missingSideOf(input, output),
  };
}

export const bedrockErrors: Pick<Dialect, "errorShape" | "readRefusal"> = {
  errorShape: "aws",
  /** `{"message"}`; the code is in a header, read by the provider kind. */
  readRefusal(status, body) {
    const refusal = objectOf(parseObject(body));
    const message = textOf(refusal["message"]) ?? textOf(refusal["Message"]) ?? `HTTP status ${status}`;
    return { status, message, code: textOf(refusal["__type"]), contextLength: isContextTooLong(status, null, message) };
  },
};

/** The failure for an error event of AwsEventStream. */
export function converseStreamFailure(error: unknown): Failure {
  return reportedFailure(error, textOf(objectOf(error)["message"]) ?? "unknown error", { type: "error", error });
}

const replyMembers: ReadonlySet<string> = new Set(["output", "usage", "serviceTier", "trace", "message"]);

function readConverseReply(body: Uint8Array): ReplyFacts {
  const members = scanReply(body, replyMembers);
  const output = members.get("output");
  const message = valueAt(body, members.get("message"));
  const serviceTier = valueAt(body, members.get("serviceTier"));
  return {
    usage: readConverseUsage(valueAt(body, members.get("usage"))),
    served: readServed({ serviceTier, trace: valueAt(body, members.get("trace")) }, null),
    errorMessage: output === undefined && members.has("message") ? (textOf(message) ?? JSON.stringify(message)) : null,
    outputEstimate: output === undefined ? 0 : Math.ceil((output.end - output.start) / 4),
    id: null,
  };
}

/** Watches Converse events. Usage follows the stop. */
class ConverseStreamTap extends EventTap implements StreamTap {
  usage: UsageReading | null = null;
  served: Served | undefined;
  /** Bedrock does not store answers. */
  readonly id = null;

  #stopped = false;

  get ended(): boolean {
    return this.#stopped && this.usage !== null;
  }

  get usageFinal(): boolean {
    return this.usage !== null;
  }

  complete(): boolean {
    return this.#stopped;
  }

  protected override inspect(bytes: Uint8Array, start: number, end: number): void {
    const data = eventData(bytes, start, end);
    if (data === "") return;
    this.events++;
    const event = parseObject(data);
    if (event === null) {
      if (this.events > 1) return;
      throw invalidFirstEvent();
    }
    if (isObject(event["error"])) this.failure = converseStreamFailure(event["error"]);
    if (isObject(event["contentBlockStart"])) this.#count(event["contentBlockStart"]["start"]);
    if (isObject(event["contentBlockDelta"])) this.#count(event["contentBlockDelta"]["delta"]);
    if (isObject(event["messageStop"])) this.#stopped = true;
    if (isObject(event["metadata"])) {
      this.usage = readConverseUsage(event["metadata"]["usage"]) ?? this.usage;
      this.served = readServed(event["metadata"], null);
    }
  }

  #count(content: unknown): void {
    const { text, toolUse, reasoningContent } = objectOf(content);
    const { input, name } = objectOf(toolUse);
    // The seal of hidden reasoning has no text.
    if (isObject(reasoningContent)) this.contentSeen = true;
    const piece = [text, objectOf(reasoningContent)["text"], input, name].find((one) => typeof one === "string") ?? "";
    if (piece === "") return;
    this.contentSeen = true;
    this.outputEstimate += pieceTokens(piece.length);
  }
}

/** Spoken by upstreams only. Streams arrive as converted by AwsEventStream. */
export const bedrockConverse: ReplyReader = {
  readReply: readConverseReply,
  tapStream: () => new ConverseStreamTap(bounds.eventBytesMax),
};
