import { Failure, type FailureCode, within } from "#core/index.ts";
import type { Clock, Observer } from "#ports/index.ts";
import { OrderThread } from "#system/index.ts";
import type { ReportAnswer, ReportAsk, ReportKind } from "./report-answers.ts";
import { draining, late, unreadable } from "./report-context.ts";

/** To a thread, one question at a time. */
export interface ReportOrder {
  readonly kind: ReportKind;
  readonly ask: readonly unknown[];
  readonly ms: number;
}

/** From a thread. What is not a Failure is told by its kind only: what a database says may hold a statement. */
export type ReportReply =
  /** JSON: read from text it holds the event loop for a quarter of the time that a copied object does. */
  | { readonly type: "answer"; readonly json: string }
  | { readonly type: "refusal"; readonly code: FailureCode; readonly message: string; readonly param: string | null }
  | { readonly type: "broken"; readonly detail: string };

/** What a thread that has to start first is given for that; on a busy machine it takes seconds. */
export const reportStartMs = 20_000;
/** A late question has this long to notice it before its thread is ended. An idle thread ends by itself. */
export const reportGraceMs = 1_000;
export const reportIdleMs = 60_000;

interface ReportThreadOptions {
  readonly databasePath: string;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
  /** Something can be asked again. */
  readonly onFree: () => void;
}

/**
 * One thread that answers one question at a time. It begins with its first question and ends when it has not been asked
 * for `reportIdleMs`. One that does not notice its lateness is ended from outside, as soon as the statement that it
 * is in lets go of it; until then it is not free.
 */
export class ReportThread {
  readonly #options: ReportThreadOptions;
  readonly #thread: OrderThread<ReportOrder, ReportReply>;
  #unbookEnd: () => void = () => undefined;
  #closed = false;

  constructor(options: ReportThreadOptions) {
    this.#options = options;
    this.#thread = new OrderThread({
      entry: new URL("./report-worker.ts", import.meta.url),
      name: "reports",
      data: options.databasePath,
      onDeath: (problem) => options.observer.log("error", "A thread of reports has died.", { error: problem }),
    });
  }

  get free(): boolean {
    return this.#thread.free;
  }

  /**
   * Settles after `ms` at the latest, though the thread may stay busy for longer. How long a thread takes to begin says
   * nothing about the question, and does not count.
   */
  async ask<Kind extends ReportKind>(kind: Kind, ask: ReportAsk<Kind>, ms: number): Promise<ReportAnswer<Kind>> {
    const { clock, observer } = this.#options;
    this.#unbookEnd();
    const { promise, resolve } = Promise.withResolvers<ReportReply>();
    const msMax = ms + (this.#thread.begun ? 0 : reportStartMs);
    const unbookLate = clock.after(msMax, () => resolve(refusal(late())));
    const unbookStop = clock.after(msMax + reportGraceMs, () => {
      observer.log("warn", "A report is late and its thread is ended.", { report: kind });
      this.#thread.stop();
    });
    void this.#thread.run({ kind, ask, ms }).then((answer) => {
      unbookLate();
      unbookStop();
      if (!this.#closed) this.#unbookEnd = clock.after(reportIdleMs, () => void this.#thread.end());
      if ("reply" in answer) resolve(answer.reply);
      else resolve(this.#closed ? refusal(draining()) : { type: "broken", detail: answer.failed });
      this.#options.onFree();
    });
    const reply = await promise;
    if (reply.type === "answer") {
      const answer: ReportAnswer<Kind> = JSON.parse(reply.json);
      return answer;
    }
    if (reply.type === "refusal") throw new Failure(reply.code, reply.message, { param: reply.param });
    throw unreadable(observer, kind, reply.detail);
  }

  /** What it was asked is refused. Resolves when the thread is gone, or when a long statement does not let go of it. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#unbookEnd();
    await within(this.#options.clock, reportGraceMs, this.#thread.end(), () => undefined);
  }
}

function refusal({ code, message, param }: Failure): ReportReply {
  return { type: "refusal", code, message, param };
}
