import type { Answer, AnswerBlock, BlockHead, Failure, Finish, MediaSource, Seal } from "#core/index.ts";
import type { AnswerContext, Warn } from "../codec.ts";
import { type JsonObject, jsonBytes } from "../json/value.ts";
import { AnswerWriter } from "../turn/answer-writer.ts";
import { emptySeal } from "../turn/seal-text.ts";
import { argumentsObject } from "../turn/tool-calls.ts";
import { warnOnce } from "../turn/warnings.ts";
import { writeAnnotations } from "./annotations.ts";
import { renderInteractionStreamError } from "./error.ts";
import { filterCode } from "./read-answer.ts";
import { writeStepSignature } from "./signatures.ts";
import { writeInteractionUsage } from "./usage.ts";

export function writeInteractionAnswer(answer: Answer, context: AnswerContext): Uint8Array {
  const warn = warnOnce(context.warn);
  const steps = answer.blocks.flatMap((block) => stepsOf(block, context, warn));
  return jsonBytes({
    ...headOf(answer.id, answer.model, context),
    ...endOf(answer.finish, steps.some(isCall)),
    steps,
    ...(answer.usage === null ? {} : { usage: writeInteractionUsage(answer.usage) }),
  });
}

function headOf(id: string | null, model: string | null, context: AnswerContext): JsonObject {
  const created = new Date(context.createdAt * 1_000).toISOString();
  return {
    id: id ?? context.newId("interaction_"),
    object: "interaction",
    model: model ?? context.model,
    created,
    updated: created,
  };
}

/** Interactions have no status for a filtered answer, so it has an error. */
function endOf({ reason }: Finish, hasCalls: boolean): JsonObject {
  switch (reason) {
    case "length":
    case "context-length":
      return { status: "incomplete" };
    case "content-filter":
    case "refusal":
      return { status: "incomplete", errors: [{ code: filterCode, message: "The answer was filtered." }] };
    case "error":
      return { status: "failed" };
    default:
      return { status: hasCalls || reason === "tool-calls" ? "requires_action" : "completed" };
  }
}

function isCall({ type }: JsonObject): boolean {
  return type === "function_call";
}

/** None for an empty block. */
function stepsOf(block: AnswerBlock, { account }: AnswerContext, warn: Warn): readonly JsonObject[] {
  switch (block.kind) {
    case "text":
    case "refusal": {
      if (block.text === "") return [];
      const cited = block.kind === "text" ? writeAnnotations(block.citations ?? [], block.text, warn) : [];
      const annotations = cited.length === 0 ? {} : { annotations: cited };
      return [{ type: "model_output", content: [{ type: "text", text: block.text, ...annotations }] }];
    }
    case "reasoning": {
      const { text, seal, redacted } = block;
      if (text === "" && seal === null) return [];
      const signature = writeStepSignature(seal ?? emptySeal(account), redacted);
      return [{ type: "thought", signature, summary: text === "" ? [] : [{ type: "text", text }] }];
    }
    case "tool-call": {
      const { id, name, argumentsText, seal } = block;
      const call = { type: "function_call", id, name, arguments: argumentsObject(argumentsText, warn) };
      return seal === null ? [call] : [call, { type: "thought", signature: writeStepSignature(seal), summary: [] }];
    }
    case "image": {
      const picture = pictureOf(block.source, warn);
      return picture === null ? [] : [{ type: "model_output", content: [picture] }];
    }
  }
}

function pictureOf(source: MediaSource, warn: Warn): JsonObject | null {
  if (source.kind === "base64") return { type: "image", mime_type: source.mediaType, data: source.data };
  if (source.kind === "url") return { type: "image", mime_type: source.mediaType ?? "image/png", uri: source.url };
  warn("a picture that only the upstream can read was dropped");
  return null;
}

/** Writes the events of an interaction: one step for each block. The last event has the final usage. */
export class InteractionEventWriter extends AnswerWriter {
  #head: JsonObject | null = null;
  #index = 0;
  #block: BlockHead | null = null;
  /** The open block has a step. */
  #shown = false;
  #seal: Seal | null = null;
  #text: string[] = [];
  #hasCalls = false;

  constructor(context: AnswerContext) {
    super({ ...context, warn: warnOnce(context.warn) });
  }

  protected start(id: string | null, model: string | null): string {
    if (this.#head !== null) return "";
    this.#head = headOf(id, model, this.context);
    return named("interaction.created", { interaction: { ...this.#head, status: "in_progress" } });
  }

  protected startBlock(block: BlockHead): string {
    const before = this.start(null, null);
    this.#block = block;
    if (block.kind === "tool-call") {
      this.#hasCalls = true;
      return before + this.#show({ type: "function_call", id: block.id, name: block.name, arguments: {} });
    }
    if (block.kind !== "image") return before;
    const picture = pictureOf(block.source, this.context.warn);
    return picture === null ? before : before + this.#show({ type: "model_output" }) + this.#delta(picture);
  }

  protected delta(text: string): string {
    switch (this.#block?.kind) {
      case "text":
      case "refusal":
        this.#text.push(text);
        return this.#show({ type: "model_output" }) + this.#delta({ type: "text", text });
      case "reasoning":
        return (
          this.#show({ type: "thought" }) + this.#delta({ type: "thought_summary", content: { type: "text", text } })
        );
      case "tool-call":
        return this.#delta({ type: "arguments_delta", arguments: text });
      default:
        return "";
    }
  }

  protected override seal(seal: Seal): string {
    this.#seal = seal;
    return "";
  }

  protected override endBlock(): string {
    const block = this.#block;
    if (block === null) return "";
    const annotations = writeAnnotations(this.citations.take(), this.#text.join(""), this.context.warn);
    let text = annotations.length === 0 ? "" : this.#delta({ type: "text_annotation_delta", annotations });
    const seal = this.#seal ?? (block.kind === "reasoning" && this.#shown ? emptySeal(this.context.account) : null);
    if (seal !== null) {
      // Calls have no signature, so a thought without a summary follows that has it.
      if (block.kind === "tool-call") text += this.#stop();
      const signature = writeStepSignature(seal, block.kind === "reasoning" && block.redacted);
      text += this.#show({ type: "thought" }) + this.#delta({ type: "thought_signature", signature });
    }
    if (this.#shown) text += this.#stop();
    this.#block = null;
    this.#seal = null;
    this.#text = [];
    return text;
  }

  protected end(): string {
    const before = this.start(null, null);
    const finish = this.finish ?? { reason: "stop", stopSequence: null };
    const usage = this.usage === null ? {} : { usage: writeInteractionUsage(this.usage) };
    const interaction = { ...this.#head, ...endOf(finish, this.#hasCalls), ...usage };
    return `${before}${named("interaction.completed", { interaction })}data: [DONE]\n\n`;
  }

  protected override fail(failure: Failure): string {
    return this.start(null, null) + renderInteractionStreamError(failure);
  }

  #show(step: JsonObject): string {
    if (this.#shown) return "";
    this.#shown = true;
    return named("step.start", { index: this.#index, step });
  }

  #stop(): string {
    this.#shown = false;
    return named("step.stop", { index: this.#index++ });
  }

  #delta(delta: JsonObject): string {
    return named("step.delta", { index: this.#index, delta });
  }
}

function named(type: string, fields: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ event_type: type, ...fields })}\n\n`;
}
