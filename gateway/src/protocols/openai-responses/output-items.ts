import type { BlockHead, Citation, Seal } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { parseObject } from "../json/value.ts";
import { customInput } from "../openai-chat/custom-tool.ts";
import { CitationBuffer, documentCitationDropped, spanIn } from "../turn/citations.ts";
import { emptySeal, readSeal, readSealText, sealMark, sealText } from "../turn/seal-text.ts";
import { sealSummary } from "./compaction.ts";

export interface ItemPosition {
  readonly lines: NumberedEvents;
  readonly index: number;
  readonly id: string;
}

/** Numbers events. */
export class NumberedEvents {
  #next = 0;

  get next(): number {
    return this.#next;
  }

  /** `members`: JSON members without braces. */
  line(type: string, members: string): string {
    return `event: ${type}\ndata: {"type":"${type}",${members},"sequence_number":${this.#next++}}\n\n`;
  }
}

/** Writes one output item. Methods return events. */
export abstract class OutputItem {
  /** JSON of the closed item. */
  json = "";
  protected readonly position: ItemPosition;

  constructor(place: ItemPosition) {
    this.position = place;
  }

  /** `status`: in_progress while it is empty. */
  protected abstract item(status: string): string;

  open(): string {
    return this.#line("response.output_item.added", this.item("in_progress"));
  }

  /** Null if the block needs a separate item. */
  startBlock(_head: BlockHead): string | null {
    return null;
  }

  delta(_text: string): string {
    return "";
  }

  addCitation(_citation: Citation): void {}

  endBlock(): string {
    return "";
  }

  close(status: "completed" | "incomplete"): string {
    this.json = this.item(status);
    return this.#line("response.output_item.done", this.json);
  }

  /** `members` begin with a comma. */
  protected itemEvent(type: string, members: string): string {
    const { lines, index, id } = this.position;
    return lines.line(type, `"item_id":"${id}","output_index":${index}${members}`);
  }

  #line(type: string, item: string): string {
    return this.position.lines.line(type, `"output_index":${this.position.index},"item":${item}`);
  }
}

/** Neighboring texts and refusals are parts of one message. */
export class MessageItem extends OutputItem {
  readonly #parts: string[] = [];
  #kind: "text" | "refusal" = "text";
  #text = "";
  readonly #warn: Warn;
  readonly #citations: CitationBuffer;

  constructor(place: ItemPosition, warn: Warn) {
    super(place);
    this.#warn = warn;
    this.#citations = new CitationBuffer(warn);
  }

  override startBlock(head: BlockHead): string | null {
    if (head.kind !== "text" && head.kind !== "refusal") return null;
    this.#kind = head.kind;
    this.#text = "";
    return this.itemEvent("response.content_part.added", `,${this.#content()},"part":${partJson(this.#kind, "")}`);
  }

