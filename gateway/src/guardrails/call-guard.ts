import type { GuardrailSide } from "@sluice/contract/words";
import { Failure, type Finding, type Guardrail, type WireDialectId } from "#core/index.ts";
import { cleanRecord } from "./check-entry.ts";
import { type CheckRecord, failedRecord, recordOf, refusalBy } from "./check-record.ts";
import { appliesTo, count, isMasking, Tallies } from "./inspect.ts";
import { type InspectAnswer, type InspectAsk, inspectBody } from "./inspect-body.ts";
import type { JudgedText } from "./judged-texts.ts";
import { replaceRanges } from "./masking.ts";
import { Placeholders } from "./placeholders.ts";
import type { GuardrailPolicy, SidePolicy } from "./policy.ts";
import type { RemoteVerdict } from "./webhook-verdict.ts";

/** Reading the processor time costs as much as checking some hundred bytes. */
const untimedBytesMax = 4 * 1024;
/** Masked values that are kept with a stored answer, for the next calls of its conversation. */
const conversationCharactersMax = 16 * 1024;
/** Longer bodies are checked in a thread. */
export const guardedInPlaceBytesMax = 64 * 1024;

/** Sends texts to a model or a service. Rejects if there is no answer in time. */
type RemoteCheck = (guardrail: Guardrail, texts: readonly JudgedText[], side: GuardrailSide) => Promise<RemoteVerdict>;

export interface CallGuardOptions {
  readonly policy: GuardrailPolicy;
  /** For placeholders: a secret of the workspace. */
  readonly secret: () => string;
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
  /** Processor time of this thread, in milliseconds. */
  readonly cpuMs: () => number;
  /** Milliseconds of processor time that the next check may use on the event loop for a body or piece. */
  readonly checkMsMax: () => number;
  readonly remote: RemoteCheck;
  /** Checks a long body in a thread, and returns it. */
  readonly inspectLarge: (
    ask: InspectAsk,
    body: Uint8Array,
  ) => Promise<{ readonly body: Uint8Array; readonly outcome: InspectAnswer | Failure }>;
  readonly onRecords: (records: readonly CheckRecord[]) => void;
}

/** The guardrails of one call, with the values that they have masked. */
export class CallGuard {
  readonly records: CheckRecord[] = [];
  readonly placeholders: Placeholders;
  readonly #options: CallGuardOptions;
  /** Values of the request and of earlier ones of its conversation, by placeholder. */
  readonly #conversation = new Map<string, string>();

  constructor(options: CallGuardOptions) {
    this.#options = options;
    this.placeholders = new Placeholders(options.secret);
  }

  side(side: GuardrailSide): SidePolicy {
    return this.#options.policy[side];
  }

  get nowMs(): number {
    return this.#options.nowMs();
  }

