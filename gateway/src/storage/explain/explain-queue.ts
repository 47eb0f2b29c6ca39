import type { Explanation } from "@sluice/contract/console";
import { BoundedMap, bounds, maskSecrets, messageOf, within } from "#core/index.ts";
import type {
  CapturedBody,
  CapturedRequest,
  Clock,
  ContentSink,
  ExplainedRequest,
  Explainer,
  FoldedRequest,
  Observer,
} from "#ports/index.ts";
import { OrderThread } from "#system/index.ts";
import type { Database } from "../database/database.ts";
import { type DatabasePlace, threadPlace } from "../database/database-place.ts";
import type { NewRow } from "../database/schema.ts";
import { encodeRefusal } from "../journal/journal-record.ts";
import { captureRow, type HeaderRules, secretsIn } from "./explain-redaction.ts";
import { type ExplainAges, type ExplainBatch, hasExpiredRows } from "./explain-rows.ts";
import { SharedRoom } from "./shared-room.ts";

/** Maximum characters of a sentence. */
export const explainTextMax = 600;
/** Of all workspaces; see SharedRoom. */
export const explainChoicesPerSecond = 400;
export const explainChoiceCharactersPerSecond = 120_000;
/** Delay before a batch is written; longer after explainBusyChoices in a second. */
export const explainFlushMs = 100;
const explainFlushBusyMs = 500;
const explainBusyChoices = 20;
/** Limits of one batch. */
export const explainBatchRowsMax = 128;
const explainBatchBytesMax = 1024 * 1024;
/** Of all workspaces; see SharedRoom. More is dropped. */
export const explainQueueRowsMax = 10_000;
export const explainQueueBytesMax = 16 * 1024 * 1024;

/** Folded requests that are stored for a workspace in a minute; more are dropped. */
export const foldedPerMinute = 600;
const foldedWorkspacesMax = 10_000;

/** Delay before a writing thread that died is restarted. */
const explainRestartMs = 5_000;

export interface ExplainerOptions extends HeaderRules {
  readonly database: Database;
  /** The same database, for the writer's own connection. */
  readonly place: DatabasePlace;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
  readonly captureRetentionMs: () => number;
  /** Default: a thread, which starts on demand. */
  readonly writer?: ExplainWriter;
  /** Receives captured bodies too. */
  readonly content?: ContentSink | null;
}

interface Waiting {
  readonly workspaceId: string;
  readonly explanation?: NewRow<"request_explanations">;
  readonly capture?: NewRow<"request_captures">;
  readonly folded?: NewRow<"folded_requests">;
  readonly size: number;
}

/** Queues explanations, folded requests and captures, within bounds that workspaces share, to be written in a thread. */
export class ExplainQueue implements Explainer {
  /** No room, too many in a second or minute, or a failed write. */
  readonly dropped = { explanations: 0, captures: 0, folded: 0 };
  readonly #options: ExplainerOptions;
  readonly #writer: ExplainWriter;
  #waiting: Waiting[] = [];
  readonly #rows = new SharedRoom(explainQueueRowsMax);
  readonly #bytes = new SharedRoom(explainQueueBytesMax);
  #cancelFlush: (() => void) | null = null;
  /** The latest order; the writer does one at a time. */
  #turn: Promise<unknown> = Promise.resolve();
  #second = 0;
  /** Unimportant explanations of this second, in number and size. */
  readonly #choices = new SharedRoom(explainChoicesPerSecond);
  readonly #choiceCharacters = new SharedRoom(explainChoiceCharactersPerSecond);
  readonly #foldedCounts: BoundedMap<string, { count: number }>;
  #problem: string | null = null;
  #closed = false;

  constructor(options: ExplainerOptions) {
    this.#options = options;
    this.#writer = options.writer ?? new ExplainThread(options.place, options.clock);
    this.#foldedCounts = new BoundedMap(foldedWorkspacesMax, { life: { clock: options.clock, ms: 60_000 } });
  }

