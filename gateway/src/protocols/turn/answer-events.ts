import type { Answer, AnswerBlock, AnswerEvent, BlockHead } from "#core/index.ts";

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
