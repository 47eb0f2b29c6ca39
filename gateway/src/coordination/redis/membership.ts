import { bounds, Sleeper } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import { AnswerWait, Unanswered } from "./answer-wait.ts";
import { DrainedUntil } from "./drained-until.ts";
import { EpochTelling, type MembershipParts, SeedingFailed } from "./epoch-telling.ts";
import { Lease, leaseEnded } from "./lease.ts";
import { MessageQueue } from "./message-queue.ts";
import { type RedisCounterOptions, redisVersionMin } from "./options.ts";
import { resetKey } from "./owner-scripts.ts";
import { RedisUnusable } from "./redis-address.ts";
import { isLasting, ofOthers, reasonOf } from "./redis-failure.ts";
import { RedisConnector, type RedisLink } from "./redis-link.ts";
import { isOperation, isStale, type Operation, runScript, type ScriptName } from "./scripts.ts";

/** The shortest time between two log lines about a Redis that does not answer. */
const redisTellMs = 10_000;
/** How often a process renews what it holds in Redis. */
export const redisRenewMs = 5_000;
/** How often others check whether an empty Redis has been filled. */
const redisSeedLookMs = 100;

/**
 * The part that one process has in a shared counter: its connection, the epoch it counts in, and the lease on what it holds.
 *
 * An *epoch* is one life of the counter's data: it begins under a lock with what the ledger knows, and ends when the data is
 * lost, or may be. A process that finds another epoch, or its own lease lapsed, tells the counter all that it holds anew, and
 * only then counts again. Meanwhile it is not up. A new epoch admits no call until every process with a lease has reported
 * what it holds and what the ledger does not have yet.
 */
export class Membership {
  readonly owner: string;
  readonly #options: RedisCounterOptions;
  readonly #clock: Clock;
  readonly #parts: MembershipParts;
  readonly #keys: { readonly epoch: string; readonly lock: string; readonly holder: string };
  #link: RedisLink | null = null;
  #epoch = "";
  #epochs = 0;
  /** How this process called the epoch that it was about to begin the last time. */
  #begun = "";
  #policy = "noeviction";
  #state: "joining" | "up" | "down" = "joining";
  #problem: string | null = null;
  #joining: Promise<void> | null = null;
  /** Ends early when a connection is there, and when all is closed. */
  readonly #sleeper: Sleeper;
  #stopTick: () => void = () => {};
  #stopWatch: () => void = () => {};
  /** The epoch that was told all; and whether one is being told, or was, by this joining. */
  #toldEpoch = "";
  #isTelling = false;
  readonly #telling: EpochTelling;
  #closed = false;
  readonly #lease = new Lease();
  readonly #drained: DrainedUntil;
  readonly #wait: AnswerWait;
  readonly #messages = new MessageQueue((epoch, told) => this.#run("message", [this.#keys.epoch], epoch, [told]));
  #toldMs = Number.NEGATIVE_INFINITY;
  #told = "";
  readonly #connector: RedisConnector;

