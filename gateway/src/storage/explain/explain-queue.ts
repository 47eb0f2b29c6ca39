import type { Explanation } from "@sluice/contract/console";
import { maskSecrets, messageOf, within } from "#core/index.ts";
import type {
  CapturedBody,
  CapturedRequest,
  Clock,
  ContentSink,
  ExplainedRequest,
  Explainer,
  Observer,
} from "#ports/index.ts";
import { OrderThread } from "#system/index.ts";
import type { Database } from "../database/database.ts";
import { type DatabasePlace, threadPlace } from "../database/database-place.ts";
import type { NewRow } from "../database/schema.ts";
import { captureRow, type SecretLooks, secretsIn } from "./explain-redaction.ts";
import { anythingTooOld, type ExplainAges, type ExplainBatch } from "./explain-rows.ts";

/** Characters of one sentence; and how many explanations of a mere choice are kept in one second, with how many characters. */
export const explainTextMax = 600;
export const explainChoicesPerSecond = 200;
export const explainChoiceCharactersPerSecond = 60_000;
/** Explanations and captures wait this long to be written together, longer after this many choices in a second. */
export const explainFlushMs = 100;
const explainFlushBusyMs = 500;
const explainBusyChoices = 20;
/** Explanations and captures wait this long to be written together, longer after this many choices in a second. */
export const explainBatchRowsMax = 128;
const explainBatchBytesMax = 1024 * 1024;
/** What does not fit into the queue is dropped. */
export const explainQueueRowsMax = 10_000;
export const explainQueueBytesMax = 16 * 1024 * 1024;

/** The wait before a writing thread that died is started again. */
const explainRestartMs = 5_000;

export interface ExplainerOptions extends SecretLooks {
  readonly database: Database;
  /** Of the same database; it is written by a connection of its own. */
  readonly place: DatabasePlace;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
  readonly captureRetentionMs: () => number;
  /** Default: a thread, which is started when there is something to write. */
  readonly writer?: ExplainWriter;
  /** Is told of captured bodies too; null: nobody asked for them. */
  readonly content?: ContentSink | null;
}

interface Waiting {
  readonly explanation?: NewRow<"request_explanations">;
  readonly capture?: NewRow<"request_captures">;
  readonly size: number;
}

/** What is kept of requests waits here, within bounds, until it is written beside the event loop. */
export class ExplainQueue implements Explainer {
  /** What was not kept: no room, too many in a second, or a database that refused it. */
  readonly dropped = { explanations: 0, captures: 0 };
  readonly #options: ExplainerOptions;
  readonly #writer: ExplainWriter;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #unbook: (() => void) | null = null;
  /** The writer is given one order at a time, in this row. */
  #turn: Promise<unknown> = Promise.resolve();
  #second = 0;
  #choices = 0;
  #choiceCharacters = 0;
  #problem: string | null = null;
  #closed = false;

  constructor(options: ExplainerOptions) {
    this.#options = options;
    this.#writer = options.writer ?? new ExplainThread(options.place, options.clock);
  }

  explain({ requestId, workspaceId, isImportant, explanation }: ExplainedRequest): void {
    if (!this.#room(isImportant) || !(isImportant || this.#choiceInTime())) {
      this.dropped.explanations++;
      return;
    }
    try {
      const text = JSON.stringify(masked(explanation()));
      const at = this.#options.clock.now();
      if (!isImportant) this.#choiceCharacters += text.length;
      const explained = { request_id: requestId, workspace_id: workspaceId, at, explanation: text };
      this.#push({ explanation: explained, size: text.length });
    } catch (error) {
      this.dropped.explanations++;
      this.#options.observer.log("error", "A request could not be explained.", { requestId, error });
    }
  }

