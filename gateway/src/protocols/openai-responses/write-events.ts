import {
  type Answer,
  type AnswerEvent,
  type BlockHead,
  bounds,
  type Citation,
  Failure,
  type MediaSource,
  type Seal,
  type TurnTool,
} from "#core/index.ts";
import type { AnswerContext } from "../codec.ts";
import { answerEndedInError } from "../errors/upstream-errors.ts";
import { encodeText } from "../json/bytes.ts";
import { customNames } from "../openai-chat/custom-tool.ts";
import { answerEvents } from "../turn/answer-events.ts";
import { AnswerWriter } from "../turn/answer-writer.ts";
import { requireSummary } from "./compaction.ts";
import { failureEvents, responseError } from "./error.ts";
import {
  CompactionItem,
  CustomCallItem,
  FunctionCallItem,
  ImageItem,
  type ItemPosition,
  MessageItem,
  NumberedEvents,
  type OutputItem,
  ReasoningItem,
  SearchCallItem,
} from "./output-items.ts";
import { responseEcho } from "./response-object.ts";
import { isNamespaced, isSearch } from "./tool-kinds.ts";
import { writeResponsesUsage } from "./usage.ts";

/** A whole answer is the last response of its stream. */
export function writeResponsesAnswer(answer: Answer, context: AnswerContext): Uint8Array {
  const writer = new ResponsesEventWriter(context);
  for (const event of answerEvents(answer)) writer.write(event);
  return encodeText(writer.response);
}

/**
 * Writes response events. Events are numbered, `done` events repeat their deltas, and the last event repeats everything. SDKs and Codex
 * rely on this.
 */
export class ResponsesEventWriter extends AnswerWriter {
  readonly repeatsOutput = true;
  /** The last rendered response as JSON text. */
  response = "";

  readonly #lines = new NumberedEvents();
  readonly #custom: ReadonlySet<string>;
  readonly #tools: ReadonlyMap<string, TurnTool>;
  readonly #done: string[] = [];
  /** The request's members as JSON text without the closing brace. */
  #echo = "";
  /** Stays open until the next item begins, since more blocks may join it. */
  #item: OutputItem | null = null;
  #inBlock = false;
  /** Seal of the open tool call, written after it. */
  #callSeal: Seal | null = null;
  #refused = false;
  #length = 0;

  constructor(context: AnswerContext) {
    super(context);
    this.#custom = customNames(context.turn);
    this.#tools = new Map(context.turn.tools.map((tool) => [tool.name, tool]));
  }

  override write(event: AnswerEvent): string {
    const isMissingStart = this.#echo === "" && event.kind !== "start";
    return isMissingStart ? this.start(null, null) + super.write(event) : super.write(event);
  }

  protected start(id: string | null, model: string | null): string {
    if (this.#echo !== "") return "";
    const own = id?.startsWith("resp_") === true ? id : this.context.newId("resp_");
    this.#echo = JSON.stringify(responseEcho(this.context, own, model ?? this.context.model)).slice(0, -1);
    const begun = `"response":${this.#renderResponse({ status: "in_progress", ...unfinished }, [])}`;
    return this.#lines.line("response.created", begun) + this.#lines.line("response.in_progress", begun);
  }

  protected startBlock(block: BlockHead): string {
    // A picture given by URL becomes text.
    const linked = block.kind === "image" && block.source.kind !== "base64" ? block.source : null;
    const head: BlockHead = linked === null ? block : { kind: "text" };
    if (head.kind === "refusal") this.#refused = true;
    const begun = this.#item?.startBlock(head) ?? this.#close("completed") + this.#open(head);
    this.#inBlock = true;
    return linked === null ? begun : begun + this.delta(pictureText(linked));
  }

  #open(head: BlockHead): string {
    this.#item = this.#newItem(head);
    return this.#item.open() + (this.#item.startBlock(head) ?? "");
  }

