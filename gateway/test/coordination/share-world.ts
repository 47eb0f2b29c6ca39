import { createRedisCounter, type RedisCounter } from "#coordination/index.ts";
import { shareUnresponsiveMs } from "#coordination/redis/shares/share-sync.ts";
import { bounds } from "#core/index.ts";
import type { Chance, Claim } from "#ports/index.ts";
import { createIds, systemClock } from "#system/index.ts";
import { gaugeClaim } from "../conformance/counter-claims.ts";
import { FakeClock } from "../fake-clock.ts";
import { seededChance } from "../simulation/seeded-chance.ts";
import type { RedisFixture } from "./redis-fixture.ts";
import { SlowNetwork } from "./slow-network.ts";
import { WorldCalls } from "./world-calls.ts";
import { WorldJudge } from "./world-judge.ts";
import { WorldLedger } from "./world-ledger.ts";
import { type Troubles, troublesOf } from "./world-troubles.ts";

/**
 * Several processes on one Redis. A seed decides time, message order, disconnections and crashes; a judge checks every
 * answer.
 */
export class ShareWorld {
  readonly judge: WorldJudge;
  readonly calls: WorldCalls;
  readonly #chance: Chance;
  /** Choices that plain worlds do not make. A separate sequence, so that their recorded seeds stay valid. */
  readonly #more: Chance;
  readonly #fixture: RedisFixture;
  readonly #clock = new FakeClock();
  readonly #namespace: string;
  readonly #network: SlowNetwork;
  readonly #processes = new Map<number, RedisCounter>();
  /** Processes that are leaving: alive, without calls. */
  readonly #leaving = new Set<number>();
  readonly #ledger: WorldLedger;
  /** The offset of each process's wall clock. */
  readonly #wallMs = new Map<number, number>();
  /** How far the server's clock was set back. */
  #backMs = 0;
  /** Adopts the journals of dead processes. Never disconnected. */
  #heir: RedisCounter | null = null;
  /** Adoptions that are scheduled or running. */
  #adoptions = 0;
  /** When each disconnected process reconnects. */
  readonly #awayMs = new Map<number, number>();
  /** When each process was disconnected. */
  readonly #cutOffMs = new Map<number, number>();
  readonly #outageMsMax: number;
  readonly #windowMs: number;
  /** null in plain worlds. */
  readonly #troubles: Troubles | null;
  #started = 0;

  constructor(fixture: RedisFixture, seed: number, isPlain: boolean) {
    this.#fixture = fixture;
    this.#namespace = `world-${seed}-${++worlds}`;
    this.#chance = seededChance(seed);
    this.#more = seededChance(seed + 1e6);
    this.#troubles = isPlain ? null : troublesOf(this.#more);
    // In every third world, outages are longer than a lease. Other processes then get the places of calls that still
    // run, as if their process were dead; windows and budgets stay exact.
    this.#outageMsMax = seed % 3 === 0 ? 2 * bounds.redisLeaseMs : bounds.redisLeaseMs / 2;
    this.#windowMs = seed % 2 === 0 ? 60_000 : 6_000;
    this.#clock.advance(1_000_000);
    this.#ledger = new WorldLedger(this.#clock, this.#chance);
    this.judge = new WorldJudge({
      nowMs: () => this.#clock.monotonic(),
      windowMs: this.#windowMs,
      countsPlaces: this.#outageMsMax < bounds.redisLeaseMs,
    });
    this.calls = new WorldCalls({
      ...{ judge: this.judge, ledger: this.#ledger, clock: this.#clock, chance: this.#chance, more: this.#more },
      ...{ processes: this.#processes, cutOffMs: this.#cutOffMs, windowMs: this.#windowMs },
    });
    this.#network = new SlowNetwork({
      chance: this.#chance,
      nowMs: () => this.#serverMs(),
      type: (...words) => fixture.type(...words),
      ran: (command, answer) => this.calls.ran(command, answer),
    });
  }

  get admitted(): number {
    return this.judge.calls.length;
  }

