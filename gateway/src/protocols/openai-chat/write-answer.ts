import type {
  Answer,
  AnswerBlock,
  BlockHead,
  Citation,
  Failure,
  Finish,
  FinishReason,
  MediaSource,
  Seal,
} from "#core/index.ts";
import type { AnswerContext, Warn } from "../codec.ts";
import { answerEndedInError } from "../errors/upstream-errors.ts";
import { extraContent } from "../gemini/google-extras.ts";
import { type JsonObject, jsonBytes } from "../json/value.ts";
import { AnswerWriter } from "../turn/answer-writer.ts";
import { documentCitationDropped, spanIn } from "../turn/citations.ts";
import { dataUri } from "../turn/data-uri.ts";
import { customInput, customNames } from "./custom-tool.ts";
import { renderChatStreamError } from "./dialect.ts";
import { writeChatUsage } from "./usage.ts";

/** Throws Failure upstream_error for an answer that ended in an error. */
export function writeChatAnswer(answer: Answer, context: AnswerContext): Uint8Array {
  const { blocks } = answer;
  const finish = finishOf(answer.finish, context);
  if (finish === null) throw answerEndedInError();
  const calls = blocks.filter((block) => block.kind === "tool-call");
  const text = textsOf(blocks, "text");
  const refusal = textsOf(blocks, "refusal");
  const thoughts = textsOf(blocks, "reasoning");
  const images = blocks
    .flatMap((block) => (block.kind === "image" ? [block.source] : []))
    .flatMap((source, index) => writeImage(source, index, context.warn) ?? []);
  const custom = customNames(context.turn);
  const completion = {
    id: answer.id ?? context.newId("chatcmpl-"),
    object: "chat.completion",
    created: context.createdAt,
    model: answer.model ?? context.model,
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: text === "" && calls.length > 0 ? null : text,
          ...(thoughts === "" ? {} : { reasoning_content: thoughts }),
          refusal: refusal === "" ? null : refusal,
          annotations: annotationsOf(blocks, context),
          ...(images.length === 0 ? {} : { images }),
          ...writeCalls(calls, custom, context),
          ...extraContent(blocks.findLast(isSigned)?.seal ?? null),
        },
        logprobs: null,
        finish_reason: finish,
      },
    ],
    ...(answer.usage === null ? {} : { usage: writeChatUsage(answer.usage) }),
  };
  return jsonBytes(completion);
}

/** Null for an answer that ended in an error. */
function finishOf({ reason }: Finish, { turn, warn }: AnswerContext): string | null {
  if (reason === "pause") warn("the upstream paused its answer: send it back to continue");
  const finish = finishes[reason];
  return finish === "tool_calls" && turn.legacyFunctions === true ? "function_call" : finish;
}

const secondCallDropped = "calls after the first were dropped: the functions parameter returns only one";

function writeCalls(calls: readonly CallBlock[], custom: ReadonlySet<string>, context: AnswerContext): JsonObject {
  const [first, second] = calls;
  if (first === undefined) return {};
  if (context.turn.legacyFunctions !== true) return { tool_calls: calls.map((call) => writeCall(call, custom)) };
  if (second !== undefined) context.warn(secondCallDropped);
  return { function_call: { name: first.name, arguments: first.argumentsText } };
}

function annotationsOf(blocks: readonly AnswerBlock[], { warn }: AnswerContext): JsonObject[] {
  let start = 0;
  return blocks.flatMap((block) => {
    if (block.kind !== "text") return [];
    const place = { start, length: block.text.length };
    start += place.length;
    return writeAnnotations(block.citations ?? [], place, warn);
  });
}

/** A reasoning block with the signature of the whole answer. */
function isSigned(block: AnswerBlock): block is AnswerBlock & { readonly kind: "reasoning" } {
  return block.kind === "reasoning" && block.seal?.dialect === "gemini";
}

type CallBlock = AnswerBlock & { readonly kind: "tool-call" };

function writeCall(call: CallBlock, custom: ReadonlySet<string>): object {
  const { id, name } = call;
  if (custom.has(name)) return { id, type: "custom", custom: { name, input: customInput(call.argumentsText) } };
  return { id, type: "function", function: { name, arguments: call.argumentsText }, ...extraContent(call.seal) };
}

function textsOf(blocks: readonly AnswerBlock[], kind: "text" | "refusal" | "reasoning"): string {
  return blocks.flatMap((block) => (block.kind === kind ? [block.text] : [])).join("");
}

/** A generated picture as OpenRouter and others attach it; OpenAI has no field for it. Null if only its vendor can read it. */
function writeImage(source: MediaSource, index: number, warn: Warn): JsonObject | null {
  if (source.kind !== "base64" && source.kind !== "url") {
    warn("a picture that only the upstream can read was dropped");
    return null;
  }
  const url = source.kind === "url" ? source.url : dataUri(source.mediaType, source.data);
  return { type: "image_url", image_url: { url }, index };
}

/** Chunks share their beginning and end, rendered once. */
export class ChatEventWriter extends AnswerWriter {
  readonly #custom: ReadonlySet<string>;
  #head = "";
  #tail = "";
  #open: BlockHead | null = null;
  #callIndex = -1;
  /** Custom calls are written once their text is complete. */
  #customArguments: string[] = [];
  readonly #legacy: boolean;
  /** Characters of the content, and the offset of the open block. */
  #textLength = 0;
  #blockStart = 0;
  #images = 0;

