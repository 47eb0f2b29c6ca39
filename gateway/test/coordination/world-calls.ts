import type { RedisCounter } from "#coordination/index.ts";
import { bounds } from "#core/index.ts";
import type { Chance, Claim, Refused, Reserved } from "#ports/index.ts";
import { budgetClaim, gaugeClaim, windowClaim } from "../conformance/counter-claims.ts";
import type { FakeClock } from "../fake-clock.ts";
import type { Call, WorldJudge } from "./world-judge.ts";
import type { WorldLedger } from "./world-ledger.ts";

export interface WorldCallsParts {
  readonly chance: Chance;
  /** Choices that plain worlds do not make. */
  readonly more: Chance;
  readonly clock: FakeClock;
  readonly judge: WorldJudge;
  readonly ledger: WorldLedger;
  /** Live processes, and when each disconnected one was cut off. */
  readonly processes: ReadonlyMap<number, RedisCounter>;
  readonly cutOffMs: ReadonlyMap<number, number>;
  readonly windowMs: number;
}

/** Calls that a seed starts, tops up and ends on the processes of a world. */
export class WorldCalls {
  readonly #parts: WorldCallsParts;
  /** The current limits. */
  readonly limits = { window: 60, gauge: 60, budget: 60 };
  /** When the granting script of each call ran. */
  readonly #ranMs = new Map<string, number>();
  refusals = 0;
  servedLocally = 0;
  /** The first error of a call that should have succeeded. */
  fault: unknown = null;

  constructor(parts: WorldCallsParts) {
    this.#parts = parts;
  }

  /** The expected result of `demand`. A budget lowered below what is spent stays at what is spent. */
  get expectedDemand(): readonly number[] {
    const { window, gauge, budget } = this.limits;
    return [window, gauge, Math.max(budget, this.spent())];
  }