  explain({ requestId, workspaceId, isImportant, explanation }: ExplainedRequest): void {
    if (!this.#hasRoom(workspaceId, isImportant) || !(isImportant || this.#isWithinRate(workspaceId))) {
      this.dropped.explanations++;
      return;
    }
    try {
      const text = JSON.stringify(maskMessages(explanation()));
      const at = this.#options.clock.now();
      if (!isImportant) this.#choiceCharacters.take(workspaceId, text.length);
      const explained = { request_id: requestId, workspace_id: workspaceId, at, explanation: text };
      this.#push({ workspaceId, explanation: explained, size: text.length });
    } catch (error) {
      this.dropped.explanations++;
      this.#options.observer.log("error", "failed to store an explanation", { requestId, error });
    }
  }

  fold({ entry, countedIn }: FoldedRequest): void {
    const { requestId, workspaceId, at } = entry;
    const counted = this.#foldedCounts.get(workspaceId) ?? { count: 0 };
    if (counted.count === 0) this.#foldedCounts.set(workspaceId, counted);
    counted.count++;
    if (counted.count > foldedPerMinute || !this.#hasRoom(workspaceId, true)) {
      this.dropped.folded++;
      return;
    }
    try {
      const record = encodeRefusal(entry);
      const folded = { request_id: requestId, workspace_id: workspaceId, at, counted_in: countedIn, record };
      this.#push({ workspaceId, folded, size: record.length });
    } catch (error) {
      this.dropped.folded++;
      this.#options.observer.log("error", "failed to store a refused request", { requestId, error });
    }
  }

