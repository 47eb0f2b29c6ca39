import type { Answer, AnswerBlock, AnswerEvent, BlockHead } from "#core/index.ts";

/** The stream that would have ended in this answer. */
export function* answerEvents(answer: Answer): Generator<AnswerEvent> {
  yield { kind: "start", id: answer.id, model: answer.model };
  for (const block of answer.blocks) {
    yield { kind: "block-start", block: headOf(block) };
    const text = textOf(block);
    if (text !== "") yield { kind: "block-delta", text };
    if (block.kind === "text") for (const citation of block.citations ?? []) yield { kind: "block-citation", citation };
    if ((block.kind === "reasoning" || block.kind === "tool-call") && block.seal !== null) {
      yield { kind: "block-seal", seal: block.seal };
    }
    yield { kind: "block-end" };
  }
  if (answer.usage !== null) yield { kind: "usage", usage: answer.usage };
  yield { kind: "finish", finish: answer.finish };
  yield { kind: "end" };
}

function headOf(block: AnswerBlock): BlockHead {
  switch (block.kind) {
    case "text":
    case "refusal":
      return { kind: block.kind };
    case "reasoning":
      return { kind: "reasoning", redacted: block.redacted };
    case "tool-call":
      return { kind: "tool-call", id: block.id, name: block.name };
    case "image":
      return { kind: "image", source: block.source };
  }
}

function textOf(block: AnswerBlock): string {
  if (block.kind === "image") return "";
  return block.kind === "tool-call" ? block.argumentsText : block.text;
}
