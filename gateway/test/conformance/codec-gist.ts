import type { Answer, AnswerBlock, AnswerEvent, FinishReason, Turn, TurnPart, Usage } from "#core/index.ts";

/**
 * The parts of a conversation that must survive a translation, in order: texts with their speakers, calls, results and
 * pictures.
 */
export function turnGist(turn: Turn): readonly string[] {
  const items: string[] = [];
  const calls = new Map<string, number>();
  let callCount = 0;
  let speaker = "";
  let run = "";
  const flush = (): void => {
    if (run !== "") items.push(`${speaker}: ${run}`);
    run = "";
  };
  const addText = (role: string, text: string): void => {
    if (role !== speaker) flush();
    speaker = role;
    run += withoutSpaces(text);
  };
  for (const part of turn.system) addText("system", part.text);
  for (const message of turn.messages) {
    for (const part of message.parts) {
      if (part.kind === "text") {
        addText(message.role, part.text);
        continue;
      }
      if (part.kind === "reasoning") continue;
      flush();
      if (part.kind === "tool-call") calls.set(part.id, callCount++);
      items.push(partGist(part, calls));
    }
  }
  flush();
  return items;
}

function partGist(part: TurnPart, calls: ReadonlyMap<string, number>): string {
  switch (part.kind) {
    case "tool-call":
      return `call ${calls.get(part.id)}: ${part.name} ${sameJson(part.argumentsText)}`;
    case "tool-result": {
      const content = part.parts
        .map((inner) => (inner.kind === "text" ? withoutSpaces(inner.text) : inner.kind))
        .join("");
      return `result of ${calls.get(part.callId) ?? "nothing"}: ${content}`;
    }
    case "text":
    case "refusal":
    case "reasoning":
      return `${part.kind}: ${withoutSpaces(part.text)}`;
    default:
      return `${part.kind}: ${part.source.kind === "base64" ? part.source.data : part.source.kind}`;
  }
}

/** Dialects join adjacent texts with different white space, or none. */
function withoutSpaces(text: string): string {
  return text.replace(/\s+/g, "");
}

/** Arguments as a value, because some dialects carry them as an object. */
function sameJson(text: string): string {
  return JSON.stringify(JSON.parse(text === "" ? "{}" : text));
}

/** The parts of an answer that must be the same in every dialect. */
export interface AnswerGist {
  readonly text: string;
  readonly refusal: string;
  readonly calls: readonly string[];
  readonly finish: FinishReason;
  readonly input: number;
  readonly cacheRead: number;
  readonly output: number;
}

export function answerGist(answer: Answer): AnswerGist {
  const { usage } = answer;
  return {
    text: textsOf(answer.blocks, "text"),
    refusal: textsOf(answer.blocks, "refusal"),
    calls: answer.blocks.flatMap((block) =>
      block.kind === "tool-call" ? [`${block.name} ${sameJson(block.argumentsText)}`] : [],
    ),
    finish: answer.finish.reason,
    input: usage === null ? -1 : inputOf(usage),
    cacheRead: usage?.cacheRead ?? -1,
    output: usage === null ? -1 : usage.output + usage.audioOutput + usage.imageOutput,
  };
}

export type TextGist = Omit<AnswerGist, "refusal">;

/** Treats a refusal as text and as a filtered answer, because not every dialect has a field for refusals. */
export function textGist(answer: Answer): TextGist {
  const { refusal, ...gist } = answerGist(answer);
  const finish = gist.finish === "refusal" ? "content-filter" : gist.finish;
  return { ...gist, finish, text: gist.text + refusal };
}

/** The thoughts in an answer. */
export function thoughtsOf(answer: Answer): string {
  return textsOf(answer.blocks, "reasoning");
}

function textsOf(blocks: readonly AnswerBlock[], kind: "text" | "refusal" | "reasoning"): string {
  return blocks.map((block) => (block.kind === kind ? block.text : "")).join("");
}

function inputOf(usage: Usage): number {
  const cached = usage.cacheRead + usage.cacheWrite5m + usage.cacheWrite1h;
  return usage.inputUncached + cached + usage.audioInput + usage.imageInput;
}

/** Joins the events of a stream into an answer. Throws on any order that core/answer.ts does not allow. */
export function answerOf(events: readonly AnswerEvent[]): Answer {
  const [first, ...rest] = events;
  if (first?.kind !== "start") throw new Error("the first event is not the start");
  const blocks: AnswerBlock[] = [];
  let open = false;
  let usage: Usage | null = null;
  let finish: Answer["finish"] | null = null;
  let ended = false;
  for (const event of rest) {
    if (ended) throw new Error(`${event.kind} after the end`);
    if (event.kind === "usage") usage = event.usage;
    else if (event.kind === "error") throw event.failure;
    else if (event.kind === "end") ended = true;
    else if (event.kind === "finish") {
      if (open || finish !== null) throw new Error("a finish inside a block, or a second one");
      finish = event.finish;
    } else if (event.kind === "start") throw new Error("a second start");
    else open = addToBlocks(blocks, event, open, finish !== null);
  }
  if (!ended || finish === null || open) throw new Error("the stream is not complete");
  return { id: first.id, model: first.model, blocks, finish, usage };
}

type BlockEvent = Extract<AnswerEvent, { kind: `block-${string}` }>;

/** Returns whether a block is open now. */
function addToBlocks(blocks: AnswerBlock[], event: BlockEvent, open: boolean, finished: boolean): boolean {
  if (finished) throw new Error(`${event.kind} after the finish`);
  if ((event.kind === "block-start") === open)
    throw new Error(`${event.kind} while a block is ${open ? "open" : "closed"}`);
  if (event.kind === "block-start") {
    const { block } = event;
    if (block.kind === "tool-call") blocks.push({ ...block, argumentsText: "", seal: null });
    else if (block.kind === "reasoning") blocks.push({ ...block, text: "", seal: null });
    else if (block.kind === "image") blocks.push(block);
    else blocks.push({ ...block, text: "" });
    return true;
  }
  const last = blocks.at(-1);
  if (last === undefined || event.kind === "block-end") return false;
  if (event.kind === "block-seal") {
    if (last.kind !== "tool-call" && last.kind !== "reasoning")
      throw new Error("a seal on a block that cannot be sealed");
    blocks[blocks.length - 1] = { ...last, seal: event.seal };
    return true;
  }
  if (event.kind === "block-citation") {
    if (last.kind !== "text") throw new Error("a citation outside a text");
    blocks[blocks.length - 1] = { ...last, citations: [...(last.citations ?? []), event.citation] };
    return true;
  }
  if (event.text === "") throw new Error("an empty delta");
  if (last.kind === "image") throw new Error("a delta of a picture");
  blocks[blocks.length - 1] =
    last.kind === "tool-call"
      ? { ...last, argumentsText: last.argumentsText + event.text }
      : { ...last, text: last.text + event.text };
  return true;
}
