import { type Answer, bounds, type Finish, type FinishReason } from "#core/index.ts";
import type { AnswerSource } from "../codec.ts";
import { invalidEvent, invalidReply, unsupportedReply } from "../errors/upstream-errors.ts";
import {
  arrayOf,
  countOf,
  isObject,
  type JsonObject,
  objectOf,
  parseFirst,
  parseObject,
  textOf,
} from "../json/value.ts";
import { AnswerReader, collectAnswer } from "../turn/answer-events.ts";
import { warnOfUnknownType, warnOfUnreadMembers } from "../turn/warnings.ts";
import { interactionFailure } from "./error.ts";
import { OpenStep } from "./open-step.ts";
import { runningStatuses } from "./reply.ts";
import { failureOf } from "./stream.ts";
import { readInteractionUsage } from "./usage.ts";

/** Source: @google/genai, InteractionStatus. The rest of a continued answer could only be requested with Google's own token. */
const finishReasons: Readonly<Record<string, FinishReason>> = {
  completed: "stop",
  requires_action: "tool-calls",
  incomplete: "length",
  budget_exceeded: "length",
  requires_continuation: "length",
  cancelled: "error",
  failed: "error",
};

/** The code of the error with which a filtered answer is written. */
export const filterCode = "content_filter";
/** Google documents no codes for filtered answers; these are words of its finish reasons. */
const filterCodes = /filter|safety|blocked|blocklist|prohibited|recitation|spii/i;

/** Reads the events of an interaction. Steps that interleave are put in order. */
export class InteractionEventReader extends AnswerReader {
  /** In order of their start; the first is open. */
  #steps: OpenStep[] = [];
  #waitingSize = 0;
  #hasCalls = false;
  #status: string | null = null;
  #isFiltered = false;
  #usage: unknown = null;

  read(data: string): void {
    if (this.ended || data === "[DONE]") return;
    const event = parseObject(data);
    if (event === null) throw invalidEvent("is not a JSON object");
    const { warn } = this.source;
    switch (event["event_type"]) {
      case "interaction.created":
        this.#start(objectOf(event["interaction"]));
        break;
      case "interaction.status_update":
        this.#readStatus(event["status"]);
        break;
      case "step.start":
        this.#startStep(indexOf(event), objectOf(event["step"]));
        break;
      case "step.delta":
        this.#delta(indexOf(event), objectOf(event["delta"]));
        break;
      case "step.stop":
        this.#stopStep(indexOf(event));
        break;
      case "interaction.completed":
        this.#complete(objectOf(event["interaction"]));
        break;
      case "error":
        this.fail(interactionFailure(event["error"]));
        break;
      default:
        if (isObject(event["error"])) this.fail(interactionFailure(event["error"]));
        else warnOfUnknownType("events", event["event_type"], warn);
    }
  }

  /** Reads a whole interaction. */
  take(interaction: JsonObject): void {
    this.#start(interaction);
    for (const [index, step] of arrayOf(interaction["steps"]).entries()) {
      if (this.ended) return;
      this.#startStep(index, objectOf(step));
      this.#stopStep(index);
    }
    this.#complete(interaction);
    this.end();
  }

  end(): void {
    if (this.ended) return;
    this.emitStart();
    for (const { index } of [...this.#steps]) this.#stopStep(index);
    const reading = this.#usage === null ? null : readInteractionUsage(this.#usage);
    if (reading !== null) this.emit({ kind: "usage", usage: reading.usage });
    this.finish(this.#finish());
  }

  #finish(): Finish {
    const status = this.#status ?? "completed";
    const reason = this.#isFiltered ? "content-filter" : (finishReasons[status] ?? "error");
    return { reason: reason === "stop" && this.#hasCalls ? "tool-calls" : reason, stopSequence: null };
  }

  #start(interaction: JsonObject): void {
    this.emitStart(textOf(interaction["id"]), textOf(interaction["model"]) ?? textOf(interaction["agent"]));
  }

  #startStep(index: number, step: JsonObject): void {
    this.emitStart();
    const { error } = step;
    if (isObject(error)) {
      this.fail(interactionFailure(error));
      return;
    }
    if (step["type"] === "function_call") this.#hasCalls = true;
    const open = new OpenStep(index, (event) => this.emit(event), this.source);
    this.#steps.push(open);
    if (this.#steps.length === 1) open.open();
    open.start(step);
  }

  #delta(index: number, delta: JsonObject): void {
    const step = this.#steps.find((one) => one.index === index && !one.stopped);
    if (step === undefined) throw invalidEvent("belongs to a step that was not started");
    step.add(delta);
    if (step === this.#steps[0]) return;
    this.#waitingSize += sizeOf(delta);
    if (this.#waitingSize > bounds.replyBytesMax) {
      throw unsupportedReply("The upstream interleaves more content than can be buffered.");
    }
  }

  #stopStep(index: number): void {
    const step = this.#steps.find((one) => one.index === index && !one.stopped);
    if (step === undefined) return;
    step.stopped = true;
    step.close();
    while (this.#steps[0]?.stopped === true) {
      this.#steps.shift();
      this.#steps[0]?.open();
    }
  }

  #complete(interaction: JsonObject): void {
    this.#start(interaction);
    warnOfUnreadMembers(interaction, interactionMembers, "an interaction", this.source.warn);
    if (isObject(interaction["usage"])) this.#usage = interaction["usage"];
    const errors = arrayOf(interaction["errors"]);
    this.#readStatus(interaction["status"]);
    this.#isFiltered = this.#status === "incomplete" && filterCodes.test(textOf(objectOf(errors[0])["code"]) ?? "");
    if (this.#status === "failed") this.fail(failureOf(errors));
  }

  #readStatus(status: unknown): void {
    if (typeof status === "string" && !runningStatuses.has(status)) this.#status = status;
  }
}

/** `environment_id` and tokens continue something that only Google keeps; the rest repeats the request, or are labels. */
const interactionMembers: ReadonlySet<string> = new Set([
  ...["id", "object", "status", "model", "agent", "created", "updated", "steps", "usage", "service_tier", "errors"],
  ...["previous_interaction_id", "input", "generation_config", "system_instruction", "tools", "response_format"],
  ...["response_mime_type", "response_modalities", "safety_settings", "labels", "cached_content", "agent_config"],
  ...["webhook_config", "environment", "output_text", "output_image", "output_audio", "output_video"],
  "continuation_ids",
]);

function indexOf(event: JsonObject): number {
  const index = countOf(event["index"]);
  if (index === null) throw invalidEvent("has no index");
  return index;
}

function sizeOf(delta: JsonObject): number {
  return JSON.stringify(delta).length;
}

/** Reads a whole answer. Throws Failure upstream_error. */
export function readInteractionAnswer(body: Uint8Array, source: AnswerSource): Answer {
  const interaction = parseFirst(body);
  if (interaction === null) throw invalidReply("is not a JSON object");
  if (typeof interaction["status"] !== "string") {
    if (interaction["error"] !== undefined) throw interactionFailure(interaction["error"]);
    throw invalidReply("is not an interaction");
  }
  return collectAnswer(source, (emit) => new InteractionEventReader(emit, source).take(interaction));
}
