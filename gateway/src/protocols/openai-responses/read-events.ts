import { type AnswerEvent, bounds, type Failure } from "#core/index.ts";
import type { AnswerSource, EventReader } from "../codec.ts";
import { notCarried, upstreamBroke } from "../errors/upstream-errors.ts";
import { arrayOf, type JsonObject, objectOf, parseObject, textOf } from "../json/value.ts";
import { warnOfStranger, warnOfUnread } from "../turn/warnings.ts";
import { upstreamFailure } from "./error.ts";
import { type OutputReader, outputReader } from "./output-readers.ts";
import { finishOf, ofResponse } from "./read-answer.ts";
import { readResponsesUsage } from "./usage.ts";

/** One output item on its way: its events wait here while an item before it is unfinished. */
interface Lane {
  readonly item: JsonObject;
  readonly held: AnswerEvent[];
  /** null for a moment: a reader may speak as soon as it is made, and its lane must stand by then. */
  reader: OutputReader | null;
  done: boolean;
}

/** Reads response events. Items that are made side by side are put one behind the other. */
export class ResponsesEventReader implements EventReader {
  readonly #emit: (event: AnswerEvent) => void;
  readonly #source: AnswerSource;
  readonly #lanes = new Map<number, Lane>();
  /** Unfinished items and finished ones behind them, in the order in which they began. */
  readonly #order: Lane[] = [];
  readonly #seen = new Set<number>();
  readonly #met = { calls: false, refusal: false };
  #heldLength = 0;
  #started = false;
  #finished = false;
  #over = false;

  constructor(emit: (event: AnswerEvent) => void, source: AnswerSource) {
    this.#emit = emit;
    this.#source = source;
  }

  read(data: string): void {
    if (this.#over || this.#finished || data.trim() === "[DONE]") return;
    const event = parseObject(data);
    if (event === null) throw upstreamBroke("The upstream sent an event that is not JSON.");
    const type = textOf(event["type"]) ?? (event["error"] === undefined ? "" : "error");
    switch (type) {
      case "keepalive":
        return;
      case "response.created":
      case "response.queued":
      case "response.in_progress":
        this.#start(objectOf(event["response"]));
        return;
      case "response.output_item.added":
        this.#added(indexOf(event), objectOf(event["item"]));
        return;
      case "response.output_item.done":
        this.#done(indexOf(event), objectOf(event["item"]));
        return;
      case "response.completed":
      case "response.incomplete":
        this.#finish(objectOf(event["response"]), type === "response.incomplete");
        return;
      case "response.failed":
        this.#fail(upstreamFailure(objectOf(objectOf(event["response"])["error"])));
        return;
      case "error":
        this.#fail(upstreamFailure(event));
        return;
      default: {
        const lane = this.#lane(indexOf(event), type);
        lane?.reader?.read(type, event);
        // Of an item without a neutral form everybody was told when it began.
        if (lane === undefined && !this.#seen.has(indexOf(event))) warnOfStranger("events", type, this.#source.warn);
      }
    }
  }

  end(): void {
    if (this.#over) return;
    if (!this.#finished) throw upstreamBroke("The upstream's stream ended before it was complete.");
    this.#over = true;
    this.#emit({ kind: "end" });
  }

  #start(response: JsonObject): void {
    if (this.#started) return;
    this.#started = true;
    this.#emit({ kind: "start", id: textOf(response["id"]), model: textOf(response["model"]) });
  }

  #added(index: number, item: JsonObject): void {
    this.#start({});
    if (this.#seen.has(index)) return;
    this.#seen.add(index);
    const lane: Lane = { item, held: [], reader: null, done: false };
    this.#order.push(lane);
    lane.reader = outputReader(item, (event) => this.#pass(lane, event), this.#source);
    if (lane.reader === null) this.#order.pop();
    else this.#lanes.set(index, lane);
  }

  #done(index: number, item: JsonObject): void {
    if (!this.#seen.has(index)) this.#added(index, item);
    const lane = this.#lanes.get(index);
    if (lane === undefined || lane.done) return;
    lane.reader?.done(item);
    lane.done = true;
    this.#advance();
  }

  /** The item an event belongs to. Some upstreams begin a message with its text. */
  #lane(index: number, type: string): Lane | undefined {
    if (index === -1) return undefined;
    if (!this.#seen.has(index) && (type === "response.output_text.delta" || type === "response.refusal.delta")) {
      this.#added(index, { type: "message" });
    }
    const lane = this.#lanes.get(index);
    return lane?.done === true ? undefined : lane;
  }

  #pass(lane: Lane, event: AnswerEvent): void {
    if (event.kind === "block-start" && event.block.kind === "tool-call") this.#met.calls = true;
    if (event.kind === "block-start" && event.block.kind === "refusal") this.#met.refusal = true;
    if (lane === this.#order[0]) {
      this.#emit(event);
      return;
    }
    lane.held.push(event);
    this.#heldLength += event.kind === "block-delta" ? event.text.length : 1;
    if (this.#heldLength > bounds.replyBytesMax) throw notCarried("The upstream's interleaved items are too large.");
  }

  /** The first unfinished item speaks; what it said while it waited comes first. */
  #advance(): void {
    while (this.#order[0]?.done === true) {
      this.#order.shift();
      const next = this.#order[0];
      if (next === undefined) return;
      for (const event of next.held.splice(0)) this.#emit(event);
    }
  }

  #finish(response: JsonObject, incomplete: boolean): void {
    this.#start(response);
    warnOfUnread(response, ofResponse, "the answer", this.#source.warn);
    const output = arrayOf(response["output"]).map(objectOf);
    // Some upstreams say the whole at the end only, or forget to finish an item.
    if (this.#seen.size === 0) {
      output.forEach((item, index) => {
        this.#done(index, item);
      });
    }
    for (const [index, lane] of this.#lanes) {
      const { id } = lane.item;
      this.#done(index, output.find((item) => id !== undefined && item["id"] === id) ?? lane.item);
    }
    const usage = readResponsesUsage(response["usage"]);
    if (usage !== null) this.#emit({ kind: "usage", usage: usage.usage });
    this.#emit({
      kind: "finish",
      finish: { reason: finishOf(incomplete ? response : null, this.#met), stopSequence: null },
    });
    this.#finished = true;
  }

  #fail(failure: Failure): void {
    this.#over = true;
    this.#emit({ kind: "error", failure });
  }
}

function indexOf(event: JsonObject): number {
  const index = event["output_index"];
  return typeof index === "number" ? index : -1;
}
