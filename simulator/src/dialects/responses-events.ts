import { type Answer, type AnswerPart, wholeText } from "../answer.ts";
import type { ReplyHead } from "../dialect.ts";
import type { DialectEvent } from "../framing.ts";
import { type JsonObject, stringOf } from "../json-body.ts";
import { finalStatus, type PlannedItem, responseObject, textContent } from "./responses-object.ts";
import type { ResponsesRequest } from "./responses-request.ts";

/** Numbers the events of a stream, including an error. */
export class Sequence {
  #next = 0;

  /** An event, serialized as JSON. */
  event(type: string, fields: JsonObject, tokens = 0): DialectEvent {
    return { event: type, data: JSON.stringify({ type, sequence_number: this.#increment(), ...fields }), tokens };
  }

  /** An event that replaces the last one, which was generated but not sent. */
  replaceLast(type: string, fields: JsonObject): DialectEvent {
    this.#next = Math.max(0, this.#next - 1);
    return this.event(type, fields);
  }

  /** The event of one piece, concatenated as text because there are many. `fields` starts with a comma. */
  delta(type: string, fields: string, piece: string, tokens: number): DialectEvent {
    const data = `{"type":"${type}","sequence_number":${this.#increment()}${fields},"delta":${JSON.stringify(piece)}}`;
    return { event: type, data, tokens, role: "content" };
  }

  #increment(): number {
    this.#next += 1;
    return this.#next - 1;
  }
}

export interface ResponsesContext {
  readonly request: ResponsesRequest;
  readonly head: ReplyHead;
  readonly answer: Answer;
  readonly id: string;
  readonly items: readonly PlannedItem[];
  readonly final: JsonObject;
}

/** created, in_progress, every item from its start to its end, and the final response. */
export function* responsesEvents(context: ResponsesContext, sequence: Sequence): Iterable<DialectEvent> {
  const { request, head, answer, id, items } = context;
  const unfinished = (status: "queued" | "in_progress"): JsonObject => ({
    response: responseObject(request, head, { id, status, output: [], usage: null, answer }),
  });
  const first = request.background ? "queued" : "in_progress";
  yield sequence.event("response.created", unfinished(first));
  if (request.background) yield sequence.event("response.queued", unfinished(first));
  yield sequence.event("response.in_progress", unfinished("in_progress"));
  for (const [index, planned] of items.entries()) {
    yield sequence.event("response.output_item.added", { output_index: index, item: planned.opening });
    if (planned.part !== null) yield* itemEvents(context, sequence, planned, planned.part, index);
    const tokens = planned.part === null ? 1 : 0;
    yield sequence.event("response.output_item.done", { output_index: index, item: planned.item }, tokens);
  }
  const status = finalStatus(answer);
  const last = sequence.event(`response.${status}`, { response: context.final });
  yield { ...last, role: status === "failed" ? "terminal" : "last" };
}

function itemEvents(
  context: ResponsesContext,
  sequence: Sequence,
  planned: PlannedItem,
  part: AnswerPart,
  index: number,
): Iterable<DialectEvent> {
  const position = { item_id: stringOf(planned.item["id"]), output_index: index };
  if (part.kind === "thinking") return context.request.summaryShown ? summaryEvents(sequence, part, position) : [];
  if (part.kind === "text") return textEvents(sequence, part, position, context.answer.finish === "refusal");
  return callEvents(sequence, part, position);
}

interface ItemPosition extends JsonObject {
  readonly item_id: string;
  readonly output_index: number;
}

function* textEvents(
  sequence: Sequence,
  part: AnswerPart,
  position: ItemPosition,
  isRefusal: boolean,
): Iterable<DialectEvent> {
  const at = { ...position, content_index: 0 };
  const text = wholeText(part);
  const name = isRefusal ? "refusal" : "output_text";
  const content = (value: string): JsonObject => (isRefusal ? { type: "refusal", refusal: value } : textContent(value));
  yield sequence.event("response.content_part.added", { ...at, part: content("") });
  const fields = fieldsOf(isRefusal ? at : { ...at, logprobs: [] });
  for (let index = 0; index < part.count; index += 1) {
    yield sequence.delta(`response.${name}.delta`, fields, part.piece(index), 1);
  }
  yield sequence.event(`response.${name}.done`, isRefusal ? { ...at, refusal: text } : { ...at, text, logprobs: [] });
  yield sequence.event("response.content_part.done", { ...at, part: content(text) });
}

function* callEvents(sequence: Sequence, part: AnswerPart, position: ItemPosition): Iterable<DialectEvent> {
  const custom = part.tool?.kind === "custom";
  const type = custom ? "response.custom_tool_call_input" : "response.function_call_arguments";
  const fields = fieldsOf(position);
  for (let index = 0; index < part.count; index += 1) {
    yield sequence.delta(`${type}.delta`, fields, part.piece(index), 1);
  }
  const text = wholeText(part);
  const done = custom ? { input: text } : { arguments: text, name: stringOf(part.tool?.name) };
  yield sequence.event(`${type}.done`, { ...position, ...done });
}

/** The summary shows reasoning tokens, which are counted separately. */
function* summaryEvents(sequence: Sequence, part: AnswerPart, position: ItemPosition): Iterable<DialectEvent> {
  const at = { ...position, summary_index: 0 };
  const summary = (text: string): JsonObject => ({ type: "summary_text", text });
  yield sequence.event("response.reasoning_summary_part.added", { ...at, part: summary("") });
  const fields = fieldsOf(at);
  for (let index = 0; index < part.count; index += 1) {
    yield sequence.delta("response.reasoning_summary_text.delta", fields, part.piece(index), 0);
  }
  const text = wholeText(part);
  yield sequence.event("response.reasoning_summary_text.done", { ...at, text });
  yield sequence.event("response.reasoning_summary_part.done", { ...at, part: summary(text) });
}

function fieldsOf(at: JsonObject): string {
  return `,${JSON.stringify(at).slice(1, -1)}`;
}
