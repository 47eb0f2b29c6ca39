import { bounds, LastingFault, Sleeper, within } from "#core/index.ts";
import type { Clock, KeptLease, Lead, Leadership, Lease, Leases, Observer } from "#ports/index.ts";

/** How often a process without the lease checks whether it is free. */
export const leaseLookMs = 5_000;

interface LeadershipOptions {
  readonly leases: Pick<Leases, "take" | "renew" | "release">;
  /** The id of this process. */
  readonly owner: string;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
  readonly leaseMs?: number;
}

/** Leadership by leases in a database that several processes share. */
export function createLeadership(options: LeadershipOptions): Leadership {
  const leads = new Set<Lead>();
  const kept = new Set<RenewedLease>();
  let closed = false;

  const take = async (name: string): Promise<RenewedLease | null> => {
    const held = await takeKept(options, name);
    if (held === null) return null;
    kept.add(held);
    if (closed) held.lose("the process ends");
    return held;
  };
  const end = async (held: RenewedLease): Promise<void> => {
    kept.delete(held);
    await held.end();
  };
  return {
    async once(name, work) {
      if (closed) return null;
      const held = await take(name);
      if (held === null) return null;
      try {
        return { result: await work(held) };
      } finally {
        await end(held);
      }
    },
    lead(name, work) {
      if (closed) return { isLeading: false, stop: async () => undefined };
      const lead = takePart(options, name, work, { take, end });
      leads.add(lead);
      return {
        get isLeading() {
          return lead.isLeading;
        },
        async stop() {
          leads.delete(lead);
          await lead.stop();
        },
      };
    },
    async close() {
      closed = true;
      // What is done once ends by its signal; whoever asked for it waits for its end.
      for (const held of kept) held.lose("the process ends");
      await Promise.all([...leads].map((lead) => lead.stop()));
    },
  };
}

/** Leadership where there is one process only: it leads everything, and asks nobody. Work of one name is still done once at a time. */
export function createSoleLeadership(options: Omit<LeadershipOptions, "leases" | "leaseMs">): Leadership {
  const held = new Set<string>();
  let fence = 0;
  const leases: LeadershipOptions["leases"] = {
    async take(name, owner) {
      if (held.has(name)) return null;
      held.add(name);
      return { name, owner, fence: ++fence };
    },
    renew: async () => true,
    release: async ({ name }) => void held.delete(name),
  };
  return createLeadership({ ...options, leases, leaseMs: Number.POSITIVE_INFINITY });
}

interface Taking {
  take(name: string): Promise<RenewedLease | null>;
  end(held: RenewedLease): Promise<void>;
}

function takePart(
  { clock, observer }: LeadershipOptions,
  name: string,
  work: (lease: KeptLease) => Promise<void>,
  { take, end }: Taking,
): Lead {
  const sleeper = new Sleeper(clock);
  let stopped = false;
  let leading: RenewedLease | null = null;
  const fault = "Work of the whole installation failed.";
  const failing = new LastingFault({ clock, observer, level: "error", fault, over: null });

  /** How long to wait before the next look. */
  const turn = async (): Promise<number> => {
    const held = await take(name).catch((error: unknown) => {
      observer.log("debug", "A lease could not be asked for; trying again.", { lease: name, error });
      return null;
    });
    if (held === null) return leaseLookMs;
    if (stopped) held.lose("the process ends");
    leading = held;
    observer.log("debug", "This process has the lease.", { lease: name, fence: held.fence });
    try {
      if (held.isHeld) await work(held);
      failing.passed();
      return bounds.leaseRestMs;
    } catch (error) {
      // Work whose lease is lost ends anyhow.
      if (held.isHeld) failing.failed({ lease: name, error });
      return bounds.leaseRestMs;
    } finally {
      leading = null;
      await end(held);
    }
  };
  const run = async (): Promise<void> => {
    while (!stopped) {
      const restMs = await turn();
      if (!stopped) await sleeper.sleep(restMs);
    }
  };
  const running = run();
  return {
    get isLeading() {
      return leading?.isHeld === true;
    },
    async stop() {
      stopped = true;
      leading?.lose("it is given up");
      sleeper.end();
      await running;
    },
  };
}

