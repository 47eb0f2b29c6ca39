import type { BlockHead, Citation } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { HeldCitations } from "../turn/citations.ts";
import { writeAnnotation } from "./annotations.ts";
import { BaseItem, type ItemPlace, type ItemStatus, type OutputItem } from "./output-item.ts";

/** Neighbouring texts and refusals are parts of one message. */
export class MessageItem extends BaseItem implements OutputItem {
  readonly #parts: string[] = [];
  #kind: "text" | "refusal" = "text";
  #text = "";
  readonly #warn: Warn;
  readonly #citations: HeldCitations;

  constructor(place: ItemPlace, warn: Warn) {
    super(place);
    this.#warn = warn;
    this.#citations = new HeldCitations(warn);
  }

  open(): string {
    return this.added({ type: "message", id: this.place.id, status: "in_progress", role: "assistant", content: [] });
  }

  override startBlock(head: BlockHead): string | null {
    if (head.kind !== "text" && head.kind !== "refusal") return null;
    this.#kind = head.kind;
    this.#text = "";
    return this.say("response.content_part.added", `,${this.#content()},"part":${partJson(this.#kind, "")}`);
  }

  delta(text: string): string {
    this.#text += text;
    const said = `,${this.#content()},"delta":${JSON.stringify(text)}`;
    if (this.#kind === "refusal") return this.say("response.refusal.delta", said);
    return this.say("response.output_text.delta", `${said},"logprobs":[]`);
  }

  override cite(citation: Citation): void {
    this.#citations.add(citation);
  }

  /** Where the words of an annotation end may be known only when all were said. */
  endBlock(): string {
    const text = JSON.stringify(this.#text);
    const annotations = this.#citations
      .take()
      .flatMap((citation) => writeAnnotation(citation, this.#text.length, this.#warn) ?? []);
    const added = annotations.map((annotation, index) =>
      this.say(
        "response.output_text.annotation.added",
        `,${this.#content()},"annotation_index":${index},"annotation":${annotation}`,
      ),
    );
    const part = partJson(this.#kind, this.#text, annotations);
    const done =
      this.#kind === "refusal"
        ? this.say("response.refusal.done", `,${this.#content()},"refusal":${text}`)
        : this.say("response.output_text.done", `,${this.#content()},"text":${text},"logprobs":[]`);
    const partDone = this.say("response.content_part.done", `,${this.#content()},"part":${part}`);
    this.#parts.push(part);
    return added.join("") + done + partDone;
  }

  close(status: ItemStatus): string {
    return this.done(
      `{"type":"message","id":"${this.place.id}","status":"${status}","role":"assistant","content":[${this.#parts.join(",")}]}`,
    );
  }

  #content(): string {
    return `"content_index":${this.#parts.length}`;
  }
}

function partJson(kind: "text" | "refusal", text: string, annotations: readonly string[] = []): string {
  if (kind === "refusal") return `{"type":"refusal","refusal":${JSON.stringify(text)}}`;
  return `{"type":"output_text","text":${JSON.stringify(text)},"annotations":[${annotations.join(",")}],"logprobs":[]}`;
}
