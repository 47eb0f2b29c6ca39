import { createRedisCounter, type RedisCounter } from "#coordination/index.ts";
import { bounds } from "#core/index.ts";
import type { Chance, Claim, Refused, Reserved } from "#ports/index.ts";
import { createIds, systemClock } from "#system/index.ts";
import { budgetClaim, gaugeClaim, windowClaim } from "../conformance/counter-claims.ts";
import { FakeClock } from "../fake-clock.ts";
import { seededChance } from "../simulation/seeded-chance.ts";
import type { RedisGround } from "./redis-ground.ts";
import { SlowNetwork } from "./slow-network.ts";
import { WorldLedger } from "./world-ledger.ts";

const limit = 60;

/** One call as the world sees it. */
interface Call {
  readonly id: string;
  readonly process: number;
  readonly claims: readonly Claim[];
  admittedMs: number;
  /** What it used of the window at the end; null while it runs. */
  tokens: number | null;
  cost: number;
  reserved: Reserved | null;
  isDead: boolean;
  /** Its process is dead, and its journal taken over. */
  isAdopted: boolean;
}

/** Several processes on one Redis, with time, the network and death in the hands of a seed; and what must hold of all of them. */
export class ShareWorld {
  readonly #chance: Chance;
  readonly #clock = new FakeClock();
  readonly #namespace: string;
  readonly #network: SlowNetwork;
  readonly #processes = new Map<number, RedisCounter>();
  readonly #calls: Call[] = [];
  readonly #ranMs = new Map<string, number>();
  readonly #ledger: WorldLedger;
  /** Takes over journals of the dead. It is never cut off. */
  #heir: RedisCounter | null = null;
  /** Takings over that are still to come, or are being told. */
  #adoptions = 0;
  /** Who is cut off, and until when. */
  readonly #backMs = new Map<number, number>();
  readonly #outageMsMax: number;
  readonly #windowMs: number;
  #started = 0;
  refusals = 0;
  unasked = 0;