  override delta(text: string): string {
    this.#text += text;
    const members = `,${this.#content()},"delta":${JSON.stringify(text)}`;
    if (this.#kind === "refusal") return this.itemEvent("response.refusal.delta", members);
    return this.itemEvent("response.output_text.delta", `${members},"logprobs":[]`);
  }

  override addCitation(citation: Citation): void {
    this.#citations.add(citation);
  }

  override endBlock(): string {
    const text = JSON.stringify(this.#text);
    const annotations = this.#citations
      .take()
      .flatMap((citation) => writeAnnotation(citation, this.#text.length, this.#warn) ?? []);
    const added = annotations.map((annotation, index) =>
      this.itemEvent(
        "response.output_text.annotation.added",
        `,${this.#content()},"annotation_index":${index},"annotation":${annotation}`,
      ),
    );
    const part = partJson(this.#kind, this.#text, annotations);
    const done =
      this.#kind === "refusal"
        ? this.itemEvent("response.refusal.done", `,${this.#content()},"refusal":${text}`)
        : this.itemEvent("response.output_text.done", `,${this.#content()},"text":${text},"logprobs":[]`);
    const partDone = this.itemEvent("response.content_part.done", `,${this.#content()},"part":${part}`);
    this.#parts.push(part);
    return added.join("") + done + partDone;
  }

  protected item(status: string): string {
    return `{"type":"message","id":"${this.position.id}","status":"${status}","role":"assistant","content":[${this.#parts.join(",")}]}`;
  }

  #content(): string {
    return `"content_index":${this.#parts.length}`;
  }
}

function partJson(kind: "text" | "refusal", text: string, annotations: readonly string[] = []): string {
  if (kind === "refusal") return `{"type":"refusal","refusal":${JSON.stringify(text)}}`;
  return `{"type":"output_text","text":${JSON.stringify(text)},"annotations":[${annotations.join(",")}],"logprobs":[]}`;
}

/** Null for citations that Responses cannot express. */
function writeAnnotation(citation: Citation, length: number, warn: Warn): string | null {
  const { source } = citation;
  const { start, end } = spanIn(citation, length);
  if (source.kind === "url") {
    const title = source.title ?? "";
    return JSON.stringify({ type: "url_citation", start_index: start, end_index: end, title, url: source.url });
  }
  if (source.fileId === null) {
    warn(documentCitationDropped);
    return null;
  }
  return JSON.stringify({ type: "file_citation", file_id: source.fileId, filename: source.name ?? "", index: end });
}

interface CallName {
  readonly callId: string;
  readonly name: string;
  readonly namespace: string | null;
}

abstract class CallItem extends OutputItem {
  protected readonly call: CallName;
  protected arguments = "";

  constructor(place: ItemPosition, call: CallName) {
    super(place);
    this.call = call;
  }

  override delta(text: string): string {
    this.arguments += text;
    return "";
  }

  protected callJson(type: string, input: object, status: string): string {
    const { callId: call_id, name, namespace } = this.call;
    const space = namespace === null ? {} : { namespace };
    return JSON.stringify({ type, id: this.position.id, call_id, name, ...input, status, ...space });
  }
}

export class FunctionCallItem extends CallItem {
  override delta(text: string): string {
    this.arguments += text;
    return this.itemEvent("response.function_call_arguments.delta", `,"delta":${JSON.stringify(text)}`);
  }

  override endBlock(): string {
    const members = `,"arguments":${JSON.stringify(this.arguments)},"name":${JSON.stringify(this.call.name)}`;
    return this.itemEvent("response.function_call_arguments.done", members);
  }

  protected item(status: string): string {
    return this.callJson("function_call", { arguments: this.arguments }, status);
  }
}

/** Written once the arguments are complete. */
export class CustomCallItem extends CallItem {
  #input = "";

  override endBlock(): string {
    this.#input = customInput(this.arguments);
    const text = JSON.stringify(this.#input);
    const delta = this.#input === "" ? "" : this.itemEvent("response.custom_tool_call_input.delta", `,"delta":${text}`);
    return delta + this.itemEvent("response.custom_tool_call_input.done", `,"input":${text}`);
  }

  protected item(status: string): string {
    return this.callJson("custom_tool_call", { input: this.#input }, status);
  }
}

/** Arguments are sent as an object, or as text if they are not a JSON object. */
export class SearchCallItem extends CallItem {
  protected item(status: string): string {
    const [id, call_id] = [this.position.id, this.call.callId];
    const found = parseObject(this.arguments) ?? this.arguments;
    return JSON.stringify({ type: "tool_search_call", id, call_id, execution: "client", arguments: found, status });
  }
}

/** A picture as the image generation tool returns it. */
export class ImageItem extends OutputItem {
  readonly #data: string;
  readonly #format: string;

  constructor(place: ItemPosition, mediaType: string, data: string) {
    super(place);
    this.#data = data;
    this.#format = mediaType.replace(/^image\//, "");
  }

  override endBlock(): string {
    return this.itemEvent("response.image_generation_call.completed", "");
  }

  protected item(status: string): string {
    const head = { type: "image_generation_call", id: this.position.id };
    if (status === "in_progress") return JSON.stringify({ ...head, status, result: null });
    return JSON.stringify({ ...head, status: "completed", result: this.#data, output_format: this.#format });
  }
}

/** Collects all text as the summary; drops reasoning and calls. */
export class CompactionItem extends OutputItem {
  #summary = "";
  #isText = false;

  get summary(): string {
    return this.#summary.trim();
  }

  override startBlock(head: BlockHead): string {
    this.#isText = head.kind === "text";
    if (this.#isText && this.#summary !== "") this.#summary += "\n\n";
    return "";
  }

  /** Shows progress without content. */
  override delta(text: string): string {
    if (this.#isText) this.#summary += text;
    return this.itemEvent("response.compaction.compacting", "");
  }

  protected item(status: string): string {
    const encrypted_content = status === "in_progress" ? "" : sealSummary(this.summary);
    return JSON.stringify({ type: "compaction", id: this.position.id, encrypted_content });
  }
}

/** Reasoning as one summary part, with the seal as encrypted content. */
export class ReasoningItem extends OutputItem {
  readonly #note: SealNote;
  readonly #account: string;
  #summary = "";
  #sealed: string | null = null;

  constructor(place: ItemPosition, note: SealNote, account: string) {
    super(place);
    this.#note = note;
    this.#account = account;
  }

  seal(seal: Seal): void {
    this.#sealed = writeSealedContent(seal, this.#note);
  }

  override delta(text: string): string {
    const added =
      this.#summary === ""
        ? this.itemEvent("response.reasoning_summary_part.added", `,"summary_index":0,"part":${summaryJson("")}`)
        : "";
    this.#summary += text;
    return (
      added +
      this.itemEvent("response.reasoning_summary_text.delta", `,"summary_index":0,"delta":${JSON.stringify(text)}`)
    );
  }

  override endBlock(): string {
    if (this.#summary === "") return "";
    const text = JSON.stringify(this.#summary);
    return (
      this.itemEvent("response.reasoning_summary_text.done", `,"summary_index":0,"text":${text}`) +
      this.itemEvent("response.reasoning_summary_part.done", `,"summary_index":0,"part":${summaryJson(this.#summary)}`)
    );
  }

  protected item(status: string): string {
    const { id } = this.position;
    if (status === "in_progress") return JSON.stringify({ type: "reasoning", id, summary: [] });
    const summary = this.#summary === "" ? [] : [{ type: "summary_text", text: this.#summary }];
    const sealed = this.#sealed ?? writeSealedContent(emptySeal(this.#account), null);
    return JSON.stringify({ type: "reasoning", id, summary, encrypted_content: sealed });
  }
}

function summaryJson(text: string): string {
  return JSON.stringify({ type: "summary_text", text });
}

/** `redacted`: reasoning without text. `call`: seal of the tool call before it. */
type SealNote = "redacted" | "call" | null;

/** The note follows a dot, which base64url does not use. */
function writeSealedContent(seal: Seal, note: SealNote): string {
  if (seal.dialect === "openai-responses" && note === null) return seal.data;
  return note === null ? sealText(seal) : `${sealText(seal)}.${note}`;
}

export function readSealedContent(
  text: string,
  itemId: string | null,
): { readonly seal: Seal; readonly note: SealNote } {
  const point = text.startsWith(sealMark) ? text.indexOf(".", sealMark.length) : -1;
  const word = point === -1 ? "" : text.slice(point + 1);
  const note = word === "redacted" || word === "call" ? word : null;
  const seal = note === null ? null : readSealText(text.slice(0, point));
  return seal === null ? { seal: readSeal(text, "openai-responses", itemId), note: null } : { seal, note };
}
