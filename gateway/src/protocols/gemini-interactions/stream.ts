import { bounds, type Served } from "#core/index.ts";
import type { StreamTap, UsageReading } from "../dialect.ts";
import { answerEndedInError, invalidFirstEvent } from "../errors/upstream-errors.ts";
import type { Span } from "../json/cursor.ts";
import { readSpan } from "../json/scan.ts";
import { skimObject, skimValue } from "../json/skim.ts";
import { arrayOf, type JsonObject, objectOf, textOf } from "../json/value.ts";
import { dataWithoutMedia } from "../stream/event-media.ts";
import { EventTap, eventLines, isDone, pieceTokens } from "../stream/sse-events.ts";
import { readServed, withServed } from "../usage/read-served.ts";
import { noServerTools } from "../usage/reading.ts";
import { interactionFailure } from "./error.ts";
import { createdIds, runningStatuses } from "./reply.ts";
import { countTool } from "./steps.ts";
import { readInteractionUsage } from "./usage.ts";

/** Tokens of a generated picture (Gemini API docs, "Image generation"), if none are reported. */
const pictureTokens = 1_290;

/**
 * Watches the events of an interaction. Only the wanted members of an event are decoded. `interaction.completed` or a final status ends
 * the answer, `[DONE]` the stream.
 */
export class InteractionStreamTap extends EventTap implements StreamTap {
  ended = false;
  id: string | null = null;
  served: Served | undefined;
  createdIds: readonly string[] = [];

  readonly #tools = { ...noServerTools };
  #reported: unknown = null;
  #reading: UsageReading | null = null;
  #isRead = true;
  #isFinal = false;
  #finished = false;
  #hasFailed = false;

  get usage(): UsageReading | null {
    if (!this.#isRead) {
      this.#reading = readInteractionUsage(this.#reported, this.#tools);
      this.#isRead = true;
    }
    return this.#reading;
  }

  /** Earlier reports do not include what follows them. */
  get usageFinal(): boolean {
    return this.#isFinal && this.usage !== null;
  }

  complete(): boolean {
    // An error event may follow the status.
    if (this.#hasFailed) this.failure ??= answerEndedInError();
    return this.ended || this.#finished;
  }

  protected inspect(bytes: Uint8Array, start: number, end: number): void {
    if (this.ended) return;
    const { name, data: whole } = eventLines(bytes, start, end);
    if (whole.length === 0) return;
    if (isDone(whole)) {
      this.ended = true;
      return;
    }
    this.events++;
    const data = dataWithoutMedia(whole);
    const members = skimObject(data, 0, data.length, eventMembers);
    if (members === null) {
      if (this.events === 1) throw invalidFirstEvent();
      return;
    }
    const member = (wanted: string): unknown => skimValue(data, members.get(wanted));
    const type = textOf(member("event_type")) ?? name;
    const error = member("error");
    if (type === "error" || (error !== null && !type.startsWith("interaction."))) {
      this.failure ??= interactionFailure(error);
      return;
    }
    switch (type) {
      case "interaction.created":
      case "interaction.completed":
        this.#readInteraction(data, members.get("interaction"), type === "interaction.completed");
        break;
      case "interaction.status_update":
        this.id ??= textOf(member("interaction_id"));
        this.#report(member("usage"));
        this.#readEnd(textOf(member("status")), member("continuation_token"));
        break;
      case "step.start":
        this.#startStep(data, members.get("step"));
        break;
      case "step.delta":
        this.#countDelta(data, members.get("delta"));
        this.#report(objectOf(member("metadata"))["total_usage"]);
        break;
      case "step.stop":
        this.#report(member("usage"));
        break;
    }
  }

  #readInteraction(data: Uint8Array, span: Span | undefined, isEnd: boolean): void {
    const members = span === undefined ? null : skimObject(data, span.start, span.end, interactionMembers);
    if (members === null) return;
    const member = (wanted: string): unknown => skimValue(data, members.get(wanted));
    this.id ??= textOf(member("id"));
    const usage = member("usage");
    // Until the end it has the requested tier.
    const answer = { model: member("model"), ...(isEnd ? { service_tier: member("service_tier") } : {}) };
    this.served = withServed(readServed(answer, usage), this.served);
    if (!isEnd) return;
    this.#report(usage);
    this.#isFinal ||= usage !== null;
    this.#readEnd(textOf(member("status")) ?? "completed", member("continuation_token"), member("environment_id"));
    if (textOf(member("status")) === "failed") {
      this.failure ??= failureOf(skimValue(data, members.get("errors")));
    }
  }

