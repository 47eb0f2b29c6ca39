import {
  type Answer,
  type AnswerBlock,
  type AnswerEvent,
  type BlockHead,
  bounds,
  type Citation,
  type Seal,
} from "#core/index.ts";

/** The stream that would have ended in this answer: where a stream is wanted and there was none. */
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

/** The answer that a stream's events make: a whole answer is read as a stream of one event. Throws what an error event says. */
export function gatherAnswer(read: (emit: (event: AnswerEvent) => void) => void): Answer {
  let answer: Answer = {
    id: null,
    model: null,
    blocks: [],
    finish: { reason: "error", stopSequence: null },
    usage: null,
  };
  const blocks: AnswerBlock[] = [];
  let head: BlockHead | null = null;
  let text = "";
  let citations: Citation[] = [];
  let seal: Seal | null = null;
  read((event) => {
    switch (event.kind) {
      case "start":
        answer = { ...answer, id: event.id, model: event.model };
        return;
      case "block-start":
        head = event.block;
        text = "";
        citations = [];
        seal = null;
        return;
      case "block-delta":
        text += event.text;
        return;
      case "block-citation":
        if (citations.length < bounds.blockCitationsMax) citations.push(event.citation);
        return;
      case "block-seal":
        seal = event.seal;
        return;
      case "block-end":
        if (head !== null) blocks.push(blockOf(head, text, citations, seal));
        return;
      case "usage":
        answer = { ...answer, usage: event.usage };
        return;
      case "finish":
        answer = { ...answer, finish: event.finish };
        return;
      case "error":
        throw event.failure;
      case "end":
    }
  });
  return { ...answer, blocks };
}

function blockOf(head: BlockHead, text: string, citations: readonly Citation[], seal: Seal | null): AnswerBlock {
  switch (head.kind) {
    case "tool-call":
      return { ...head, argumentsText: text, seal };
    case "reasoning":
      return { ...head, text, seal };
    case "image":
      return head;
    case "refusal":
      return { kind: "refusal", text };
    case "text":
      return { kind: "text", text, ...(citations.length === 0 ? {} : { citations }) };
  }
}
