import { bounds, Sleeper } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import { EpochReporter, type ProcessHoldings, SeedingFailed } from "./epoch-reporter.ts";
import { Lease, leaseEndedMessage } from "./lease.ts";
import { LedgerProgress } from "./ledger-progress.ts";
import { MessageQueue } from "./message-queue.ts";
import { type RedisCounterOptions, redisVersionMin } from "./options.ts";
import { resetKey } from "./owner-scripts.ts";
import { RedisUnusable } from "./redis-address.ts";
import { isPermanent, notOurScript, otherInstallationReason, redisFailureReason } from "./redis-failure.ts";
import { RedisConnector, type RedisLink } from "./redis-link.ts";
import { ResponseTimeout, ResponseTimeoutError } from "./response-timeout.ts";
import { isOperation, isStale, type Operation, runScript, type ScriptName } from "./scripts.ts";

/** The shortest time between two log lines about an unreachable Redis. */
const redisLogMs = 10_000;
/** How often the lease is renewed. */
export const redisRenewMs = 5_000;
/** How often a process polls while another one seeds Redis. */
const redisSeedPollMs = 100;

/**
 * This process's membership in the shared counter: its connection, the epoch it counts in, and the lease on what it holds.
 *
 * An *epoch* is one lifetime of the data in Redis. One process seeds it from the ledger, under a lock; it ends when the data is lost,
 * or may be. It admits calls only after every live process has reported what it holds and what the ledger lacks.
 *
 * States, and what each means for a call that needs Redis:
 * - joining (the initial state): finds or seeds the epoch and reports what this process holds. The call waits, within a bound. Success
 *   leads to `up`, a failed request to `down`.
 * - up: the call is sent. A stale answer (epoch ended, lease lapsed) leads to `joining`, a failed request to `down`.
 * - down: Redis does not answer, and each limit's `fail` decides whether the call is admitted. Joining is retried with backoff until
 *   it leads to `up`.
 *
 * States of the lease, which is renewed every `redisRenewMs` and decides whether a call may be admitted from local shares:
 * - held: it may, even while the state is `down`.
 * - suspended: it may not until this process has joined again, because the epoch changed or the lease lapsed on the server.
 * - ended: it may not, because the lease was not renewed in time and other processes may be granted what this one holds.
 */