  /** For `adopt` in the conversation's next call; null: nothing was masked. The newest values, if there are too many. */
  conversationValues(): string | null {
    let size = 0;
    const newest = [...this.#conversation].toReversed().filter(([placeholder, value]) => {
      size += placeholder.length + value.length;
      return size <= conversationCharactersMax;
    });
    return newest.length === 0 ? null : JSON.stringify(newest.toReversed());
  }

  /** Restores values of earlier calls of the conversation, too. */
  adopt(values: string): void {
    for (const [placeholder, value] of JSON.parse(values) as readonly (readonly [string, string])[]) {
      if (this.placeholders.adopt(placeholder, value)) this.#conversation.set(placeholder, value);
    }
  }

  /** Whether answers have to be read. */
  get readsAnswers(): boolean {
    return this.side("output").all.length > 0 || this.placeholders.size > 0;
  }

  /**
   * Checks a JSON body and returns it with findings masked and, for an answer, placeholders replaced. A promise only for a
   * long body, and if a model or a service checks it. Throws or rejects with Failure guardrail_blocked or guardrail_failed.
   */
  checkBody(dialect: WireDialectId, side: GuardrailSide, body: Uint8Array): Uint8Array | Promise<Uint8Array> {
    const { all: guardrails } = this.side(side);
    const ask = { dialect, side, guardrails, placeholders: side === "output" ? this.placeholders.issued() : [] };
    const startMs = this.nowMs;
    if (body.length > guardedInPlaceBytesMax)
      return this.#inThread(ask, body, startMs, (same, answer) => this.#conclude(ask, same, answer, startMs));
    let answer: InspectAnswer;
    try {
      answer = inspectBody(body, ask, this.timer(body.length));
    } catch (thrown) {
      this.failed(side, thrown, startMs);
      return body;
    }
    return this.#conclude(ask, body, answer, startMs);
  }

  /** Inspects a body in a thread. `finish` makes the new body from the answer. Rejects with Failure. */
  async #inThread(
    ask: InspectAsk,
    body: Uint8Array,
    startMs: number,
    finish: (body: Uint8Array, answer: InspectAnswer) => Uint8Array | Promise<Uint8Array>,
  ): Promise<Uint8Array> {
    const inspected = this.#options.inspectLarge(ask, body).catch((thrown) => {
      // The thread had the body, so the call fails even if its guardrails pass errors.
      this.failed(ask.side, causeOf(thrown), startMs);
      throw thrown;
    });
    const { body: same, outcome } = await inspected;
    if (!(outcome instanceof Failure)) return await finish(same, outcome);
    this.failed(ask.side, causeOf(outcome), startMs);
    return same;
  }

  /** The same for a text that is not JSON. */
  checkText(side: GuardrailSide, body: Uint8Array): Uint8Array | Promise<Uint8Array> {
    return this.checkBody("any", side, body);
  }

  /** Records a body that cannot be read. Throws Failure if a guardrail refuses it then. */
  unreadable(side: GuardrailSide): void {
    const { all } = this.side(side);
    this.record(all.map((guardrail) => recordOf(guardrail, null, side, { unreadable: 1, durationMs: 0 })));
  }

  /** Throws when a check of that many bytes has used too much of the event loop's processor time. */
  timer(bytes: number): () => void {
    if (bytes <= untimedBytesMax) return untimed;
    const { cpuMs, checkMsMax } = this.#options;
    const maxMs = checkMsMax();
    const startMs = cpuMs();
    return () => {
      if (cpuMs() - startMs > maxMs) throw new Error(`the check took longer than ${maxMs} ms`);
    };
  }

  /** Records the result and writes the masked body; a promise if a model or a service checks it, too. Throws or rejects with Failure. */
  #conclude(
    ask: InspectAsk,
    body: Uint8Array,
    answer: InspectAnswer,
    startMs: number,
  ): Uint8Array | Promise<Uint8Array> {
    const { side } = ask;
    const { locating, remote } = this.side(side);
    const about = { unreadable: answer.media + answer.sealed, durationMs: this.nowMs - startMs };
    this.record(
      locating.map(({ guardrail }, index) => recordOf(guardrail, answer.tallies[index] ?? null, side, about)),
    );
    const made = this.#write(side, body, answer);
    if (remote.length === 0) return made;
    const judging = this.judge(side, answer.judged);
    if (!remote.some(isAwaited)) return made;
    // Findings of a service are masked, too.
    const masked = (masks: Masks): Promise<Uint8Array> =>
      this.#inThread({ ...ask, masks }, body, startMs, (same, found) => this.#write(side, same, found));
    return judging.then((masks) => (masks.size === 0 ? made : masked(masks)));
  }

  /** Adds records. Throws the failure of the first that refuses the call. */
  record(given: readonly CheckRecord[]): void {
    if (given.length === 0) return;
    let refusal: Failure | null = null;
    for (const one of given) {
      const record = cleanRecord(one, this.#options.policy);
      this.records.push(record);
      refusal ??= refusalBy(record);
    }
    this.#options.onRecords(this.records.slice(-given.length));
    if (refusal !== null) throw refusal;
  }

  /** Records that no guardrail could check. Throws Failure guardrail_failed if one of them blocks then. */
  failed(side: GuardrailSide, thrown: unknown, startMs: number): void {
    if (thrown instanceof Failure) throw thrown;
    const durationMs = this.nowMs - startMs;
    this.record(this.side(side).all.map((guardrail) => failedRecord(guardrail, side, thrown, durationMs)));
  }

  #write(side: GuardrailSide, body: Uint8Array, { masked, restored, repeats }: InspectAnswer): Uint8Array {
    const { placeholders } = this;
    const isRequest = side === "input";
    if (masked.length === 0 && restored.length === 0) return body;
    const restoring = new Set(restored);
    return replaceRanges(
      body,
      [...masked, ...restored],
      (range) => {
        if (restoring.has(range)) return placeholders.valueOf(range.value) ?? range.value;
        const placeholder = placeholders.add(range.type, range.value);
        if (isRequest) this.#conversation.set(placeholder, range.value);
        return placeholder;
      },
      repeats,
    );
  }

  /**
   * Asks models and services about texts, and returns the places to mask by the index of their text. The call waits only for guardrails
   * that can change or refuse it. Rejects with Failure.
   */
  async judge(side: GuardrailSide, texts: readonly JudgedText[]): Promise<Masks> {
    const masks = new Map<number, readonly Finding[]>();
    const { remote } = this.side(side);
    for (const guardrail of remote) {
      if (!isAwaited(guardrail)) void this.#judge(guardrail, side, texts).then(({ record }) => this.record([record]));
    }
    const judgments = await Promise.all(
      remote.filter(isAwaited).map((guardrail) => this.#judge(guardrail, side, texts)),
    );
    this.record(judgments.map(({ record }) => record));
    for (const judgment of judgments) {
      for (const [index, findings] of judgment.masks) masks.set(index, [...(masks.get(index) ?? []), ...findings]);
    }
    return masks;
  }

  /** Rejects only with Failure client_closed, and never for a guardrail that is not awaited. */
  async #judge(guardrail: Guardrail, side: GuardrailSide, texts: readonly JudgedText[]): Promise<Judgment> {
    const startMs = this.nowMs;
    const tallies = new Tallies(1);
    const indexes = [...texts.keys()].filter((index) => appliesTo(guardrail, texts[index] as JudgedText));
    const own = indexes.map((index) => texts[index] as JudgedText);
    const toMask = new Map<number, readonly Finding[]>();
    try {
      const { types, masks } = own.length === 0 ? noFindings : await this.#options.remote(guardrail, own, side);
      if (guardrail.action !== "mask") for (const type of types) count(tallies.of(0), type, "");
      else {
        if (types.length > 0 && (masks === undefined || masks.size === 0))
          throw new Error("no place to mask was given");
        for (const [position, findings] of masks ?? []) {
          const { path, fixed } = own[position] as JudgedText;
          const tally = tallies.of(0);
          for (const { type } of findings) count(tally, type, path);
          if (!isMasking(guardrail)) continue;
          if (fixed === "signed") tally.unmasked += findings.length;
          else if (fixed === "file") tally.inFiles += findings.length;
          else toMask.set(indexes[position] as number, findings);
        }
      }
      const about = { unreadable: 0, durationMs: this.nowMs - startMs };
      return { record: recordOf(guardrail, tallies.all[0] ?? null, side, about), masks: toMask };
    } catch (thrown) {
      if (thrown instanceof Failure && thrown.code === "client_closed") throw thrown;
      return { record: failedRecord(guardrail, side, thrown, this.nowMs - startMs), masks: new Map() };
    }
  }
}

/** Places to mask, by the index of their text. */
export type Masks = ReadonlyMap<number, readonly Finding[]>;

interface Judgment {
  readonly record: CheckRecord;
  readonly masks: Masks;
}

const noFindings: RemoteVerdict = { types: [] };

/** Whether the verdict can change or refuse the call, which has to wait for it then. */
export function isAwaited({ enforce, action, onError }: Guardrail): boolean {
  return enforce && (action !== "flag" || onError === "block");
}

function untimed(): void {}

/** The error of a check. A Failure other than internal_error refuses the call in any case. */
function causeOf(thrown: unknown): unknown {
  return thrown instanceof Failure && thrown.code === "internal_error" ? (thrown.cause ?? thrown) : thrown;
}