  constructor(ground: RedisGround, seed: number) {
    this.#namespace = `world-${seed}-${++worlds}`;
    this.#chance = seededChance(seed);
    // In every third world processes are cut off for longer than their lease. Then others get the places of what they still do,
    // as if they were dead; their windows and their money are exact all the same.
    this.#outageMsMax = seed % 3 === 0 ? 2 * bounds.redisLeaseMs : bounds.redisLeaseMs / 2;
    this.#windowMs = seed % 2 === 0 ? 60_000 : 6_000;
    this.#clock.advance(1_000_000);
    this.#ledger = new WorldLedger(this.#clock, this.#chance);
    this.#network = new SlowNetwork({
      chance: this.#chance,
      nowMs: () => this.#clock.monotonic(),
      type: (...words) => ground.type(...words),
      ran: (command) => {
        for (const id of idsIn(command[6] ?? "")) {
          if (!this.#ranMs.has(id)) this.#ranMs.set(id, this.#clock.monotonic());
        }
      },
    });
  }

  get admitted(): number {
    return this.#calls.length;
  }

  async start(count: number): Promise<void> {
    const heir = await this.#open();
    this.#heir = heir;
    for (let index = 0; index < count; index++) await this.#startOne();
    await this.#until(this.#ledger.read(heirProcess, heir, () => true));
  }

  /** A while of calls, with faults. */
  async storm(steps: number): Promise<void> {
    for (let step = 0; step < steps; step++) {
      await this.#act(this.#chance.unit());
      this.#clock.advance(Math.floor(this.#chance.unit() * 60));
      await this.#move(1 + Math.floor(this.#chance.unit() * 4));
    }
  }

  /** All is told, the dead have lapsed, their journals are taken over, and what they may have used has left its window. */
  async calm(): Promise<void> {
    const heir = this.#heir;
    if (heir === null) throw new Error("it has not started");
    this.#network.away.clear();
    this.#backMs.clear();
    // What was asked for in the storm may be granted only now.
    for (let turn = 0; turn < 2; turn++) {
      for (const call of this.#calls) if (call.tokens === null && !call.isDead) this.#end(call);
      await this.#pass(10_000);
    }
    await this.#pass(bounds.redisLeaseMs + 2 * this.#windowMs);
    const counters = [...this.#processes.values(), heir];
    const atRest = (): boolean => this.#adoptions === 0 && counters.every(({ isUp, untold }) => isUp && untold === 0);
    for (let step = 0; !atRest(); step++) {
      if (step > 5_000) throw new Error("some process does not come to rest");
      await this.#move(20);
      this.#clock.advance(5);
    }
  }

  /** One process asks until it is refused. Returns how much of each kind of limit is then taken by all. */
  async demand(): Promise<readonly number[]> {
    const taken: number[] = [];
    for (const claim of claimsOf(1, this.#windowMs)) {
      const processes = [...this.#processes.keys()];
      const process = processes[Math.floor(this.#chance.unit() * processes.length)] ?? 0;
      for (let answer = await this.#ask(process, claim); answer !== "limit"; ) answer = await this.#ask(process, claim);
      const held = this.#calls.filter(({ claims, tokens }) => claims.includes(claim) && tokens === null).length;
      taken.push(claim.kind === "budget" ? held + this.#spent() : held);
    }
    return taken;
  }

  async #ask(process: number, claim: Claim): Promise<string> {
    for (let turn = 0; turn < 20; turn++) {
      const answer = await this.#until(this.#call(process, [claim]));
      if (answer.granted) return "granted";
      if (answer.reason === "limit") return "limit";
      await this.#until(this.#read(process));
    }
    throw new Error("the budget does not come to be known");
  }

  #read(process: number): Promise<void> {
    const counter = this.#processes.get(process);
    if (counter === undefined) return Promise.resolve();
    return this.#ledger.read(process, counter, () => this.#processes.get(process) === counter);
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
        now: () => this.#clock.now(),
        monotonic: () => this.#clock.monotonic() + offsetMs,
        after: (ms, act) => this.#clock.after(ms, act),
      },
      ids: createIds(systemClock),
      observer: { log: () => undefined },
      namespace: this.#namespace,
      nowMs: () => this.#clock.monotonic(),
      shares: { callsPerLimitMin: 1, callsMin: 3, tellMsMin: 0 },
      settled: () => this.#ledger.settled(process, () => process === heirProcess || this.#processes.has(process)),
      openLink: async () => this.#network.link(process),
    });
    return await this.#until(counter);
  }

  async #act(what: number): Promise<void> {
    const processes = [...this.#processes.keys()];
    const process = processes[Math.floor(this.#chance.unit() * processes.length)] ?? 0;
    if (what < 0.62) {
      const claims = claimsOf(1 + Math.floor(this.#chance.unit() * 3), this.#windowMs);
      const from = Math.floor(this.#chance.unit() * 3);
      void this.#call(process, this.#chance.unit() < 0.5 ? claims : claims.slice(from, from + 1)).catch(
        () => undefined,
      );
    } else if (what < 0.93) {
      const running = this.#calls.filter(({ tokens, isDead }) => tokens === null && !isDead);
      const call = running[Math.floor(this.#chance.unit() * running.length)];
      if (call !== undefined) this.#end(call);
    } else if (what < 0.955) this.#network.cut(process);
    else if (what < 0.962) {
      this.#network.cut(process);
      this.#network.away.add(process);
      this.#backMs.set(process, this.#clock.monotonic() + Math.floor(this.#chance.unit() * this.#outageMsMax));
    } else if (what < 0.985) await this.#pass(Math.floor(this.#chance.unit() * 8_000));
    else if (what < 0.992 && processes.length > 1) {
      this.#kill(process);
      await this.#startOne();
    }
  }

  async #call(process: number, claims: readonly Claim[]): Promise<Reserved | Refused> {
    const id = `req_${this.#calls.length}_${Math.floor(this.#chance.unit() * 1e9)}`;
    const counter = this.#processes.get(process);
    if (counter === undefined) throw new Error("no such process");
    const answer = counter.reserve(claims, id, true);
    if (!(answer instanceof Promise)) this.unasked++;
    const settled = await answer;
    if (!settled.granted) {
      this.refusals++;
      if (settled.reason === "unknown") void this.#read(process);
      return settled;
    }
    const admittedMs = answer instanceof Promise ? (this.#ranMs.get(id) ?? Number.NaN) : this.#clock.monotonic();
    const isDead = this.#processes.get(process) !== counter;
    const call: Call = {
      id,
      process,
      claims,
      admittedMs,
      tokens: null,
      cost: 0,
      reserved: settled,
      isDead,
      isAdopted: false,
    };
    this.#calls.push(call);
    this.#check(admittedMs);
    return settled;
  }

  #end(call: Call): void {
    const counter = this.#processes.get(call.process);
    if (counter === undefined || call.reserved === null) return;
    const part = this.#chance.unit();
    const budget = call.claims.find(({ kind }) => kind === "budget");
    if (budget !== undefined) {
      call.cost = Math.floor(budget.amount * part);
      this.#ledger.note(call.process, { attemptId: call.id, amount: call.cost });
      void Promise.resolve(counter.spend("b", 0, { attemptId: call.id, amount: call.cost }));
    }
    call.tokens = Math.ceil((call.claims.find(({ kind }) => kind === "window")?.amount ?? 0) * part);
    void Promise.resolve(
      counter.settle(
        call.reserved.ticket,
        call.claims.map(() => call.tokens ?? 0),
      ),
    );
  }

  /** Its calls die with it. */
  #kill(process: number): void {
    this.#network.cut(process);
    this.#network.away.delete(process);
    this.#processes.get(process)?.close();
    this.#processes.delete(process);
    for (const call of this.#calls) if (call.process === process) call.isDead = true;
    this.#adoptions++;
    // Sometimes before its lease is over, sometimes after that.
    this.#clock.after(Math.floor(this.#chance.unit() * 1.5 * bounds.redisLeaseMs), () => void this.#adopt(process));
  }

  /** What was open is closed with what it may have cost, all of it is stored, and the counter is told so. */
  async #adopt(process: number): Promise<void> {
    for (const call of this.#calls) {
      if (call.process !== process) continue;
      const budget = call.tokens === null ? call.claims.find(({ kind }) => kind === "budget") : undefined;
      if (budget !== undefined) {
        call.cost = Math.floor(budget.amount * this.#chance.unit());
        this.#ledger.note(process, { attemptId: call.id, amount: call.cost });
      }
      call.isAdopted = true;
    }
    this.#ledger.drain(process);
    await this.#heir?.reread([{ key: "b", periodStart: 0 }]);
    await this.#heir?.shared?.adopted(ownerOf(process));
    this.#adoptions--;
  }

  /** Of no limit was more admitted than it allows, at this moment. */
  #check(atMs: number): void {
    const sums = { window: 0, gauge: 0, budget: 0 };
    for (const { claims, admittedMs, tokens, cost, isDead, isAdopted } of this.#calls) {
      const runs = tokens === null && !isDead;
      const holds = tokens === null && !isAdopted;
      for (const { kind, amount } of claims) {
        if (kind === "window" && admittedMs > atMs - this.#windowMs) sums.window += Math.min(amount, tokens ?? amount);
        if (kind === "gauge" && runs) sums.gauge += amount;
        // Money stays held until it is known what became of it.
        if (kind === "budget") sums.budget += holds ? amount : cost;
      }
    }
    for (const [kind, sum] of Object.entries(sums)) {
      if (kind === "gauge" && this.#outageMsMax > bounds.redisLeaseMs) continue;
      if (sum > limit) throw new Error(`${sum} of ${limit} were admitted by a ${kind}`);
    }
  }

  #spent(): number {
    return this.#calls.reduce((sum, { cost }) => sum + cost, 0);
  }

  async #pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 500) {
      this.#clock.advance(Math.min(left, 500));
      await this.#move(12);
    }
  }

  /** So many messages, and what they set going. */
  async #move(count: number): Promise<void> {
    for (const [process, backMs] of this.#backMs) {
      if (this.#clock.monotonic() < backMs) continue;
      this.#backMs.delete(process);
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
      if (step > 20_000) throw new Error("it does not come to an end");
      await this.#move(3);
      if (!isDone) this.#clock.advance(1);
    }
    return watched;
  }
}

let worlds = 0;

/** The number of the process that starts first. */
const heirProcess = 1;

const ownerOf = (process: number): string => `proc_${process}`;

/** A microtask's row, and the real server's answers. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const claimsOf = (amount: number, windowMs: number): readonly Claim[] => [
  { ...windowClaim("w", limit, amount), windowMs },
  gaugeClaim("g", limit),
  budgetClaim("b", limit, amount),
];

/** A message is a list of operations, whose third word may be the id of a reservation; other scripts have it in this place. */
function idsIn(word: string): readonly string[] {
  if (!word.startsWith("[")) return [word];
  return (JSON.parse(word) as readonly (readonly string[])[]).map((operation) => operation[2] ?? "");
}