  /** The window and the troubles of this world, for error messages. */
  get description(): string {
    const troubles = Object.entries(this.#troubles ?? {}).filter(([, rate]) => rate !== 0 && rate !== false);
    return `${this.#windowMs} ms, ${troubles.map(([name]) => name).join(" ")}`;
  }

  async start(count: number): Promise<void> {
    const heir = await this.#open();
    this.#heir = heir;
    for (let index = 0; index < count; index++) await this.#startOne();
    await this.#until(this.#ledger.read(heirProcess, heir, () => true));
  }

  /** Runs calls and faults. */
  async storm(steps: number): Promise<void> {
    for (let step = 0; step < steps; step++) {
      if (this.#troubles === null) await this.#act(this.#chance.unit());
      else await this.#actWithTroubles(this.#troubles);
      this.#clock.advance(Math.floor(this.#chance.unit() * (this.#troubles === null ? 60 : 150)));
      await this.#move(this.#troubles?.isQuick === true ? deliverAll : 1 + Math.floor(this.#chance.unit() * 4));
      this.#checkFaults();
    }
  }

  /**
   * Waits until everything is reported, dead leases have expired, journals are adopted, and their uses have left the
   * window.
   */
  async calm(): Promise<void> {
    const heir = this.#heir;
    if (heir === null) throw new Error("it has not started");
    this.#network.away.clear();
    this.#awayMs.clear();
    this.#cutOffMs.clear();
    // Calls from the phase of faults may be granted only now, so end them twice.
    for (let turn = 0; turn < 2; turn++) {
      for (const call of this.judge.calls) if (call.tokens === null && !call.isDead) this.calls.end(call);
      await this.#pass(10_000);
    }
    await this.#pass(bounds.redisLeaseMs + 2 * this.#windowMs);
    if (this.#troubles !== null) await this.#checkEveryPlaceIsFree();
    const counters = [...this.#processes.values(), heir];
    const atRest = (): boolean =>
      this.#adoptions === 0 && this.#leaving.size === 0 && counters.every(({ isUp, unsent }) => isUp && unsent === 0);
    for (let step = 0; !atRest(); step++) {
      if (step > 5_000) throw new Error("some process does not become idle");
      await this.#move(20);
      this.#clock.advance(this.#troubles === null ? 5 : 50);
    }
    this.judge.isSuspended = false;
    this.#checkFaults();
  }

  /** Calls until each limit refuses. Returns how much of each limit is then in use. */
  async demand(): Promise<readonly number[]> {
    const used: number[] = [];
    for (const claim of this.calls.claimsOf(1)) {
      const processes = [...this.#processes.keys()];
      const process = processes[Math.floor(this.#chance.unit() * processes.length)] ?? 0;
      for (let answer = await this.#ask(process, claim); answer !== "limit"; ) answer = await this.#ask(process, claim);
      const held = this.judge.calls.filter(({ claims, tokens }) => claims.includes(claim) && tokens === null).length;
      used.push(claim.kind === "budget" ? held + this.calls.spent() : held);
    }
    this.#checkFaults();
    return used;
  }

  /**
   * Checks that the places of dead processes are free after their leases, even if nobody has adopted their journals.
   */
  async #checkEveryPlaceIsFree(): Promise<void> {
    const [process] = this.#processes.keys();
    const claim = gaugeClaim("g", this.calls.limits.gauge);
    const from = this.judge.calls.length;
    while ((await this.#ask(process ?? 0, claim)) !== "limit");
    const used = this.judge.calls.slice(from);
    if (used.length !== claim.limit) throw new Error(`${used.length} places of ${claim.limit} were free`);
    for (const call of used) this.calls.end(call);
    await this.#pass(1_000);
  }

  async #ask(process: number, claim: Claim): Promise<string> {
    for (let turn = 0; turn < 20; turn++) {
      const answer = await this.#until(this.calls.reserve(process, [claim]));
      if (answer.granted) return "granted";
      if (answer.reason === "limit") return "limit";
      await this.#until(this.calls.read(process));
    }
    throw new Error("the budget was never read");
  }

  close(): void {
    this.#heir?.close();
    for (const counter of this.#processes.values()) counter.close();
  }

  async #startOne(): Promise<void> {
    const counter = await this.#open();
    this.#processes.set(this.#started, counter);
  }

  async #open(): Promise<RedisCounter> {
    const process = ++this.#started;
    const offsetMs = Math.floor(this.#chance.unit() * 1e9);
    const counter = createRedisCounter({
      url: "redis://127.0.0.1:1",
      owner: ownerOf(process),
      clock: {
        now: () => this.#clock.now() + (this.#wallMs.get(process) ?? 0),
        monotonic: () => this.#clock.monotonic() + offsetMs,
        after: (ms, act) => this.#clock.after(ms, act),
      },
      ids: createIds(systemClock),
      observer: { log: () => undefined },
      namespace: this.#namespace,
      nowMs: () => this.#serverMs(),
      shares: { callsPerLimitMin: 1, callsMin: 3, syncMsMin: 0 },
      settled: () => this.#ledger.settled(process, () => this.#isAlive(process)),
      openLink: async () => this.#network.link(process),
    });
    return await this.#until(counter);
  }

  #isAlive(process: number): boolean {
    return process === heirProcess || this.#processes.has(process) || this.#leaving.has(process);
  }

  #serverMs(): number {
    return this.#clock.monotonic() - this.#backMs;
  }

  /** The actions of plain worlds. Their order must not change, or recorded seeds would play differently. */
  async #act(what: number): Promise<void> {
    const process = this.#someProcess();
    if (what < 0.62) this.calls.callSome(process);
    else if (what < 0.93) this.calls.endSome();
    else if (what < 0.955) this.#cut(process);
    else if (what < 0.962) this.#cutOff(process);
    else if (what < 0.985) await this.#pass(Math.floor(this.#chance.unit() * 8_000));
    else if (what < 0.992 && this.#processes.size > 1) {
      this.#kill(process);
      await this.#startOne();
    }
  }

  async #actWithTroubles(troubles: Troubles): Promise<void> {
    const process = this.#someProcess();
    const acts: readonly (readonly [rate: number, act: () => void | Promise<void>])[] = [
      [troubles.cut, () => this.#cut(process)],
      [troubles.outage, () => this.#cutOff(process)],
      [troubles.pass, () => this.#pass(Math.floor(this.#more.unit() * 8_000))],
      [troubles.death, () => this.#kill(process)],
      [troubles.leaving, () => this.#leave(process)],
      [troubles.edit, () => this.calls.edit()],
      [troubles.topUp, () => this.calls.topUpSome()],
      [troubles.emptying, () => this.#empty()],
      [troubles.wallJump, () => void this.#wallMs.set(process, Math.floor((this.#more.unit() - 0.5) * 7_200_000))],
      [troubles.setBack, () => this.#setBack()],
    ];
    for (const [rate, act] of acts) if (this.#more.unit() < rate) await act();
    while (this.#processes.size < 3) await this.#startOne();
    if (this.#more.unit() < 0.66) this.calls.callSome(this.#someProcess());
    // Load rises and falls in waves, so that limits are reached and left again.
    const isEbb = Math.floor(this.#clock.monotonic() / 3_000) % 2 === 0;
    if (this.#more.unit() < (isEbb ? 0.9 : 0.3)) this.calls.endSome();
  }

  #someProcess(): number {
    const processes = [...this.#processes.keys()];
    return processes[Math.floor(this.#chance.unit() * processes.length)] ?? 0;
  }

  #cut(process: number): void {
    this.#network.cut(process);
    this.#excuseRefusals(0);
  }

  #cutOff(process: number): void {
    this.#network.cut(process);
    this.#network.away.add(process);
    if (!this.#cutOffMs.has(process)) this.#cutOffMs.set(process, this.#clock.monotonic());
    this.#awayMs.set(process, this.#clock.monotonic() + Math.floor(this.#chance.unit() * this.#outageMsMax));
  }

  /** Ends a process and all its calls. */
  #kill(process: number): void {
    this.#network.cut(process);
    this.#network.away.delete(process);
    this.#awayMs.delete(process);
    this.#processes.get(process)?.close();
    this.#processes.delete(process);
    const nowMs = this.#clock.monotonic();
    for (const call of this.judge.calls) {
      if (call.process !== process) continue;
      call.isDead = true;
      call.deadMs ??= nowMs;
    }
    // Its shares expire with its lease; in a window they count until then.
    this.#excuseRefusals(bounds.redisLeaseMs);
    this.judge.excuseRefusals(nowMs + bounds.redisLeaseMs + this.#windowMs * 1.1, ["window"]);
    this.#scheduleAdoption(process);
  }

  #scheduleAdoption(process: number): void {
    this.#adoptions++;
    // Either before or after its lease expires.
    const leases = this.#troubles === null ? 1.5 : 4;
    this.#clock.after(Math.floor(this.#chance.unit() * leases * bounds.redisLeaseMs), () => void this.#adopt(process));
  }

  /** Closes open calls with a cost, stores all entries, and reports both to the counter. */
  async #adopt(process: number): Promise<void> {
    for (const call of this.judge.calls) {
      if (call.process !== process) continue;
      const budget = call.tokens === null ? call.claims.find(({ kind }) => kind === "budget") : undefined;
      if (budget !== undefined) {
        call.cost = Math.floor(budget.amount * this.#chance.unit());
        this.#ledger.note(process, { attemptId: call.id, amount: call.cost });
      }
      call.isAdopted = true;
    }
    this.#ledger.drain(process);
    await this.#heir?.invalidateSpending([{ key: "b", periodStart: 0 }]);
    await this.#heir?.shared?.releaseOwner(ownerOf(process), 0);
    this.#adoptions--;
    this.#excuseRefusals(0);
  }

  /** Shuts a process down in order: its calls end, and its shares are free at once. */
  #leave(process: number): void {
    const counter = this.#processes.get(process);
    if (counter === undefined || this.#network.away.has(process) || this.judge.isAsking(process)) return;
    for (const call of this.judge.calls) if (call.process === process && call.tokens === null) this.calls.end(call);
    this.#processes.delete(process);
    this.#leaving.add(process);
    void counter.leave(new AbortController().signal).then(() => {
      this.#leaving.delete(process);
      // The adopter of its journal reports the rest.
      if (counter.unsent > 0) this.#scheduleAdoption(process);
    });
  }

  /**
   * Redis loses all data. Ended calls are seeded from the ledger; until the calm, processes report the rest in any
   * order.
   */
  async #empty(): Promise<void> {
    await this.#fixture.type("FLUSHALL");
    this.judge.isSuspended = true;
  }

  #setBack(): void {
    this.#backMs += Math.floor(this.#more.unit() * 10_000);
    this.judge.excuseRefusals(this.#clock.monotonic() + this.#windowMs * 1.1, ["window"]);
  }

  /** Until shortly after `ms` from now, idle shares may be out of reach, so refusals are excused. */
  #excuseRefusals(ms: number): void {
    this.judge.excuseRefusals(this.#clock.monotonic() + ms + shareUnresponsiveMs + 1_000);
  }

  /** Slow or disconnected processes cannot be recalled in time. */
  #checkFaults(): void {
    if (this.calls.fault !== null) throw this.calls.fault;
    const isWhole = this.#network.away.size === 0 && [...this.#processes.values()].every(({ isUp }) => isUp);
    if (!isWhole || this.#troubles?.isQuick !== true) this.#excuseRefusals(0);
    if (this.#adoptions > 0) this.judge.excuseRefusals(this.#clock.monotonic() + 1_000, ["budget"]);
  }

  async #pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 500) {
      this.#clock.advance(Math.min(left, 500));
      await this.#move(this.#troubles === null ? 12 : deliverAll);
    }
  }

  /** Delivers up to `count` messages and runs what they trigger. */
  async #move(count: number): Promise<void> {
    for (const [process, backMs] of this.#awayMs) {
      if (this.#clock.monotonic() < backMs) continue;
      this.#awayMs.delete(process);
      this.#cutOffMs.delete(process);
      this.#network.away.delete(process);
    }
    for (let moved = 0; moved < count; moved++) {
      await turn();
      if (!(await this.#network.step())) break;
    }
    await turn();
  }

  async #until<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const watched = work.finally(() => (isDone = true));
    watched.catch(() => undefined);
    for (let step = 0; !isDone; step++) {
      if (step > 20_000)
        throw new Error(
          "the operation did not finish: " +
            JSON.stringify([...this.#processes].map(([n, c]) => [n, c.isUp, c.unsent, c.problem])),
        );
      await this.#move(3);
      if (!isDone) this.#clock.advance(1);
    }
    return watched;
  }
}

let worlds = 0;

/** More steps than there are ever messages in flight. */
const deliverAll = 500;

/** The number of the first process. */
const heirProcess = 1;

const ownerOf = (process: number): string => `proc_${process}`;

/** Lets microtasks and the real server's answers run. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
