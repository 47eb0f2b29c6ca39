import {
  type Answer,
  type AnswerBlock,
  type AnswerEvent,
  type BlockHead,
  bounds,
  type Citation,
  type Failure,
  type Finish,
  type Seal,
} from "#core/index.ts";
import type { AnswerSource, EventReader } from "../codec.ts";
import { tooManyCitations } from "./citations.ts";

/** Turns a whole answer into events, for callers that want a stream. */
export function* answerEvents(answer: Answer): Generator<AnswerEvent> {
  yield { kind: "start", id: answer.id, model: answer.model };
  for (const block of answer.blocks) {
    yield { kind: "block-start", block: headOf(block) };
    const text = block.kind === "tool-call" ? block.argumentsText : block.kind === "image" ? "" : block.text;
    if (text !== "") yield { kind: "block-delta", text };
    if (block.kind === "text") for (const citation of block.citations ?? []) yield { kind: "block-citation", citation };
    const seal = block.kind === "tool-call" || block.kind === "reasoning" ? block.seal : null;
    if (seal !== null) yield { kind: "block-seal", seal };
    yield { kind: "block-end" };
  }
  if (answer.usage !== null) yield { kind: "usage", usage: answer.usage };
  yield { kind: "finish", finish: answer.finish };
  yield { kind: "end" };
}

function headOf(block: AnswerBlock): BlockHead {
  switch (block.kind) {
    case "tool-call":
      return { kind: "tool-call", id: block.id, name: block.name };
    case "reasoning":
      return { kind: "reasoning", redacted: block.redacted };
    case "image":
      return { kind: "image", source: block.source };
    default:
      return { kind: block.kind };
  }
}

/** Collects events into an answer without empty texts. Throws the failure of an error event. */
export function collectAnswer({ warn }: AnswerSource, read: (emit: (event: AnswerEvent) => void) => void): Answer {
  const blocks: AnswerBlock[] = [];
  let answer: Answer = { id: null, model: null, blocks, finish: { reason: "stop", stopSequence: null }, usage: null };
  let open: OpenBlock | null = null;
  read((event) => {
    if (event.kind === "block-start") open = { head: event.block, text: "", citations: [], seal: null };
    else if (event.kind === "block-delta" && open !== null) open.text += event.text;
    else if (event.kind === "block-citation" && open !== null) {
      if (open.citations.length < bounds.blockCitationsMax) open.citations.push(event.citation);
      else warn(tooManyCitations);
    } else if (event.kind === "block-seal" && open !== null) open.seal = event.seal;
    else if (event.kind === "block-end" && open !== null) blocks.push(...blockOf(open));
    else if (event.kind === "start") answer = { ...answer, id: event.id, model: event.model };
    else if (event.kind === "usage") answer = { ...answer, usage: event.usage };
    else if (event.kind === "finish") answer = { ...answer, finish: event.finish };
    else if (event.kind === "error") throw event.failure;
  });
  return answer;
}

interface OpenBlock {
  readonly head: BlockHead;
  text: string;
  readonly citations: Citation[];
  seal: Seal | null;
}

function blockOf({ head, text, citations, seal }: OpenBlock): AnswerBlock[] {
  if (head.kind === "tool-call") return [{ ...head, argumentsText: text, seal }];
  if (head.kind === "reasoning") return [{ ...head, text, seal }];
  if (head.kind === "image") return [head];
  if (text === "") return [];
  return head.kind === "text" && citations.length > 0 ? [{ ...head, text, citations }] : [{ ...head, text }];
}

/** Base of event readers: emits `start` once and first, and nothing after an error or the end. */
export abstract class AnswerReader implements EventReader {
  protected readonly emit: (event: AnswerEvent) => void;
  protected readonly source: AnswerSource;
  protected ended = false;
  protected started = false;

  constructor(emit: (event: AnswerEvent) => void, source: AnswerSource) {
    this.emit = emit;
    this.source = source;
  }

  abstract read(data: string): void;
  abstract end(): void;

  /** Returns false if it was emitted before. */
  protected emitStart(id: string | null = null, model: string | null = null): boolean {
    if (this.started) return false;
    this.started = true;
    this.emit({ kind: "start", id, model });
    return true;
  }

  protected fail(failure: Failure): void {
    this.ended = true;
    this.emit({ kind: "error", failure });
  }

  /** `finish`: null if it was emitted before. */
  protected finish(finish: Finish | null): void {
    this.ended = true;
    if (finish !== null) this.emit({ kind: "finish", finish });
    this.emit({ kind: "end" });
  }
}