  constructor(context: AnswerContext) {
    super(context);
    this.#legacy = context.turn.legacyFunctions === true;
    this.#custom = customNames(context.turn);
  }

  protected start(id: string | null, model: string | null): string {
    const { context } = this;
    const named = JSON.stringify({
      id: id ?? context.newId("chatcmpl-"),
      object: "chat.completion.chunk",
      created: context.createdAt,
      model: model ?? context.model,
    });
    this.#head = `data: ${named.slice(0, -1)},"choices":[`;
    this.#tail = context.wantsUsage ? ',"usage":null}\n\n' : "}\n\n";
    return this.#chunk('{"role":"assistant","content":"","refusal":null}');
  }

  protected startBlock(block: BlockHead): string {
    this.#open = block;
    this.#blockStart = this.#textLength;
    if (block.kind === "image") return this.#image(block.source);
    if (block.kind !== "tool-call") return "";
    this.#callIndex++;
    if (this.#legacy) return this.#legacyCall({ name: block.name, arguments: "" });
    return this.#call(writeCall({ ...block, argumentsText: "", seal: null }, this.#custom));
  }

  protected delta(text: string): string {
    switch (this.#open?.kind) {
      case "text":
        this.#textLength += text.length;
        return this.#chunk(`{"content":${JSON.stringify(text)}}`);
      case "reasoning":
        return this.#chunk(`{"reasoning_content":${JSON.stringify(text)}}`);
      case "refusal":
        return this.#chunk(`{"refusal":${JSON.stringify(text)}}`);
      case "tool-call":
        return this.#writeArguments(this.#open.name, text);
      default:
        return "";
    }
  }

  #writeArguments(name: string, text: string): string {
    if (this.#legacy) return this.#legacyCall({ arguments: text });
    if (!this.#custom.has(name)) return this.#call({ function: { arguments: text } });
    this.#customArguments.push(text);
    return "";
  }

  protected override seal(seal: Seal): string {
    if (seal.dialect !== "gemini") return "";
    if (this.#open?.kind === "reasoning") return this.#chunk(JSON.stringify(extraContent(seal)));
    if (this.#legacy || this.#open?.kind !== "tool-call") return "";
    return this.#call({ function: { arguments: "" }, ...extraContent(seal) });
  }

  #image(source: MediaSource): string {
    const image = writeImage(source, this.#images++, this.context.warn);
    return image === null ? "" : this.#chunk(JSON.stringify({ images: [image] }));
  }

  #legacyCall(piece: { readonly name?: string; readonly arguments: string }): string {
    if (this.#callIndex === 0) return this.#chunk(JSON.stringify({ function_call: piece }));
    this.context.warn(secondCallDropped);
    return "";
  }

  #annotations(): string {
    const place = { start: this.#blockStart, length: this.#textLength - this.#blockStart };
    const annotations = writeAnnotations(this.citations.take(), place, this.context.warn);
    return annotations.length === 0 ? "" : this.#chunk(JSON.stringify({ annotations }));
  }

  protected override endBlock(): string {
    if (this.#open?.kind === "text") {
      this.#open = null;
      return this.#annotations();
    }
    this.#open = null;
    if (this.#customArguments.length === 0) return "";
    const input = customInput(this.#customArguments.join(""));
    this.#customArguments = [];
    return this.#call({ custom: { input } });
  }

  protected override writeFinish(finish: Finish): string {
    const reason = finishOf(finish, this.context);
    if (reason !== null) return this.#chunk("{}", `"${reason}"`);
    this.ended = true;
    return this.fail(answerEndedInError());
  }

  protected override fail(failure: Failure): string {
    return renderChatStreamError(failure);
  }

  protected end(): string {
    const { usage, context } = this;
    const isSent = context.wantsUsage && usage !== null;
    const chunk = isSent ? `${this.#head}],"usage":${JSON.stringify(writeChatUsage(usage))}}\n\n` : "";
    return `${chunk}data: [DONE]\n\n`;
  }

  #call(call: object): string {
    return this.#chunk(`{"tool_calls":[${JSON.stringify({ index: this.#callIndex, ...call })}]}`);
  }

  #chunk(delta: string, finish = "null"): string {
    return `${this.#head}{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finish}}]${this.#tail}`;
  }
}

const finishes: Readonly<Record<FinishReason, "stop" | "length" | "tool_calls" | "content_filter" | null>> = {
  stop: "stop",
  "stop-sequence": "stop",
  pause: "stop",
  length: "length",
  "context-length": "length",
  "tool-calls": "tool_calls",
  "content-filter": "content_filter",
  refusal: "content_filter",
  error: null,
};

/** Only web pages can be cited; offsets count from the start of the content. `place`: the text within it. */
function writeAnnotations(
  citations: readonly Citation[],
  place: { start: number; length: number },
  warn: Warn,
): JsonObject[] {
  return citations.flatMap((citation) => {
    const { source } = citation;
    if (source.kind !== "url") {
      warn(documentCitationDropped);
      return [];
    }
    const { start, end } = spanIn(citation, place.length);
    const url_citation = {
      start_index: place.start + start,
      end_index: place.start + end,
      title: source.title ?? "",
      url: source.url,
    };
    return [{ type: "url_citation", url_citation }];
  });
}