  capture(captured: CapturedRequest): void {
    const { requestId } = captured;
    const content = this.#options.content ?? null;
    if (!this.#room(true)) {
      this.dropped.captures++;
      content?.captured(requestId, null);
      return;
    }
    try {
      const at = this.#options.clock.now();
      const secrets = secretsIn(captured, this.#options);
      const times = { at, expiresAt: at + this.#options.captureRetentionMs() };
      const row = captureRow(captured, this.#options, times, secrets);
      this.#push({ capture: row, size: sizeOf(row) });
      content?.captured(requestId, {
        endpoint: captured.endpoint,
        request: cleaned(captured.requestBody, row.request_body),
        response: cleaned(captured.responseBody, row.response_body),
        secrets,
      });
    } catch (error) {
      this.dropped.captures++;
      content?.captured(requestId, null);
      this.#options.observer.log("error", "A request could not be captured.", { requestId, error });
    }
  }

  willCapture(requestId: string): void {
    this.#options.content?.willCapture(requestId);
  }

  /** Removes what is too old; resolves to how many rows went. */
  async prune(ages: ExplainAges): Promise<number> {
    if (!(await anythingTooOld(this.#options.database, ages))) return 0;
    return await this.#inTurn(() => this.#writer.prune(ages));
  }

  /** Resolves when everything told so far is written or dropped. */
  async written(): Promise<void> {
    while (this.#waiting.length > 0) await this.#flush();
    await this.#turn;
  }

  /** Writes what is left, within `timeoutMs`. */
  async close(timeoutMs: number): Promise<void> {
    this.#closed = true;
    this.#unbook?.();
    await within(this.#options.clock, timeoutMs, this.written(), () => undefined);
    await this.#writer.end(timeoutMs);
  }

  /** The last half of the queue is for what matters. */
  #room(isImportant: boolean): boolean {
    if (this.#closed) return false;
    const share = isImportant ? 1 : 0.5;
    return this.#waiting.length < explainQueueRowsMax * share && this.#waitingBytes < explainQueueBytesMax * share;
  }

  /** In number and in size: one of many deployments is long, and costs as much as several short ones. */
  #choiceInTime(): boolean {
    const second = Math.floor(this.#options.clock.monotonic() / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#choices = 0;
      this.#choiceCharacters = 0;
    }
    this.#choices++;
    return this.#choices <= explainChoicesPerSecond && this.#choiceCharacters < explainChoiceCharactersPerSecond;
  }

  #push(waiting: Waiting): void {
    this.#waiting.push(waiting);
    this.#waitingBytes += waiting.size;
    if (this.#unbook !== null) return;
    const waitMs = this.#choices > explainBusyChoices ? explainFlushBusyMs : explainFlushMs;
    this.#unbook = this.#options.clock.after(waitMs, () => void this.written());
  }

  /** Never rejects. */
  #flush(): Promise<void> {
    return this.#inTurn(async () => {
      this.#unbook?.();
      this.#unbook = null;
      const batch = this.#take();
      if (batch.explanations.length + batch.captures.length === 0) return;
      try {
        await this.#writer.keep(batch);
        this.#told(null);
      } catch (thrown) {
        this.dropped.explanations += batch.explanations.length;
        this.dropped.captures += batch.captures.length;
        this.#told(messageOf(thrown));
      }
    });
  }

  #take(): ExplainBatch {
    let rows = 0;
    let bytes = 0;
    while (rows < this.#waiting.length && rows < explainBatchRowsMax && bytes < explainBatchBytesMax) {
      bytes += this.#waiting[rows]?.size ?? 0;
      rows++;
    }
    const taken = this.#waiting.splice(0, rows);
    this.#waitingBytes -= bytes;
    return {
      explanations: taken.flatMap(({ explanation: row }) => row ?? []),
      captures: taken.flatMap(({ capture }) => capture ?? []),
    };
  }

  #inTurn<Result>(act: () => Promise<Result>): Promise<Result> {
    const done = this.#turn.then(act);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  #told(problem: string | null): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    const { observer } = this.#options;
    if (problem === null) observer.log("info", "Explanations and captures are written again.");
    else observer.log("warn", "Explanations and captures cannot be written, and are dropped.", { problem });
  }
}

/** Sentences may quote what an upstream said. */
function masked(explanation: Explanation): Explanation {
  const short = (text: string): string => maskSecrets(text).slice(0, explainTextMax);
  const { refusal, failures, ...coded } = explanation;
  return {
    ...coded,
    refusal: refusal === null ? null : { ...refusal, message: short(refusal.message) },
    failures: failures.map((failure) => ({ ...failure, message: short(failure.message) })),
  };
}

function cleaned(body: CapturedBody | null, text: string | null | undefined): CapturedBody | null {
  return body === null || text == null ? null : { ...body, text };
}

function sizeOf(row: NewRow<"request_captures">): number {
  const { request_headers, response_headers, request_body, response_body } = row;
  return request_headers.length + response_headers.length + (request_body?.length ?? 0) + (response_body?.length ?? 0);
}

/** Writes batches and removes old rows beside the event loop. One order at a time; each resolves when it is done, or rejects. */
export interface ExplainWriter {
  keep(batch: ExplainBatch): Promise<number>;
  prune(ages: ExplainAges): Promise<number>;
  end(timeoutMs: number): Promise<void>;
}

/**
 * A thread with a database connection of its own, started with the first order: most gateways never have one. When it dies
 * its order is rejected, and one that comes soon after as well; then it is started again.
 */
class ExplainThread implements ExplainWriter {
  readonly #clock: Clock;
  readonly #thread: OrderThread<ExplainOrder, number>;
  #restMs = 0;

  constructor(place: DatabasePlace, clock: Clock) {
    this.#clock = clock;
    this.#thread = new OrderThread({
      entry: new URL("./explain-worker.ts", import.meta.url),
      name: "explanations",
      data: threadPlace(place),
      onDeath: () => {
        this.#restMs = clock.monotonic() + explainRestartMs;
      },
    });
  }

  keep(batch: ExplainBatch): Promise<number> {
    return this.#done({ type: "keep", batch });
  }

  prune(ages: ExplainAges): Promise<number> {
    return this.#done({ type: "prune", ages });
  }

  async end(timeoutMs: number): Promise<void> {
    await within(this.#clock, timeoutMs, this.#thread.end(), () => undefined);
  }

  async #done(order: ExplainOrder): Promise<number> {
    if (this.#clock.monotonic() < this.#restMs) throw new Error("the thread that writes them has stopped");
    const answer = await this.#thread.run(order);
    if ("reply" in answer) return answer.reply;
    throw new Error(answer.failed);
  }
}

/** To the thread that writes; its reply is the number of rows. */
export type ExplainOrder =
  | { readonly type: "keep"; readonly batch: ExplainBatch }
  | { readonly type: "prune"; readonly ages: ExplainAges };