  #readEnd(status: string | null, token: unknown, environment: unknown = null): void {
    const ids = createdIds(environment, token);
    if (ids.length > 0) this.createdIds = [...new Set([...this.createdIds, ...ids])].slice(-createdIdsMax);
    if (status === null || runningStatuses.has(status)) return;
    this.#finished = true;
    this.#hasFailed = status === "failed";
  }

  #startStep(data: Uint8Array, span: Span | undefined): void {
    const members = span === undefined ? null : skimObject(data, span.start, span.end, stepMembers);
    if (span === undefined || members === null) return;
    const type = textOf(skimValue(data, members.get("type"))) ?? "";
    countTool(this.#tools, type);
    this.#isRead = false;
    // Without content these only announce it.
    if (type !== "model_output" && type !== "thought") this.contentSeen = true;
    const content = members.get("content") ?? members.get("summary");
    if (content !== undefined && content.end - content.start > "[]".length) {
      this.contentSeen = true;
      this.outputEstimate += Math.ceil((content.end - content.start) / 4);
    }
  }

  #countDelta(data: Uint8Array, span: Span | undefined): void {
    if (span === undefined) return;
    const size = span.end - span.start;
    const delta = size > bounds.eventJsonBytesMax ? null : deltaAt(data, span);
    const tokens = delta === null ? Math.ceil(size / 4) : tokensOf(delta);
    if (tokens === 0) return;
    this.contentSeen = true;
    this.outputEstimate += tokens;
  }

  #report(usage: unknown): void {
    if (usage === null || usage === undefined || this.#isFinal) return;
    this.#reported = usage;
    this.#isRead = false;
  }
}

const eventMembers: ReadonlySet<string> = new Set([
  ...["event_type", "interaction", "interaction_id", "status", "usage", "continuation_token", "step", "delta"],
  ...["metadata", "error"],
]);
const interactionMembers: ReadonlySet<string> = new Set([
  ...["id", "model", "status", "usage", "service_tier", "errors", "continuation_token", "environment_id"],
]);
const stepMembers: ReadonlySet<string> = new Set(["type", "content", "summary"]);
/** A long answer has a token at each of its checkpoints, of which clients use the last. */
const createdIdsMax = 16;

/** The failure of an interaction with the status `failed`. */
export function failureOf(errors: unknown) {
  const [first] = arrayOf(errors);
  return first === undefined ? answerEndedInError() : interactionFailure(first);
}

function deltaAt(data: Uint8Array, span: Span): JsonObject | null {
  try {
    return objectOf(readSpan(data, span));
  } catch {
    return null;
  }
}

/** Estimated tokens of a delta. Results of Google's own tools are input. */
function tokensOf(delta: JsonObject): number {
  switch (delta["type"]) {
    case "text":
      return pieceTokens((textOf(delta["text"]) ?? "").length);
    case "thought_summary":
      return pieceTokens((textOf(objectOf(delta["content"])["text"]) ?? "").length);
    case "arguments_delta":
      return pieceTokens((textOf(delta["arguments"]) ?? "").length);
    case "image":
      return pictureTokens;
    case "audio":
    case "video":
    case "document":
      return 1;
    default:
      return 0;
  }
}