export class Membership {
  readonly owner: string;
  readonly #options: RedisCounterOptions;
  readonly #clock: Clock;
  readonly #holdings: ProcessHoldings;
  readonly #keys: { readonly epoch: string; readonly lock: string; readonly holder: string };
  #link: RedisLink | null = null;
  #epoch = "";
  #epochs = 0;
  /** The name that this process last proposed for a new epoch. */
  #proposedEpoch = "";
  #policy = "noeviction";
  #state: "joining" | "up" | "down" = "joining";
  #problem: string | null = null;
  #joining: Promise<void> | null = null;
  /** Woken by a new connection and by `close`. */
  readonly #sleeper: Sleeper;
  #stopRenewal: () => void = () => {};
  #stopCheck: () => void = () => {};
  /** The epoch that has this process's report. */
  #reportedEpoch = "";
  /** The current attempt to join has started to report. */
  #isReporting = false;
  readonly #reporter: EpochReporter;
  #closed = false;
  readonly #lease = new Lease();
  readonly #ledgerProgress: LedgerProgress;
  readonly #wait: ResponseTimeout;
  readonly #messages = new MessageQueue((epoch, operations) =>
    this.#run("message", [this.#keys.epoch], epoch, [operations]),
  );
  #loggedMs = Number.NEGATIVE_INFINITY;
  #loggedReason = "";
  readonly #connector: RedisConnector;

  constructor(options: RedisCounterOptions, parts: ProcessHoldings) {
    this.#options = options;
    this.#clock = options.clock;
    this.#holdings = parts;
    this.#sleeper = new Sleeper(options.clock);
    this.#wait = new ResponseTimeout(options.clock, options.answerMs);
    this.#ledgerProgress = new LedgerProgress(options.clock, options.settled ?? null);
    this.#connector = new RedisConnector(options.url, options.clock);
    this.owner = options.owner ?? options.ids.next("proc_");
    const tag = `{${options.namespace ?? "sluice"}}`;
    this.#keys = { epoch: `${tag}:epoch`, lock: `${tag}:seeding`, holder: `${tag}:installation` };
    this.#reporter = new EpochReporter({
      ...{
        options,
        parts,
        owner: this.owner,
        keys: this.#keys,
        ledgerProgress: this.#ledgerProgress,
        messages: this.#messages,
      },
      run: (script, keys, epoch, args) => this.#run(script, keys, epoch, args),
      exec: (script, keys, args) => this.#exec(script, keys, args),
    });
  }

  get isUp(): boolean {
    return this.#state === "up";
  }

  /** True also while this process reports to a new epoch. */
  get canSend(): boolean {
    return this.isUp || this.#isReporting;
  }

  get epochs(): number {
    return this.#epochs;
  }

  get problem(): string | null {
    return this.#state === "up" ? null : (this.#problem ?? "connecting.");
  }

  get epoch(): string {
    return this.#epoch;
  }

  holdsLease(atMs: number): boolean {
    return this.#lease.holds(atMs) && !this.#closed;
  }

  get slotsBeyondLease(): number {
    return this.#lease.hasEnded(this.#clock.monotonic()) ? this.#holdings.slots() : 0;
  }

  /** The list that recalls for this process are pushed to. */
  get inboxKey(): string {
    return `${this.#keys.epoch.slice(0, -"epoch".length)}recalls:${this.owner}`;
  }

  /** Opens another connection. `onReady` is called after each reconnect. */
  openLink(onReady: () => void): Promise<RedisLink> {
    return this.#options.openLink?.(onReady) ?? this.#connector.open(onReady);
  }

  /** Rejects with RedisUnusable if retrying is pointless. */
  async open(): Promise<void> {
    try {
      const renewedMs = await this.#enter(false);
      if (renewedMs === null) this.#rejoin("joining");
      else {
        this.#lease.renewed(renewedMs);
        this.#state = "up";
      }
    } catch (thrown) {
      if (thrown instanceof SeedingFailed || isPermanent(thrown)) {
        this.close();
        const reason = redisFailureReason(thrown);
        throw new RedisUnusable(`Cannot use the Redis of SLUICE_REDIS_URL, ${this.#connector.displayUrl}: ${reason}`);
      }
      this.#onFailure(thrown);
    }
    this.#scheduleRenewal();
    this.#scheduleCheck();
  }

  close(): void {
    this.#closed = true;
    this.#ledgerProgress.close();
    this.#stopRenewal();
    this.#stopCheck();
    this.#sleeper.end();
    this.#link?.close();
  }

  /** Waits until everything settled before the call is in the ledger and sent. False: the signal ended the wait, or Redis is down. */
  async allDrained(signal: AbortSignal, isSent: () => boolean): Promise<boolean> {
    await this.#ledgerProgress.settled(signal);
    while (!isSent() && this.isUp && !signal.aborted) await this.#sleeper.sleep(redisSeedPollMs);
    return isSent() && this.isUp && !signal.aborted;
  }

  /** Sends a request. After a stale answer it joins again and resends the request once. Rejects at once while Redis is down. */
  async request(script: Operation | ScriptName, args: readonly string[]): Promise<readonly unknown[]> {
    if (this.#state === "joining") await this.#wait.limit(this.#joining ?? Promise.resolve());
    if (this.#state !== "up") throw new Error("Redis does not respond.");
    const answer = await this.#send(script, args);
    if (!isStale(answer)) return answer;
    this.#rejoin("joining");
    await this.#wait.limit(this.#joining ?? Promise.resolve());
    const again = await this.#send(script, args);
    if (isStale(again)) throw new Error("Redis lost its data twice in a row.");
    return again;
  }

  /** Like `request`, but sends once in any state and returns a stale answer, for callers that resend on their own. */
  async trySend(script: Operation | ScriptName, args: readonly string[]): Promise<readonly unknown[]> {
    const answer = await this.#send(script, args);
    if (isStale(answer)) this.#rejoin("joining");
    return answer;
  }

  async #send(script: Operation | ScriptName, args: readonly string[]): Promise<readonly unknown[]> {
    try {
      if (isOperation(script)) return await this.#messages.request(this.#epoch, script, args);
      this.#messages.flush();
      return await this.#run(script, [this.#keys.epoch], this.#epoch, args);
    } catch (thrown) {
      this.#onFailure(thrown);
      throw thrown;
    }
  }

  #onFailure(thrown: unknown): void {
    if (this.#closed) return;
    const reason = redisFailureReason(thrown);
    this.#problem = reason;
    const isNew = this.#state !== "down" || reason !== this.#loggedReason;
    const atMs = this.#clock.monotonic();
    if (isNew && atMs - this.#loggedMs >= redisLogMs) {
      this.#loggedMs = atMs;
      this.#loggedReason = reason;
      const text = "Redis unavailable; applying each limit's `fail` setting.";
      this.#options.observer.log("warn", text, { redis: this.#connector.displayUrl, reason });
    }
    if (this.#state !== "down") this.#rejoin("down");
  }

  #rejoin(state: "joining" | "down"): void {
    if (this.#closed) return;
    this.#state = state;
    this.#isReporting = false;
    // A stale answer means that Redis may have given away what this process holds. A lost connection does not.
    if (state === "joining") this.#lease.suspend();
    this.#joining ??= this.#join().finally(() => {
      this.#joining = null;
    });
  }

  async #join(): Promise<void> {
    for (
      let waitMs: number = bounds.redisRetryMs;
      !this.#closed;
      waitMs = Math.min(waitMs * 2, bounds.redisRetryMsMax)
    ) {
      try {
        const renewedMs = await this.#enter(true);
        if (renewedMs === null) return;
        if (this.#state === "down") this.#options.observer.log("info", "Redis available again", {});
        this.#state = "up";
        this.#isReporting = false;
        this.#holdings.onJoined();
        this.#lease.renewed(renewedMs);
        return;
      } catch (thrown) {
        this.#onFailure(thrown);
        if (thrown instanceof ResponseTimeoutError) {
          // The operating system takes up to a quarter of an hour to notice a dead connection: reconnect.
          this.#link?.close();
          this.#link = null;
        }
        await this.#sleeper.sleep(waitMs);
      }
    }
  }

  /**
   * Finds or seeds the epoch and reports what this process holds. Resolves to the time from which the lease counts, or to null if
   * other processes have to report first and `waits` is false.
   */
  async #enter(waits: boolean): Promise<number | null> {
    await this.#connect();
    for (;;) {
      const name = this.#options.ids.next("ep_");
      const previousName = this.#proposedEpoch;
      this.#proposedEpoch = name;
      const requestedMs = this.#clock.monotonic();
      const [found, current, version, policy, serverMs] = await this.#reporter.enter(name, previousName);
      if (Number.parseInt(String(version), 10) < redisVersionMin) {
        throw new RedisUnusable(`version ${version} is too old; use ${redisVersionMin} or later.`);
      }
      this.#ledgerProgress.recordServerTime(this.#options.nowMs?.() ?? Number(serverMs), requestedMs);
      this.#checkEvictionPolicy(String(policy));
      if (found === "others") throw new Error(otherInstallationReason);
      const epoch = String(current);
      const isNew = epoch !== this.#reportedEpoch;
      if (found === "ready" || (found === "gather" && isNew)) {
        const renewedMs = await this.#enterEpoch(epoch);
        if (isNew) {
          this.#isReporting = true;
          await this.#reporter.report(epoch);
          this.#reportedEpoch = epoch;
        }
        if (found === "ready") {
          await this.#readPeers();
          return renewedMs;
        }
      } else if (found === "seed") await this.#reporter.seed(epoch);
      else if (found === "gather" && !waits) return null;
      else await this.#sleeper.sleep(redisSeedPollMs);
      if (this.#closed) throw new Error("it is closed.");
    }
  }

  async #connect(): Promise<void> {
    this.#link = this.#connector.keepIfCurrent(this.#link);
    if (this.#link !== null || this.#closed) return;
    const link = await this.openLink(() => this.#sleeper.wake());
    if (this.#closed) link.close();
    else this.#link = link;
  }

  #checkEvictionPolicy(policy: string): void {
    if (policy === this.#policy) return;
    this.#policy = policy;
    if (policy === "noeviction") return;
    const text = "Redis may evict limit counters; set its maxmemory-policy to noeviction.";
    this.#options.observer.log("warn", text, { redis: this.#connector.displayUrl, policy });
  }

  async #enterEpoch(epoch: string): Promise<number> {
    if (this.#epoch !== "" && this.#epoch !== epoch) {
      const isReset = await this.#wasReset(this.#epoch, epoch);
      this.#lease.suspend();
      if (!isReset) this.#epochs++;
      const text = isReset
        ? "Shared limit counters were reset to include the journal of a dead process; seeding them from the ledger."
        : "Redis lost its data (emptied, restarted or replaced); seeding limit counters from the ledger.";
      this.#options.observer.log(isReset ? "info" : "warn", text, { redis: this.#connector.displayUrl, epoch });
    }
    this.#epoch = epoch;
    const keys = [this.#keys.epoch];
    const renewedMs = this.#clock.monotonic();
    const [alive] = await this.#run("renew", keys, epoch, this.#renewArgs());
    if (alive === -1) throw new Error("the epoch ended at once.");
    if (alive !== 1) this.#lease.suspend();
    await this.#reporter.restore(epoch);
    return renewedMs;
  }

  /** Whether a gateway ended the epoch on purpose, and the server has run since. */
  async #wasReset(ended: string, next: string): Promise<boolean> {
    const key = resetKey(this.#keys.epoch, ended);
    const asked = this.#link?.send(key, ["EXISTS", key]);
    const isMarked = (await this.#wait.response(asked ?? Promise.resolve(0))) === 1;
    return isMarked && serverOfEpoch(ended) === serverOfEpoch(next);
  }

  #renewArgs(): readonly string[] {
    const mark = this.#ledgerProgress.serverMark(this.#holdings.unsentSinceMs());
    return [this.owner, String(bounds.redisLeaseMs), String(mark), String(this.#clock.now())];
  }

  #scheduleRenewal(): void {
    this.#stopRenewal = this.#clock.after(redisRenewMs, () => void this.#renewLease());
  }

  #scheduleCheck(): void {
    this.#stopCheck = this.#clock.after(bounds.redisWatchMs, () => void this.#checkEpoch());
  }

  /** Runs often, because after a data loss all processes wait for the report of this one. */
  async #checkEpoch(): Promise<void> {
    if (this.#closed) return;
    this.#scheduleCheck();
    const places = this.#lease.hasJustEnded(this.#clock.monotonic()) ? this.#holdings.slots() : 0;
    if (places > 0)
      this.#options.observer.log("warn", leaseEndedMessage, { redis: this.#connector.displayUrl, places });
    this.#ledgerProgress.drain((atMs) => this.#holdings.onDrained(atMs));
    if (this.#state !== "up") return;
    try {
      const own = this.#epoch;
      if (!(await this.#readPeers()) && this.isUp && own === this.#epoch) this.#rejoin("joining");
    } catch (thrown) {
      this.#onFailure(thrown);
    }
  }

  /** Reads the members of this epoch; false: this process is not one any more. */
  async #readPeers(): Promise<boolean> {
    const { epoch } = this.#keys;
    const owners = `${epoch.slice(0, -"epoch".length)}${this.#epoch}:owners`;
    const asked = this.#link?.send(epoch, ["ZRANGE", owners, "0", "-1", "WITHSCORES"]);
    return this.#reporter.readPeers(await this.#wait.response(asked ?? Promise.resolve([])));
  }

  /** Renews the lease and checks that the epoch is still the same. */
  async #renewLease(): Promise<void> {
    if (this.#closed) return;
    this.#scheduleRenewal();
    if (this.#state !== "up") return;
    try {
      const own = this.#epoch;
      const requestedMs = this.#clock.monotonic();
      const entering = this.#reporter.enter("", "");
      // Sent together. A renewal in an epoch that has ended does nothing.
      const renewing = this.#run("renew", [this.#keys.epoch], own, this.#renewArgs());
      renewing.catch(() => undefined);
      const [found, current, , , serverMs] = await entering;
      this.#ledgerProgress.recordServerTime(this.#options.nowMs?.() ?? Number(serverMs), requestedMs);
      // In a "gather" phase, processes that joined late may still report.
      if ((found === "ready" || found === "gather") && current === own) {
        if (!isStale(await renewing)) {
          this.#lease.renewed(requestedMs);
          return;
        }
      }
      if (this.#state === "up") this.#rejoin("joining");
    } catch (thrown) {
      this.#onFailure(thrown);
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
    if (link === null || this.#closed) throw new Error("the connection is closed.");
    const answer = await this.#wait.response(runScript(link, script, keys, args));
    this.#options.onRoundTrip?.(this.#clock.monotonic() - sentMs);
    if (!Array.isArray(answer)) throw new Error(notOurScript);
    return answer;
  }
}

/** The first part of an epoch's name: the server's run id and replication id. */
function serverOfEpoch(epoch: string): string {
  return epoch.split("-", 1)[0] ?? "";
}