  /** A command ran on the server. */
  ran(command: readonly string[], answer: unknown): void {
    for (const id of grantedIn(command[6] ?? "", answer)) {
      if (!this.#ranMs.has(id)) this.#ranMs.set(id, this.#parts.clock.monotonic());
    }
  }

  callSome(process: number): void {
    const claims = this.claimsOf(1 + Math.floor(this.#parts.chance.unit() * 3));
    const from = Math.floor(this.#parts.chance.unit() * 3);
    void this.reserve(process, this.#parts.chance.unit() < 0.5 ? claims : claims.slice(from, from + 1)).catch(
      (thrown) => {
        this.fault ??= thrown;
      },
    );
  }

  async reserve(process: number, claims: readonly Claim[]): Promise<Reserved | Refused> {
    const id = `req_${this.#parts.judge.calls.length}_${Math.floor(this.#parts.chance.unit() * 1e9)}`;
    const counter = this.#parts.processes.get(process);
    if (counter === undefined) throw new Error("no such process");
    this.#parts.judge.requested(id, claims, process);
    const answer = counter.reserve(claims, id, true);
    if (!(answer instanceof Promise)) {
      this.servedLocally++;
      const sinceMs = this.#parts.cutOffMs.get(process) ?? Number.POSITIVE_INFINITY;
      if (this.#parts.clock.monotonic() - sinceMs > bounds.redisLeaseMs)
        throw new Error("a process served from a share after its lease");
    }
    const settled = await answer;
    if (!settled.granted) {
      this.refusals++;
      this.#parts.judge.refused(id, settled);
      if (settled.reason === "unknown") void this.read(process);
      return settled;
    }
    const admittedMs = answer instanceof Promise ? (this.#ranMs.get(id) ?? Number.NaN) : this.#parts.clock.monotonic();
    const isDead = this.#parts.processes.get(process) !== counter;
    const fresh = { more: 0, tokens: null, cost: 0, endedMs: null, isReported: false, isAdopted: false };
    const deadMs = isDead ? admittedMs : null;
    this.#parts.judge.admitted({ ...fresh, id, process, claims, admittedMs, reserved: settled, isDead, deadMs });
    return settled;
  }

  read(process: number): Promise<void> {
    const counter = this.#parts.processes.get(process);
    if (counter === undefined) return Promise.resolve();
    return this.#parts.ledger.read(process, counter, () => this.#parts.processes.get(process) === counter);
  }

  endSome(): void {
    const running = this.#parts.judge.calls.filter(({ tokens, isDead }) => tokens === null && !isDead);
    const call = running[Math.floor(this.#parts.chance.unit() * running.length)];
    if (call !== undefined) this.end(call);
  }

  end(call: Call): void {
    const counter = this.#parts.processes.get(call.process);
    if (counter === undefined) return;
    const part = this.#parts.chance.unit();
    const budget = call.claims.find(({ kind }) => kind === "budget");
    if (budget !== undefined) {
      call.cost = Math.floor((budget.amount + call.more) * part);
      this.#parts.ledger.note(call.process, { attemptId: call.id, amount: call.cost });
      void Promise.resolve(counter.spend("b", 0, { attemptId: call.id, amount: call.cost }));
    }
    call.tokens = Math.ceil((call.claims.find(({ kind }) => kind === "window")?.amount ?? 0) * part);
    call.endedMs = this.#parts.clock.monotonic();
    const settled = counter.settle(
      call.reserved.ticket,
      call.claims.map(() => call.tokens ?? 0),
    );
    if (settled === undefined) call.isReported = true;
    else void settled.then(() => (call.isReported = true));
  }

  /** Tops up the budget of a running call. */
  topUpSome(): void {
    const running = this.#parts.judge.calls.filter(({ tokens, isDead }) => tokens === null && !isDead);
    const call = running[Math.floor(this.#parts.more.unit() * running.length)];
    const budget = call?.claims.find(({ kind }) => kind === "budget");
    const counter = call === undefined ? undefined : this.#parts.processes.get(call.process);
    if (call === undefined || budget === undefined || counter === undefined) return;
    const amount = 1 + Math.floor(this.#parts.more.unit() * 4);
    const id = `more_${Math.floor(this.#parts.more.unit() * 1e9)}`;
    this.#parts.judge.requested(id, [{ ...budget, amount }], call.process);
    void Promise.resolve(counter.topUp(call.reserved.ticket, amount, amount)).then((more) => {
      // A call that ended meanwhile does not use it.
      if (call.tokens === null && !call.isAdopted) call.more += more;
      try {
        if (more > 0) this.#parts.judge.toppedUp(call);
      } catch (thrown) {
        this.fault ??= thrown;
      }
      // A top-up that arrives too late is given back.
      this.#parts.clock.after(100, () => this.#parts.judge.withdrawn(id));
    });
  }

  /** Changes a limit. */
  edit(): void {
    const kind = (["window", "gauge", "budget"] as const)[Math.floor(this.#parts.more.unit() * 3)] ?? "gauge";
    if (kind === "budget")
      this.limits.budget = Math.max(20, this.limits.budget + Math.floor(this.#parts.more.unit() * 90 - 20));
    else this.limits[kind] = 20 + Math.floor(this.#parts.more.unit() * 60);
  }

  spent(): number {
    return this.#parts.judge.calls.reduce((sum, { cost }) => sum + cost, 0);
  }

  claimsOf(amount: number): readonly Claim[] {
    const { window, gauge, budget } = this.limits;
    return [
      { ...windowClaim("w", window, amount), windowMs: this.#parts.windowMs },
      gaugeClaim("g", gauge),
      budgetClaim("b", budget, amount),
    ];
  }
}

/**
 * A message is a list of operations whose third element may be a reservation's id; the answer is a list of the same
 * length.
 */
function grantedIn(word: string, answer: unknown): readonly string[] {
  const [answers] = Array.isArray(answer) ? answer : [];
  if (!word.startsWith("[") || typeof answers !== "string") return [];
  const results: readonly (readonly unknown[])[] = JSON.parse(answers);
  return (JSON.parse(word) as readonly (readonly string[])[]).flatMap(([, , id = ""], index) =>
    results[index]?.[0] === 1 ? [id] : [],
  );
}