  get #isCompaction(): boolean {
    return this.context.turn.compaction !== undefined;
  }

  #newItem(head: BlockHead): OutputItem {
    if (this.#isCompaction) return new CompactionItem(this.#newPosition("cmp_"));
    switch (head.kind) {
      case "text":
      case "refusal":
        return new MessageItem(this.#newPosition("msg_"), this.context.warn);
      case "reasoning":
        return new ReasoningItem(this.#newPosition("rs_"), head.redacted ? "redacted" : null, this.context.account);
      case "tool-call":
        return this.#newCall(head.id, head.name);
      case "image":
        if (head.source.kind !== "base64") return new MessageItem(this.#newPosition("msg_"), this.context.warn);
        return new ImageItem(this.#newPosition("ig_"), head.source.mediaType, head.source.data);
    }
  }

  #newCall(callId: string, called: string): OutputItem {
    const tool = this.#tools.get(called);
    if (tool !== undefined && isSearch(tool))
      return new SearchCallItem(this.#newPosition("tsc_"), { callId, name: called, namespace: null });
    const spaced = tool !== undefined && isNamespaced(tool) ? tool : null;
    const call = { callId, name: spaced?.ownName ?? called, namespace: spaced?.namespace ?? null };
    if (this.#custom.has(called)) return new CustomCallItem(this.#newPosition("ctc_"), call);
    return new FunctionCallItem(this.#newPosition("fc_"), call);
  }

  #newPosition(prefix: string): ItemPosition {
    return { lines: this.#lines, index: this.#done.length, id: this.context.newId(prefix) };
  }

  protected delta(text: string): string {
    this.#length += text.length;
    if (this.#length > bounds.replyBytesMax) {
      throw new Failure("upstream_error", "The upstream's answer is larger than the gateway holds.");
    }
    return this.#item?.delta(text) ?? "";
  }

  protected override cite(citation: Citation): string {
    this.#item?.addCitation(citation);
    return "";
  }

  protected override seal(seal: Seal): string {
    if (this.#item instanceof ReasoningItem) this.#item.seal(seal);
    else if (!this.#isCompaction) this.#callSeal = seal;
    return "";
  }

  protected override endBlock(): string {
    this.#inBlock = false;
    return this.#item?.endBlock() ?? "";
  }

  protected override writeFinish(): string {
    return this.#isCompaction ? "" : this.#close(this.#incomplete() === null ? "completed" : "incomplete");
  }

  /** Closes the open item and adds the seal of a call. */
  #close(status: "completed" | "incomplete"): string {
    const item = this.#item;
    if (item === null) return "";
    this.#item = null;
    const closed = item.close(status);
    this.#done.push(item.json);
    const seal = this.#callSeal;
    if (seal === null) return closed;
    this.#callSeal = null;
    const sealing = new ReasoningItem(this.#newPosition("rs_"), "call", this.context.account);
    sealing.seal(seal);
    const sealed = closed + sealing.open() + sealing.close("completed");
    this.#done.push(sealing.json);
    return sealed;
  }

  protected end(): string {
    const compacted = this.#isCompaction ? this.#endCompaction() : "";
    const reason = this.finish?.reason ?? "error";
    if (reason === "error") return this.fail(answerEndedInError());
    const details = this.#incomplete();
    const status = details === null ? "completed" : "incomplete";
    const completed_at = details === null ? (this.context.now?.() ?? this.context.createdAt) : null;
    const state = { status, completed_at, error: null, incomplete_details: details, usage: this.#writeUsage() };
    return compacted + this.#lines.line(`response.${status}`, `"response":${this.#renderResponse(state, this.#done)}`);
  }

  /** Throws Failure instead of showing a partial summary. */
  #endCompaction(): string {
    const summary = this.#item instanceof CompactionItem ? this.#item.summary : "";
    requireSummary(summary, this.finish?.reason ?? "error");
    return this.#close("completed");
  }

  protected override fail(failure: Failure): string {
    const sequence = this.#lines.next;
    if (this.#isCompaction) this.#item = null;
    // Shows partial output without `done` events, so that no client acts on it.
    if (this.#inBlock) this.#item?.endBlock();
    this.#close("incomplete");
    const error = responseError(failure);
    const response = this.#renderResponse(
      { status: "failed", ...unfinished, error, usage: this.#writeUsage() },
      this.#done,
    );
    return failureEvents(failure, response, sequence);
  }

  #writeUsage(): object | null {
    return this.usage === null ? null : writeResponsesUsage(this.usage);
  }

  /** Null if the answer is complete. A refusal without text is a filtered answer. */
  #incomplete(): { readonly reason: "max_output_tokens" | "content_filter" } | null {
    switch (this.finish?.reason) {
      case "length":
      case "context-length":
        return { reason: "max_output_tokens" };
      case "content-filter":
        return { reason: "content_filter" };
      case "refusal":
        return this.#refused ? null : { reason: "content_filter" };
      default:
        return null;
    }
  }

  #renderResponse(state: object, output: readonly string[]): string {
    this.response = `${this.#echo},${JSON.stringify(state).slice(1, -1)},"output":[${output.join(",")}]}`;
    return this.response;
  }
}

const unfinished = { completed_at: null, error: null, incomplete_details: null, usage: null };

function pictureText(source: MediaSource): string {
  if (source.kind === "url") return `![image](${source.url})`;
  return source.kind === "text" ? source.text : "(image)";
}