  constructor(options: RedisCounterOptions, parts: MembershipParts) {
    this.#options = options;
    this.#clock = options.clock;
    this.#parts = parts;
    this.#sleeper = new Sleeper(options.clock);
    this.#wait = new AnswerWait(options.clock, options.answerMs);
    this.#drained = new DrainedUntil(options.clock, options.settled ?? null);
    this.#connector = new RedisConnector(options.url, options.clock);
    this.owner = options.owner ?? options.ids.next("proc_");
    const tag = `{${options.namespace ?? "sluice"}}`;
    this.#keys = { epoch: `${tag}:epoch`, lock: `${tag}:seeding`, holder: `${tag}:installation` };
    this.#telling = new EpochTelling({
      ...{ options, parts, owner: this.owner, keys: this.#keys, drained: this.#drained, messages: this.#messages },
      run: (script, keys, epoch, args) => this.#run(script, keys, epoch, args),
      exec: (script, keys, args) => this.#exec(script, keys, args),
    });
  }

  get isUp(): boolean {
    return this.#state === "up";
  }

  /** Whether what this process holds may be told, though others may not have told theirs yet. */
  get mayTell(): boolean {
    return this.isUp || this.#isTelling;
  }

  /** How often its data were found lost, or to be another server's. */
  get epochs(): number {
    return this.#epochs;
  }

  /** Why it is not up, in a line without secrets; null while it is. */
  get problem(): string | null {
    return this.#state === "up" ? null : (this.#problem ?? "it is being joined.");
  }

  get epoch(): string {
    return this.#epoch;
  }

  /** Whether the lease on what this process holds has not ended, by its own clock and with a margin. */
  holdsLease(atMs: number): boolean {
    return this.#lease.holds(atMs) && !this.#closed;
  }

  /** Places that calls keep though this process was away for longer than its lease; 0 while it holds. */
  get placesBeyondLease(): number {
    return this.#lease.isOver(this.#clock.monotonic()) ? this.#parts.places() : 0;
  }

  /** The list on which this process is asked for what it has leased and does not use. */
  get inboxKey(): string {
    return `${this.#keys.epoch.slice(0, -"epoch".length)}recalls:${this.owner}`;
  }

  /** One more connection. `onReady` is told when it is there again. */
  openLink(onReady: () => void): Promise<RedisLink> {
    return this.#options.openLink?.(onReady) ?? this.#connector.open(onReady);
  }

  /** Rejects with one clear line where no later try would do. A server that is away is tried until it is there. */
  async open(): Promise<void> {
    try {
      const renewedMs = await this.#enter(false);
      if (renewedMs === null) this.#rejoin("joining");
      else {
        this.#lease.renewed(renewedMs);
        this.#state = "up";
      }
    } catch (thrown) {
      if (thrown instanceof SeedingFailed || isLasting(thrown)) {
        this.close();
        const reason = reasonOf(thrown);
        throw new RedisUnusable(`The Redis of SLUICE_REDIS_URL, ${this.#connector.shown}, cannot be used: ${reason}`);
      }
      this.#lost(thrown);
    }
    this.#tickLater();
    this.#watchLater();
  }

  close(): void {
    this.#closed = true;
    this.#drained.close();
    this.#stopTick();
    this.#stopWatch();
    this.#sleeper.end();
    this.#link?.close();
  }

  /** Resolves to whether all that was settled before the call is in the ledger and `told`, once it is or the signal says so. */
  async allDrained(signal: AbortSignal, told: () => boolean): Promise<boolean> {
    await this.#drained.settled(signal);
    while (!told() && this.isUp && !signal.aborted) await this.#sleeper.sleep(redisSeedLookMs);
    return told() && this.isUp && !signal.aborted;
  }

  /** One question. Waits within its bound for a counter that is just being joined; rejects at once while it is down. */
  async ask(script: Operation | ScriptName, args: readonly string[]): Promise<readonly unknown[]> {
    if (this.#state === "joining") await this.#wait.bounded(this.#joining ?? Promise.resolve());
    if (this.#state !== "up") throw new Error("The shared counter does not answer.");
    const answer = await this.#asked(script, args);
    if (!isStale(answer)) return answer;
    this.#rejoin("joining");
    await this.#wait.bounded(this.#joining ?? Promise.resolve());
    const again = await this.#asked(script, args);
    if (isStale(again)) throw new Error("The shared counter was lost twice in a row.");
    return again;
  }

  /** The same for what is sent again by whoever asks: a stale answer is handed on. */
  async tell(script: Operation | ScriptName, args: readonly string[]): Promise<readonly unknown[]> {
    const answer = await this.#asked(script, args);
    if (isStale(answer)) this.#rejoin("joining");
    return answer;
  }

  async #asked(script: Operation | ScriptName, args: readonly string[]): Promise<readonly unknown[]> {
    try {
      if (isOperation(script)) return await this.#messages.ask(this.#epoch, script, args);
      this.#messages.flush();
      return await this.#run(script, [this.#keys.epoch], this.#epoch, args);
    } catch (thrown) {
      this.#lost(thrown);
      throw thrown;
    }
  }

  #lost(thrown: unknown): void {
    if (this.#closed) return;
    const reason = reasonOf(thrown);
    this.#problem = reason;
    const isNew = this.#state !== "down" || reason !== this.#told;
    const atMs = this.#clock.monotonic();
    if (isNew && atMs - this.#toldMs >= redisTellMs) {
      this.#toldMs = atMs;
      this.#told = reason;
      const text = "The shared counter of limits does not answer; each limit does what its `fail` says.";
      this.#options.observer.log("warn", text, { redis: this.#connector.shown, reason });
    }
    if (this.#state !== "down") this.#rejoin("down");
  }

  #rejoin(state: "joining" | "down"): void {
    if (this.#closed) return;
    this.#state = state;
    this.#isTelling = false;
    // While it is away, a lease holds; what was found to be over is over.
    if (state === "joining") this.#lease.doubt();
    this.#joining ??= this.#join().finally(() => {
      this.#joining = null;
    });
  }

  /** Tries until the counter is there again. */
  async #join(): Promise<void> {
    for (
      let waitMs: number = bounds.redisRetryMs;
      !this.#closed;
      waitMs = Math.min(waitMs * 2, bounds.redisRetryMsMax)
    ) {
      try {
        const renewedMs = await this.#enter(true);
        if (renewedMs === null) return;
        if (this.#state === "down")
          this.#options.observer.log("info", "The shared counter of limits answers again.", {});
        this.#state = "up";
        this.#isTelling = false;
        this.#parts.joined();
        this.#lease.renewed(renewedMs);
        return;
      } catch (thrown) {
        this.#lost(thrown);
        if (thrown instanceof Unanswered) {
          // Whose other end is gone without a word is dead for a quarter of an hour before the system says so: another is made.
          this.#link?.close();
          this.#link = null;
        }
        await this.#sleeper.sleep(waitMs);
      }
    }
  }

  /**
   * Finds the epoch, or begins one, and tells it what this process holds. Resolves to when its lease was asked for; null: others are
   * to tell what they hold first, and `waits` is false.
   */
  async #enter(waits: boolean): Promise<number | null> {
    await this.#connect();
    for (;;) {
      const name = this.#options.ids.next("ep_");
      const begun = this.#begun;
      this.#begun = name;
      const askedMs = this.#clock.monotonic();
      const [found, current, version, policy, serverMs] = await this.#telling.look(name, begun);
      if (Number.parseInt(String(version), 10) < redisVersionMin) {
        throw new RedisUnusable(`it is version ${version}, and ${redisVersionMin} or later is needed.`);
      }
      this.#drained.note(this.#options.nowMs?.() ?? Number(serverMs), askedMs);
      this.#seePolicy(String(policy));
      if (found === "others") throw new Error(ofOthers);
      const epoch = String(current);
      const isNew = epoch !== this.#toldEpoch;
      if (found === "ready" || (found === "gather" && isNew)) {
        const renewedMs = await this.#enterEpoch(epoch);
        if (isNew) {
          this.#isTelling = true;
          await this.#telling.tellAll(epoch);
          this.#toldEpoch = epoch;
        }
        if (found === "ready") {
          await this.#readPeers();
          return renewedMs;
        }
      } else if (found === "seed") await this.#telling.begin(epoch);
      else if (found === "gather" && !waits) return null;
      else await this.#sleeper.sleep(redisSeedLookMs);
      if (this.#closed) throw new Error("it is closed.");
    }
  }

  async #connect(): Promise<void> {
    this.#link = this.#connector.kept(this.#link);
    if (this.#link !== null || this.#closed) return;
    const link = await this.openLink(() => this.#sleeper.wake());
    if (this.#closed) link.close();
    else this.#link = link;
  }

  #seePolicy(policy: string): void {
    if (policy === this.#policy) return;
    this.#policy = policy;
    if (policy === "noeviction") return;
    const text = "The Redis of the limits may evict what they count; set its maxmemory-policy to noeviction.";
    this.#options.observer.log("warn", text, { redis: this.#connector.shown, policy });
  }

  async #enterEpoch(epoch: string): Promise<number> {
    if (this.#epoch !== "" && this.#epoch !== epoch) {
      const isReset = await this.#wasReset(this.#epoch, epoch);
      this.#lease.doubt();
      if (!isReset) this.#epochs++;
      const what = isReset
        ? "The shared counter of limits was reset to count the journal of a process that died"
        : "The shared counter of limits was emptied, restarted or replaced";
      const text = `${what}; it counts from what the ledger knows.`;
      this.#options.observer.log(isReset ? "info" : "warn", text, { redis: this.#connector.shown, epoch });
    }
    this.#epoch = epoch;
    const keys = [this.#keys.epoch];
    const renewedMs = this.#clock.monotonic();
    const [alive] = await this.#run("renew", keys, epoch, this.#renewArgs());
    if (alive === -1) throw new Error("its epoch ended at once.");
    if (alive !== 1) this.#lease.doubt();
    await this.#telling.restore(epoch);
    return renewedMs;
  }

  /** By one of us, on a server that has run ever since. */
  async #wasReset(ended: string, next: string): Promise<boolean> {
    const key = resetKey(this.#keys.epoch, ended);
    const asked = this.#link?.send(key, ["EXISTS", key]);
    const isMarked = (await this.#wait.answer(asked ?? Promise.resolve(0))) === 1;
    return isMarked && serverOf(ended) === serverOf(next);
  }

  #renewArgs(): readonly string[] {
    const mark = this.#drained.serverMark(this.#parts.untoldSinceMs());
    return [this.owner, String(bounds.redisLeaseMs), String(mark), String(this.#clock.now())];
  }

  #tickLater(): void {
    this.#stopTick = this.#clock.after(redisRenewMs, () => void this.#tick());
  }

  #watchLater(): void {
    this.#stopWatch = this.#clock.after(bounds.redisWatchMs, () => void this.#watch());
  }

  /** The others wait for this process when the counter has lost its data, so it looks soon, whoever calls. */
  async #watch(): Promise<void> {
    if (this.#closed) return;
    this.#watchLater();
    const places = this.#lease.hasJustEnded(this.#clock.monotonic()) ? this.#parts.places() : 0;
    if (places > 0) this.#options.observer.log("warn", leaseEnded, { redis: this.#connector.shown, places });
    this.#drained.drain((atMs) => this.#parts.drained(atMs));
    if (this.#state !== "up") return;
    try {
      const own = this.#epoch;
      if (!(await this.#readPeers()) && this.isUp && own === this.#epoch) this.#rejoin("joining");
    } catch (thrown) {
      this.#lost(thrown);
    }
  }

  /** Who else counts in this epoch; false: this process does not, since its lease is over or the data are lost. */
  async #readPeers(): Promise<boolean> {
    const { epoch } = this.#keys;
    const owners = `${epoch.slice(0, -"epoch".length)}${this.#epoch}:owners`;
    const asked = this.#link?.send(epoch, ["ZRANGE", owners, "0", "-1", "WITHSCORES"]);
    return this.#telling.sees(await this.#wait.answer(asked ?? Promise.resolve([])));
  }

  /** Renews the lease, and sees what nobody was asked about: that the server is another one now. */
  async #tick(): Promise<void> {
    if (this.#closed) return;
    this.#tickLater();
    if (this.#state !== "up") return;
    try {
      const own = this.#epoch;
      const askedMs = this.#clock.monotonic();
      const entering = this.#telling.look("", "");
      // Both leave in one writing. A renewal in an epoch that has ended is of no use, and harms nobody.
      const renewing = this.#run("renew", [this.#keys.epoch], own, this.#renewArgs());
      renewing.catch(() => undefined);
      const [found, current, , , serverMs] = await entering;
      this.#drained.note(this.#options.nowMs?.() ?? Number(serverMs), askedMs);
      // Those that come late to an epoch may still tell what they hold.
      if ((found === "ready" || found === "gather") && current === own) {
        if (!isStale(await renewing)) {
          this.#lease.renewed(askedMs);
          return;
        }
      }
      if (this.#state === "up") this.#rejoin("joining");
    } catch (thrown) {
      this.#lost(thrown);
    }
  }

  #run(
    script: ScriptName,
    keys: readonly string[],
    epoch: string,
    args: readonly string[],
  ): Promise<readonly unknown[]> {
    const nowMs = this.#options.nowMs?.();
    return this.#exec(script, keys, [epoch, nowMs === undefined ? "" : String(nowMs), ...args]);
  }

  async #exec(script: ScriptName, keys: readonly string[], args: readonly string[]): Promise<readonly unknown[]> {
    const link = this.#link;
    const sentMs = this.#clock.monotonic();
    if (link === null || this.#closed) throw new Error("it is closed.");
    const answer = await this.#wait.answer(runScript(link, script, keys, args));
    this.#options.onRoundTrip?.(this.#clock.monotonic() - sentMs);
    if (!Array.isArray(answer)) throw new Error("its answer is not one of our scripts'.");
    return answer;
  }
}

/** Of an epoch's name, which begins with the server's run and the history that it replicates. */
function serverOf(epoch: string): string {
  return epoch.split("-", 1)[0] ?? "";
}
