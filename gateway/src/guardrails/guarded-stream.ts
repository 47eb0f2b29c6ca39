import { asFailure, type BodySink, bounds, type Failure, type LiveBody } from "#core/index.ts";
import type { StreamShape } from "#protocols/index.ts";
import { type CallGuard, isAwaited } from "./call-guard.ts";
import { recordOf } from "./check-record.ts";
import { isMasking } from "./inspect.ts";
import { JudgedTexts } from "./judged-texts.ts";
import type { LocatingRule } from "./policy.ts";
import { StreamInspector } from "./stream-inspector.ts";
import { valueDetector } from "./value-detector.ts";

/** Characters that a model or a service judges at once. */
const windowCharacters = 4_096;
/** Characters of an answer that is judged as a whole. */
const wholeCharactersMax = 1024 * 1024;

export interface GuardedStreamOptions {
  readonly guard: CallGuard;
  readonly body: LiveBody;
  readonly shape: StreamShape;
  /** Sent by the relay in long silence. Passes at once. */
  readonly keepAlive: string;
  /** An error in the caller's dialect, as the last event. */
  readonly errorEvent: (failure: Failure) => Uint8Array;
}

/**
 * A stream of events, checked while it passes. A refusal ends it with an error event and cancels the upstream.
 *
 * open      pulls from the body, and passes on what was checked.
 * judging   a model or a service judges the text so far; nothing is pulled.
 * over      the last bytes are sent.
 */
export class GuardedStream implements LiveBody, BodySink {
  readonly #options: GuardedStreamOptions;
  readonly #inspector: StreamInspector;
  /** Texts for models and services; null: none judges them. */
  readonly #judged: JudgedTexts | null;
  /** The answer as it came, for masks by a service at its end; null: none can mask, or a check has failed and the answer passes. */
  #raw: Uint8Array[] | null;
  /** Finds what services have found. */
  readonly #valueRules: LocatingRule[] = [];
  /** Nothing is sent before a verdict on its window. */
  readonly #waits: boolean;
  /** Nothing is sent before the whole answer was checked. */
  #holds: boolean;
  readonly #startMs: number;
  readonly #keepAlive: Buffer;
  /** Checked, except by models and services. */
  #checked: Uint8Array[] = [];
  #checkedBytes = 0;
  #sink: BodySink | null = null;
  #answered: (() => void) | null = null;
  /** Something was sent since the last pull. */
  #isSent = false;
  #isAtEnd = false;
  #isOver = false;
  #error: unknown = null;
  #checkTime = (): void => {};
  #isJudged = false;