  capture(captured: CapturedRequest): void {
    const { requestId, workspaceId } = captured;
    const content = this.#options.content ?? null;
    if (!this.#hasRoom(workspaceId, true)) {
      this.dropped.captures++;
      content?.captured(requestId, null);
      return;
    }
    try {
      const at = this.#options.clock.now();
      const secrets = secretsIn(captured, this.#options);
      const times = { at, expiresAt: at + this.#options.captureRetentionMs() };
      const row = captureRow(captured, this.#options, times, secrets);
      this.#push({ workspaceId, capture: row, size: sizeOf(row) });
      content?.captured(requestId, {
        endpoint: captured.endpoint,
        request: withText(captured.requestBody, row.request_body),
        response: withText(captured.responseBody, row.response_body),
        secrets,
      });
    } catch (error) {
      this.dropped.captures++;
      content?.captured(requestId, null);
      this.#options.observer.log("error", "failed to capture a request", { requestId, error });
    }
  }

  willCapture(requestId: string): void {
    this.#options.content?.willCapture(requestId);
  }

  /** In small batches with pauses, in which queued entries are written. Resolves to the number of rows removed. */
  async prune(ages: ExplainAges): Promise<number> {
    let removed = 0;
    if (!(await hasExpiredRows(this.#options.database, ages))) return removed;
    for (; !this.#closed; await Bun.sleep(bounds.prunePauseMs)) {
      const batch = await this.#enqueue(() => this.#writer.prune(ages));
      if (batch === 0) break;
      removed += batch;
    }
    return removed;
  }

  /** Resolves when everything queued so far is written or dropped. */
  async written(): Promise<void> {
    while (this.#waiting.length > 0) await this.#flush();
    await this.#turn;
  }

  /** Writes what is left, within `timeoutMs`. */
  async close(timeoutMs: number): Promise<void> {
    this.#closed = true;
    this.#cancelFlush?.();
    await within(this.#options.clock, timeoutMs, this.written(), () => undefined);
    await this.#writer.end(timeoutMs);
  }

  /** The last half of the queue is reserved for important entries. */
  #hasRoom(workspaceId: string, isImportant: boolean): boolean {
    if (this.#closed) return false;
    const share = isImportant ? 1 : 0.5;
    return this.#rows.hasRoom(workspaceId, share) && this.#bytes.hasRoom(workspaceId, share);
  }

  /** Limits unimportant explanations per second. */
  #isWithinRate(workspaceId: string): boolean {
    const second = Math.floor(this.#options.clock.monotonic() / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#choices.clear();
      this.#choiceCharacters.clear();
    }
    if (!this.#choices.hasRoom(workspaceId) || !this.#choiceCharacters.hasRoom(workspaceId)) return false;
    this.#choices.take(workspaceId, 1);
    return true;
  }

  #push(waiting: Waiting): void {
    this.#waiting.push(waiting);
    this.#rows.take(waiting.workspaceId, 1);
    this.#bytes.take(waiting.workspaceId, waiting.size);
    if (this.#cancelFlush !== null) return;
    const waitMs = this.#choices.total > explainBusyChoices ? explainFlushBusyMs : explainFlushMs;
    this.#cancelFlush = this.#options.clock.after(waitMs, () => void this.written());
  }

  /** Never rejects. */
  #flush(): Promise<void> {
    return this.#enqueue(async () => {
      this.#cancelFlush?.();
      this.#cancelFlush = null;
      const batch = this.#take();
      if (batch.explanations.length + batch.captures.length + batch.folded.length === 0) return;
      try {
        await this.#writer.keep(batch);
        this.#logProblem(null);
      } catch (thrown) {
        this.dropped.explanations += batch.explanations.length;
        this.dropped.captures += batch.captures.length;
        this.dropped.folded += batch.folded.length;
        this.#logProblem(messageOf(thrown));
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
    const batch = this.#waiting.splice(0, rows);
    for (const { workspaceId, size } of batch) {
      this.#rows.release(workspaceId, 1);
      this.#bytes.release(workspaceId, size);
    }
    return {
      explanations: batch.flatMap(({ explanation: row }) => row ?? []),
      captures: batch.flatMap(({ capture }) => capture ?? []),
      folded: batch.flatMap(({ folded }) => folded ?? []),
    };
  }

  #enqueue<Result>(act: () => Promise<Result>): Promise<Result> {
    const done = this.#turn.then(act);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  #logProblem(problem: string | null): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    const { observer } = this.#options;
    if (problem === null) observer.log("info", "explanations and captures are written again");
    else observer.log("warn", "failed to write explanations and captures; dropping them", { problem });
  }
}

/** Messages may quote an upstream. */
function maskMessages(explanation: Explanation): Explanation {
  const short = (text: string): string => maskSecrets(text).slice(0, explainTextMax);
  const { refusal, failures, ...coded } = explanation;
  return {
    ...coded,
    refusal: refusal === null ? null : { ...refusal, message: short(refusal.message) },
    failures: failures.map((failure) => ({ ...failure, message: short(failure.message) })),
  };
}

function withText(body: CapturedBody | null, text: string | null | undefined): CapturedBody | null {
  return body === null || text == null ? null : { ...body, text };
}

function sizeOf(row: NewRow<"request_captures">): number {
  const { request_headers, response_headers, request_body, response_body } = row;
  return request_headers.length + response_headers.length + (request_body?.length ?? 0) + (response_body?.length ?? 0);
}

/** Does one order at a time. */
export interface ExplainWriter {
  keep(batch: ExplainBatch): Promise<number>;
  /** Removes one batch; 0: nothing is left. */
  prune(ages: ExplainAges): Promise<number>;
  end(timeoutMs: number): Promise<void>;
}

/**
 * A thread with its own database connection, started with the first order. After it died, orders are rejected for a while, then it is
 * restarted.
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
    return this.#order({ type: "keep", batch });
  }

  prune(ages: ExplainAges): Promise<number> {
    return this.#order({ type: "prune", ages });
  }

  async end(timeoutMs: number): Promise<void> {
    await within(this.#clock, timeoutMs, this.#thread.end(), () => undefined);
  }

  async #order(order: ExplainOrder): Promise<number> {
    if (this.#clock.monotonic() < this.#restMs) throw new Error("the writing thread has stopped");
    const answer = await this.#thread.run(order);
    if ("reply" in answer) return answer.reply;
    throw new Error(answer.failed);
  }
}

/** The reply is the number of rows. */
export type ExplainOrder =
  | { readonly type: "keep"; readonly batch: ExplainBatch }
  | { readonly type: "prune"; readonly ages: ExplainAges };