/** Its time counts from before it was asked for: by then the database has not yet begun to count. */
async function takeKept(options: LeadershipOptions, name: string): Promise<RenewedLease | null> {
  const { leases, owner, clock, leaseMs = bounds.leaseMs } = options;
  const askedMs = clock.monotonic();
  const answer = leases.take(name, owner, leaseMs);
  let late = false;
  // Nobody keeps what comes too late.
  void answer
    .then(
      (lease) => (late && lease !== null ? leases.release(lease) : undefined),
      () => undefined,
    )
    .catch(() => undefined);
  const lease: Lease | null = await leaseAnswer(clock, answer).catch((error: unknown) => {
    late = true;
    throw error;
  });
  return lease === null ? null : new RenewedLease({ ...options, leaseMs }, lease, askedMs);
}

/** How long an answer about a lease is waited for. */
export const leaseAnswerMs = 4_000;
/** The holder stops this much before its lease ends: clocks differ, and work needs time to stop. */
export const leaseMarginMs = 2_000;

interface RenewedLeaseOptions {
  readonly leases: LeadershipOptions["leases"];
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
  /** Infinite: it is never renewed. */
  readonly leaseMs: number;
}

/** A lease in the hands of this process: renewed at each third of its time, and given up in time when that fails. */
class RenewedLease implements KeptLease {
  readonly name: string;
  readonly owner: string;
  readonly fence: number;
  readonly #options: RenewedLeaseOptions;
  readonly #lost = new AbortController();
  #heldUntilMs: number;
  #stopRenewal: () => void = () => {};
  #stopDoubt: () => void = () => {};
  #ended = false;

  constructor(options: RenewedLeaseOptions, { name, owner, fence }: Lease, askedMs: number) {
    this.name = name;
    this.owner = owner;
    this.fence = fence;
    this.#options = options;
    this.#heldUntilMs = askedMs + this.#believedMs;
    if (options.leaseMs === Number.POSITIVE_INFINITY) return;
    this.#doubtLater();
    this.#renewLater();
  }

  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  get isHeld(): boolean {
    if (this.#lost.signal.aborted) return false;
    if (this.#options.clock.monotonic() < this.#heldUntilMs) return true;
    this.lose("it was not renewed in time");
    return false;
  }

  lose(why: string): void {
    this.#stopRenewal();
    this.#stopDoubt();
    if (this.#lost.signal.aborted) return;
    this.#lost.abort(new Error(`The lease ${this.name} is no longer held: ${why}.`));
  }

  /** Others may have it. A release that cannot be told is left to its time. */
  async end(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    this.lose("its work has ended");
    const { leases, clock } = this.#options;
    await leaseAnswer(clock, leases.release(this)).catch(() => undefined);
  }

  get #believedMs(): number {
    const { leaseMs } = this.#options;
    return Math.max(leaseMs - leaseMarginMs, leaseMs / 2);
  }

  #renewLater(): void {
    const { clock, leaseMs } = this.#options;
    this.#stopRenewal = clock.after(leaseMs / 3, () => void this.#renew());
  }

  async #renew(): Promise<void> {
    const { leases, clock, observer, leaseMs } = this.#options;
    const askedMs = clock.monotonic();
    // By the database it may still be held; but work under it may have been told otherwise already.
    if (!this.isHeld) return;
    // Booked before the answer: one that is silent is asked again.
    this.#renewLater();
    try {
      const isRenewed = await leaseAnswer(clock, leases.renew(this, leaseMs));
      if (!isRenewed) {
        if (this.isHeld) observer.log("warn", "A lease was lost to another process.", { lease: this.name });
        this.lose("another process has it");
      } else if (this.isHeld) {
        this.#heldUntilMs = Math.max(this.#heldUntilMs, askedMs + this.#believedMs);
        this.#doubtLater();
      }
    } catch (error) {
      observer.log("debug", "A lease could not be renewed; trying again.", { lease: this.name, error });
    }
  }

  #doubtLater(): void {
    const { clock, observer } = this.#options;
    this.#stopDoubt();
    this.#stopDoubt = clock.after(this.#heldUntilMs - clock.monotonic(), () => {
      if (this.#lost.signal.aborted) return;
      observer.log("warn", "A lease could not be renewed in time; its work is left to others.", { lease: this.name });
      this.lose("it was not renewed in time");
    });
  }
}

/** Rejects when the database does not answer in time. */
function leaseAnswer<Result>(clock: Clock, answer: Promise<Result>): Promise<Result> {
  return within(clock, leaseAnswerMs, answer, () => {
    throw new Error(`There was no answer within ${leaseAnswerMs} ms.`);
  });
}
