import type { BlockHead, Citation, Seal } from "#core/index.ts";
import type { AnswerContext } from "../codec.ts";
import { answerEndedInError } from "../errors/upstream-errors.ts";
import { AnswerWriter } from "../turn/answer-writer.ts";
import { emptySeal } from "../turn/seal-text.ts";
import { renderMessagesStreamError } from "./error.ts";
import { callSealText } from "./read-messages.ts";
import { writeMessagesUsage } from "./reply.ts";
import {
  type ContentBlock,
  callId,
  callMark,
  messageHead,
  needsCallMark,
  pictureNote,
  signatureOf,
  textBlock,
  thinkingBlock,
  toolUseBlock,
  wantsThinking,
  warnOfPicture,
  webCitation,
  writeStop,
} from "./write-answer.ts";

/**
 * Writes message events. A block starts once it has content. message_delta waits for the end, because some vendors report usage after
 * they finish.
 */
export class MessagesEventWriter extends AnswerWriter {
  readonly #thinking: boolean;
  readonly #contains = { toolCall: false, refusal: false };
  /** A call before any thinking block gets a mark. */
  #unmarked: boolean;
  #started = false;
  #index = 0;
  #head: BlockHead | null = null;
  #shown = false;
  #seal: Seal | null = null;
  /** Signature of an empty thinking block after other blocks, written only if something follows. */
  #lateSignature: string | null = null;

  constructor(context: AnswerContext) {
    super(context);
    this.#thinking = wantsThinking(context.turn);
    this.#unmarked = needsCallMark(context.turn);
  }

  protected start(id: string | null, model: string | null): string {
    if (this.#started) return "";
    this.#started = true;
    const message = {
      ...messageHead(id, model, this.context),
      content: [],
      stop_details: null,
      stop_reason: null,
      stop_sequence: null,
      usage: writeMessagesUsage(this.usage),
    };
    return named("message_start", { type: "message_start", message });
  }

  protected startBlock(head: BlockHead): string {
    const before = this.start(null, null) + this.endBlock() + this.#showLate();
    this.#head = head.kind === "tool-call" ? { ...head, id: callId(head.id, this.context) } : head;
    if (head.kind === "tool-call") this.#contains.toolCall = true;
    if (head.kind === "refusal") this.#contains.refusal = true;
    if (head.kind !== "image") return before;
    warnOfPicture(this.context);
    return before + this.#show(textBlock("")) + this.#deltaEvent("text_delta", "text", pictureNote);
  }

  protected delta(text: string): string {
    const head = this.#head;
    switch (head?.kind) {
      case "text":
      case "refusal":
        return this.#show(textBlock("")) + this.#deltaEvent("text_delta", "text", text);
      case "tool-call":
        return this.#showCall(head) + this.#deltaEvent("input_json_delta", "partial_json", text);
      case "reasoning":
        if (head.redacted || !this.#thinking || this.context.turn.reasoning?.visible !== true) return "";
        return this.#show(thinkingBlock("", "")) + this.#deltaEvent("thinking_delta", "thinking", text);
      default:
        return "";
    }
  }

  protected override cite(citation: Citation): string {
    const written = this.#shown && this.#head?.kind === "text" ? webCitation(citation, this.context) : null;
    if (written === null) return "";
    const delta = { type: "citations_delta", citation: written };
    return named("content_block_delta", { type: "content_block_delta", index: this.#index, delta });
  }

  /** The seal of a thinking block is written at its end, that of a call before it if possible. */
  protected override seal(seal: Seal): string {
    const head = this.#head;
    if (head?.kind === "tool-call" && !this.#shown) return this.#callSeal(seal, head.id);
    this.#seal = seal;
    return "";
  }

  protected override endBlock(): string {
    const head = this.#head;
    const seal = this.#seal;
    if (head === null) return "";
    let text = "";
    if (head.kind === "tool-call") text = this.#showCall(head);
    else if (head.kind === "reasoning" && this.#thinking) text = this.#endThoughts(head.redacted, seal);
    if (this.#shown) text += this.#stop();
    this.#head = null;
    this.#shown = false;
    this.#seal = null;
    return head.kind === "tool-call" && seal !== null ? text + this.#callSeal(seal, head.id) : text;
  }

  #endThoughts(redacted: boolean, seal: Seal | null): string {
    if (redacted) return seal === null ? "" : this.#show({ data: signatureOf(seal), type: "redacted_thinking" });
    if (this.#shown) {
      return this.#deltaEvent("signature_delta", "signature", signatureOf(seal ?? emptySeal(this.context.account)));
    }
    if (seal === null) return "";
    const signature = signatureOf(seal);
    if (this.#index === 0) {
      return this.#show(thinkingBlock("", "")) + this.#deltaEvent("signature_delta", "signature", signature);
    }
    this.#lateSignature = signature;
    return "";
  }

  #showCall(head: BlockHead & { readonly kind: "tool-call" }): string {
    if (this.#shown) return "";
    const mark = this.#unmarked ? this.#sealBlock(callMark(this.context.account)) : "";
    return mark + this.#show(toolUseBlock(head.id, head.name, {}));
  }

  #show(block: ContentBlock): string {
    if (this.#shown) return "";
    this.#shown = true;
    if (block.type === "thinking" || block.type === "redacted_thinking") this.#unmarked = false;
    return named("content_block_start", { type: "content_block_start", index: this.#index, content_block: block });
  }

  #stop(): string {
    return named("content_block_stop", { type: "content_block_stop", index: this.#index++ });
  }

  #callSeal(seal: Seal, id: string): string {
    return this.#sealBlock(callSealText(seal, id));
  }

  /** A trailing seal is dropped: programs take the last block for the answer. */
  #showLate(): string {
    const late = this.#lateSignature;
    this.#lateSignature = null;
    return late === null ? "" : this.#sealBlock(late);
  }

  #sealBlock(signature: string): string {
    this.#unmarked = false;
    const start = { type: "content_block_start", index: this.#index, content_block: thinkingBlock("", "") };
    return (
      named("content_block_start", start) + this.#deltaEvent("signature_delta", "signature", signature) + this.#stop()
    );
  }

  /** Built by hand, once per token. */
  #deltaEvent(type: string, member: string, text: string): string {
    const delta = `{"type":"${type}","${member}":${JSON.stringify(text)}}`;
    return `event: content_block_delta\ndata: {"type":"content_block_delta","index":${this.#index},"delta":${delta}}\n\n`;
  }

  protected end(): string {
    const before = this.start(null, null) + this.endBlock();
    const finish = this.finish ?? { reason: "stop", stopSequence: null };
    if (finish.reason === "error") return before + renderMessagesStreamError(answerEndedInError(), null);
    const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens, output_tokens_details } =
      writeMessagesUsage(this.usage);
    const isReported = this.usage !== null;
    const delta = {
      type: "message_delta",
      delta: { container: null, ...writeStop(finish, this.#contains) },
      usage: {
        input_tokens: isReported ? input_tokens : null,
        cache_creation_input_tokens: isReported ? cache_creation_input_tokens : null,
        cache_read_input_tokens: isReported ? cache_read_input_tokens : null,
        output_tokens,
        output_tokens_details: isReported ? output_tokens_details : null,
        server_tool_use: null,
      },
    };
    return before + named("message_delta", delta) + named("message_stop", { type: "message_stop" });
  }
}

function named(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
