import { type PlaceRemark, placeSentence } from "./remarks.ts";

export type BreakerState = "closed" | "open" | "half-open";

/** A state change and its reason, for logs and other replicas. */
export interface BreakerChange {
  readonly state: BreakerState;
  readonly reason: string;
  /** Why it opened. */
  readonly cause: PlaceRemark | null;
  /** How long it stays open; 0 for the other states. */
  readonly openMs: number;
}

/** The values of Envoy's outlier detection. */
const breakerRules = {
  consecutiveFailures: 5,
  windowMs: 30_000,
  windowCallsMin: 20,
  windowFailureShare: 0.5,
  openMs: 30_000,
  openMsMax: 300_000,
} as const;

/** The state when an attempt began. Its result counts only while that state lasts. */
export interface BreakerPass {
  readonly epoch: number;
  readonly probe: boolean;
}

/**
 * closed → open after failures; open → half-open when the time is over and a probe begins; half-open → closed after a
 * successful probe, → open for twice as long after a failed one. Pure: the caller passes the time and applies effects.
 */
export class Breaker {
  #state: BreakerState = "closed";
  #epoch = 0;
  #consecutive = 0;
  #openings = 0;
  #openUntilMs = 0;
  #closedAtMs = Number.NEGATIVE_INFINITY;
  #probing = false;
  readonly #window = new FailureWindow();
  /** For calls that are no probe, until the state changes. */
  #usual: Begun = usualOf(0);

  get state(): BreakerState {
    return this.#state;
  }

  admits(nowMs: number): boolean {
    if (this.#state === "closed") return true;
    return nowMs >= this.#openUntilMs && !this.#probing;
  }

  openForMs(nowMs: number): number {
    return this.#state === "open" ? Math.max(0, this.#openUntilMs - nowMs) : 0;
  }

  /** Also if the breaker is open but nothing else is left. */
  begin(nowMs: number): Begun {
    if (this.#state === "closed" || !this.admits(nowMs)) return this.#usual;
    const change = this.#state === "half-open" ? null : this.#move("half-open", "its time is over, it is probed");
    this.#probing = true;
    return { pass: { epoch: this.#epoch, probe: true }, change };
  }

  /** A success while open proves as much as a probe. */
  succeed(pass: BreakerPass, nowMs: number): BreakerChange | null {
    if (pass.epoch !== this.#epoch) return null;
    this.#consecutive = 0;
    if (this.#state === "closed") {
      this.#window.add(false, nowMs);
      return null;
    }
    this.#closedAtMs = nowMs;
    this.#window.clear();
    return this.#move("closed", "a call succeeded");
  }

  /** Call it only for failures that show an unhealthy deployment. */
  fail(pass: BreakerPass, nowMs: number): BreakerChange | null {
    if (pass.epoch !== this.#epoch) return null;
    if (pass.probe) return this.#open({ code: "probe_failed", params: {} }, nowMs);
    if (this.#state !== "closed") return null;
    this.#consecutive++;
    this.#window.add(true, nowMs);
    if (this.#consecutive >= breakerRules.consecutiveFailures) {
      return this.#open({ code: "failures_in_a_row", params: { count: this.#consecutive } }, nowMs);
    }
    const { calls, failures } = this.#window.sums(nowMs);
    if (calls < breakerRules.windowCallsMin || failures < calls * breakerRules.windowFailureShare) return null;
    const seconds = breakerRules.windowMs / 1_000;
    return this.#open({ code: "failure_share", params: { failures, calls, seconds } }, nowMs);
  }

  /** The result does not show the deployment's health; frees the probe. */
  pass(pass: BreakerPass): void {
    if (pass.probe && pass.epoch === this.#epoch) this.#probing = false;
  }

  /** Each opening soon after the last one doubles the time; a healthy period of openMsMax resets it. */
  #open(cause: PlaceRemark, nowMs: number): BreakerChange {
    if (this.#state === "closed" && nowMs - this.#closedAtMs >= breakerRules.openMsMax) this.#openings = 0;
    const openMs = Math.min(breakerRules.openMsMax, breakerRules.openMs * 2 ** this.#openings);
    this.#openings++;
    this.#openUntilMs = nowMs + openMs;
    this.#consecutive = 0;
    this.#window.clear();
    return { ...this.#move("open", placeSentence([cause])), cause, openMs };
  }

  #move(state: BreakerState, reason: string): BreakerChange {
    this.#state = state;
    this.#epoch++;
    this.#usual = usualOf(this.#epoch);
    this.#probing = false;
    return { state, reason, cause: null, openMs: 0 };
  }
}

interface Begun {
  readonly pass: BreakerPass;
  readonly change: BreakerChange | null;
}

function usualOf(epoch: number): Begun {
  return { pass: { epoch, probe: false }, change: null };
}

const parts = 30;
const partMs = breakerRules.windowMs / parts;

/** Calls and failures of the window in buckets, at constant cost. */
class FailureWindow {
  /** Buckets with calls, latest last. */
  #parts: { readonly number: number; calls: number; failures: number }[] = [];

  add(failed: boolean, nowMs: number): void {
    const number = Math.floor(nowMs / partMs);
    let last = this.#parts.at(-1);
    if (last === undefined || last.number < number) {
      last = { number, calls: 0, failures: 0 };
      this.#parts.push(last);
      if (this.#parts.length > parts) this.#parts.shift();
    }
    last.calls++;
    if (failed) last.failures++;
  }

  sums(nowMs: number): { readonly calls: number; readonly failures: number } {
    const before = Math.floor(nowMs / partMs) - parts;
    const sums = { calls: 0, failures: 0 };
    for (const { number, calls, failures } of this.#parts) {
      if (number <= before) continue;
      sums.calls += calls;
      sums.failures += failures;
    }
    return sums;
  }

  clear(): void {
    this.#parts = [];
  }
}
