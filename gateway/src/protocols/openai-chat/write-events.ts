import type { AnswerEvent, BlockHead, Finish, MediaSource, Seal, Usage } from "#core/index.ts";
import type { AnswerContext, EventWriter } from "../codec.ts";
import { brokenAnswer } from "../errors/upstream-errors.ts";
import { extraContent } from "../gemini/google-extras.ts";
import { HeldCitations } from "../turn/citations.ts";
import { writeAnnotations } from "./annotations.ts";
import { customInput, customNames } from "./custom-tool.ts";
import { renderChatStreamError } from "./error.ts";
import { chatFinish } from "./finish.ts";
import { writeChatUsage } from "./usage.ts";
import { asAsked, secondCallLost, warnOfPause, writeImage } from "./write-answer.ts";

/** chat.completion.chunk events. All chunks share their beginning and end, which are rendered once. */
export class ChatEventWriter implements EventWriter {
  readonly #context: AnswerContext;
  readonly #custom: ReadonlySet<string>;
  #head = "";
  #tail = "";
  #open: BlockHead | null = null;
  #callIndex = -1;
  /** Arguments of an open custom call: its free text can be told only when they are whole. */
  #customArguments: string[] = [];
  readonly #legacy: boolean;
  readonly #citations: HeldCitations;
  /** Characters of the content so far, and where those of the open block begin. */
  #textLength = 0;
  #blockStart = 0;
  #images = 0;
  #usage: Usage | null = null;
  #over = false;

  constructor(context: AnswerContext) {
    this.#context = context;
    this.#legacy = context.turn.legacyFunctions === true;
    this.#citations = new HeldCitations(context.warn);
    this.#custom = customNames(context.turn);
  }

  write(event: AnswerEvent): string {
    if (this.#over) return "";
    switch (event.kind) {
      case "start":
        return this.#start(event.id, event.model);
      case "block-start":
        return this.#openBlock(event.block);
      case "block-delta":
        return this.#writeDelta(event.text);
      case "block-citation":
        this.#citations.add(event.citation);
        return "";
      case "block-seal":
        return this.#writeSeal(event.seal);
      case "block-end":
        return this.#closeBlock();
      case "usage":
        this.#usage = event.usage;
        return "";
      case "finish":
        return this.#finish(event.finish);
      case "error":
        this.#over = true;
        return renderChatStreamError(event.failure);
      case "end":
        this.#over = true;
        return `${this.#usageChunk()}data: [DONE]\n\n`;
    }
  }

  #start(id: string | null, model: string | null): string {
    const context = this.#context;
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

  #openBlock(block: BlockHead): string {
    this.#open = block;
    this.#blockStart = this.#textLength;
    if (block.kind === "image") return this.#image(block.source);
    if (block.kind !== "tool-call") return "";
    this.#callIndex++;
    const { id, name } = block;
    if (this.#legacy) return this.#legacyCall({ name, arguments: "" });
    return this.#call(
      this.#custom.has(name)
        ? { id, type: "custom", custom: { name, input: "" } }
        : { id, type: "function", function: { name, arguments: "" } },
    );
  }

  #writeDelta(text: string): string {
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

  #writeSeal(seal: Seal): string {
    if (seal.dialect !== "gemini") return "";
    if (this.#open?.kind === "reasoning") return this.#chunk(JSON.stringify(extraContent(seal)));
    if (this.#legacy || this.#open?.kind !== "tool-call") return "";
    return this.#call({ function: { arguments: "" }, ...extraContent(seal) });
  }

  #image(source: MediaSource): string {
    const image = writeImage(source, this.#images++, this.#context.warn);
    return image === null ? "" : this.#chunk(JSON.stringify({ images: [image] }));
  }

  #legacyCall(piece: { readonly name?: string; readonly arguments: string }): string {
    if (this.#callIndex === 0) return this.#chunk(JSON.stringify({ function_call: piece }));
    this.#context.warn(secondCallLost);
    return "";
  }

  /** Where cited words end is known once all were said. */
  #annotations(): string {
    const place = { start: this.#blockStart, length: this.#textLength - this.#blockStart };
    const annotations = writeAnnotations(this.#citations.take(), place, this.#context.warn);
    return annotations.length === 0 ? "" : this.#chunk(JSON.stringify({ annotations }));
  }

  #closeBlock(): string {
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

  #finish(finish: Finish): string {
    const reason = chatFinish(finish.reason);
    if (reason === null) {
      this.#over = true;
      return renderChatStreamError(brokenAnswer());
    }
    warnOfPause(finish, this.#context);
    return this.#chunk("{}", `"${asAsked(reason, this.#context)}"`);
  }

  #usageChunk(): string {
    if (!this.#context.wantsUsage || this.#usage === null) return "";
    return `${this.#head}],"usage":${JSON.stringify(writeChatUsage(this.#usage))}}\n\n`;
  }

  #call(call: object): string {
    return this.#chunk(`{"tool_calls":[${JSON.stringify({ index: this.#callIndex, ...call })}]}`);
  }

  #chunk(delta: string, finish = "null"): string {
    return `${this.#head}{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finish}}]${this.#tail}`;
  }
}