  constructor(options: GuardedStreamOptions) {
    const { guard, shape, keepAlive } = options;
    const policy = guard.side("output");
    this.#options = options;
    this.#judged = policy.remote.length > 0 ? new JudgedTexts() : null;
    this.#waits = policy.remote.some(isAwaited);
    this.#raw = policy.remote.some(isMasking) ? [] : null;
    this.#holds =
      this.#raw !== null || policy.all.some((guardrail) => guardrail.stream === "whole" && isAwaited(guardrail));
    this.#startMs = guard.nowMs;
    this.#keepAlive = Buffer.from(keepAlive);
    this.#inspector = new StreamInspector({
      shape,
      rules: policy.locating,
      placeholders: guard.placeholders,
      judged: this.#judged,
      checkTime: () => this.#checkTime(),
      onBlock: () => {
        throw new BlockedHere();
      },
    });
  }

  pull(sink: BodySink, answered: () => void): void {
    this.#sink = sink;
    this.#answered = answered;
    this.#isSent = false;
    this.#next();
  }

  cancel(why?: Failure): void {
    if (this.#isOver) return;
    this.#isOver = true;
    try {
      this.#recordAll();
    } catch {
      // The caller has gone: there is nothing to refuse.
    }
    this.#options.body.cancel(why);
  }

  /** Called by the body, like `close` and `error`. */
  enqueue(piece: Uint8Array): void {
    if (this.#isOver) return;
    if (this.#keepAlive.equals(piece) && this.#inspector.isBetweenEvents) {
      this.#sink?.enqueue(piece);
      return;
    }
    this.#raw?.push(piece.slice());
    this.#inspect(piece.length, () => this.#inspector.push(piece));
    if (!this.#waits && !this.#holds) this.#flush();
  }

  close(): void {
    if (this.#isOver) return;
    this.#isAtEnd = true;
    this.#inspect(this.#inspector.held, () => this.#inspector.end());
  }

  error(reason: unknown): void {
    this.#error = reason;
    this.close();
  }

  #inspect(bytes: number, read: () => Uint8Array[]): void {
    this.#checkTime = this.#options.guard.timer(bytes);
    try {
      for (const piece of read()) {
        this.#checked.push(piece);
        this.#checkedBytes += piece.length;
      }
      if (this.#checkedBytes > bounds.imageEventBytesMax) throw new Error("the answer is too long to be held");
    } catch (thrown) {
      this.#stop(thrown);
    }
  }

  /** Ends the stream with an error, unless every guardrail lets answers pass that it could not check. */
  #stop(thrown: unknown): void {
    const { guard } = this.#options;
    try {
      if (thrown instanceof BlockedHere) this.#recordAll();
      else {
        guard.failed("output", thrown, this.#startMs);
        this.#checked.push(...this.#inspector.abandon());
        this.#holds = false;
        this.#raw = null;
      }
    } catch (failure) {
      this.#refuse(asFailure(failure));
    }
  }

  #refuse(failure: Failure): void {
    this.#isOver = true;
    this.#options.body.cancel(failure);
    this.#checked = [this.#options.errorEvent(failure)];
    this.#flush();
    this.#sink?.close();
    this.#answer();
  }

  #next(): void {
    if (this.#isAtEnd) this.#finish();
    else this.#options.body.pull(this, () => this.#pulled());
  }

  #pulled(): void {
    if (this.#isOver || this.#answered === null) return;
    if (this.#isAtEnd) this.#finish();
    else if (this.#mustJudge(false)) void this.#judge().then(() => this.#pulled());
    else if (this.#isSent || (!this.#holds && this.#flushJudged())) this.#answer();
    else this.#next();
  }

  #flushJudged(): boolean {
    if (this.#waits && !this.#isJudged && this.#unjudged > 0) return false;
    this.#isJudged = false;
    return this.#flush();
  }

  #finish(): void {
    if (this.#mustJudge(true)) {
      void this.#judge().then(() => {
        if (!this.#isOver) this.#finish();
      });
      return;
    }
    try {
      this.#recordAll();
    } catch (failure) {
      this.#refuse(asFailure(failure));
      return;
    }
    this.#isOver = true;
    if (this.#raw !== null && this.#valueRules.length > 0 && !this.#maskValues(this.#raw)) return;
    this.#flush();
    if (this.#error === null) this.#sink?.close();
    else this.#sink?.error(this.#error);
    this.#answer();
  }

  get #unjudged(): number {
    return this.#judged?.characters ?? 0;
  }

  #mustJudge(isEnd: boolean): boolean {
    if (this.#judged === null || this.#isJudged) return false;
    if (isEnd || this.#inspector.isAbandoned) return this.#unjudged > 0;
    return this.#unjudged >= (this.#holds ? wholeCharactersMax : windowCharacters);
  }

  /** Masks what services have found, too. False: that failed, and the stream has ended with an error. */
  #maskValues(raw: readonly Uint8Array[]): boolean {
    const { guard, shape, body } = this.#options;
    const { placeholders } = guard;
    const rules = [...guard.side("output").locating, ...this.#valueRules];
    const inspector = new StreamInspector({
      ...{ shape, rules, placeholders, judged: null },
      checkTime() {},
      onBlock: () => {
        throw new Error("a value in an encoded file cannot be masked");
      },
    });
    try {
      this.#checked = [...raw.flatMap((piece) => inspector.push(piece)), ...inspector.end()];
      return true;
    } catch (thrown) {
      body.cancel();
      try {
        guard.failed("output", thrown, this.#startMs);
        return true;
      } catch (failure) {
        this.#refuse(asFailure(failure));
        return false;
      }
    }
  }

  /** Asks about the text since the last window. Never rejects. */
  async #judge(): Promise<void> {
    const { guard } = this.#options;
    const texts = this.#judged?.take() ?? [];
    try {
      const judging = guard.judge("output", texts);
      if (this.#waits) {
        const masks = await judging;
        const guardrail = guard.side("output").remote.find(isMasking);
        if (masks.size > 0 && guardrail !== undefined) {
          // The values were found at the guardrail's places, and are masked in every place.
          this.#valueRules.push({ guardrail: { ...guardrail, at: null }, detector: valueDetector(texts, masks) });
        }
      }
    } catch (failure) {
      if (!this.#isOver) this.#refuse(asFailure(failure));
    }
    this.#isJudged = true;
  }

  #flush(): boolean {
    const pieces = this.#checked;
    if (pieces.length === 0 || this.#sink === null) return false;
    this.#checked = [];
    this.#checkedBytes = 0;
    this.#isSent = true;
    for (const piece of pieces) this.#sink.enqueue(piece);
    return true;
  }

  #answer(): void {
    const answered = this.#answered;
    this.#answered = null;
    answered?.();
  }

  /** Throws the failure of a guardrail that refuses the answer. */
  #recordAll(): void {
    const { guard } = this.#options;
    const { tallies, media, sealed, isAbandoned } = this.#inspector;
    // The failed check is recorded.
    if (isAbandoned) return;
    const durationMs = guard.nowMs - this.#startMs;
    const about = { unreadable: media + sealed, durationMs };
    const { locating } = guard.side("output");
    guard.record(
      locating.map(({ guardrail }, index) => recordOf(guardrail, tallies.all[index] ?? null, "output", about)),
    );
  }
}

/** A guardrail refuses the answer because of a finding, which is in its tally. */
class BlockedHere extends Error {}
