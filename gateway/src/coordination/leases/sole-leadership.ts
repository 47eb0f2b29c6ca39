import { bounds, LastingFault, Sleeper } from "#core/index.ts";
import type { Clock, KeptLease, Lead, Leadership, Observer } from "#ports/index.ts";

export interface SoleLeadershipOptions {
  /** The id of this process. */
  readonly owner: string;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
}

/** Leadership where there is one process only: it leads everything, and asks nobody. Work of one name is still done once at a time. */
export function createSoleLeadership({ owner, clock, observer }: SoleLeadershipOptions): Leadership {
  const held = new Map<string, SoleLease>();
  const leads = new Set<Lead>();
  let fence = 0;
  let closed = false;
  const take = (name: string): SoleLease | null => {
    if (held.has(name)) return null;
    const lease = new SoleLease(name, owner, ++fence);
    held.set(name, lease);
    return lease;
  };
  const end = (lease: SoleLease): void => {
    held.delete(lease.name);
    lease.lose();
  };
  const once: Leadership["once"] = async (name, work) => {
    const lease = closed ? null : take(name);
    if (lease === null) return null;
    try {
      return { result: await work(lease) };
    } finally {
      end(lease);
    }
  };
  return {
    once,
    lead(name, work) {
      const sleeper = new Sleeper(clock);
      let stopped = closed;
      let leading: KeptLease | null = null;
      const fault = "Work of the whole installation failed.";
      const failing = new LastingFault({ clock, observer, level: "error", fault, over: null });
      const turn = (): Promise<unknown> =>
        once(name, async (lease) => {
          leading = lease;
          await work(lease);
        })
          .then(() => failing.passed())
          .catch((error: unknown) => {
            if (!stopped) failing.failed({ lease: name, error });
          })
          .finally(() => {
            leading = null;
          });
      const run = async (): Promise<void> => {
        while (!stopped) {
          await turn();
          if (!stopped) await sleeper.sleep(bounds.leaseRestMs);
        }
      };
      const running = run();
      const lead: Lead = {
        get isLeading() {
          return leading !== null;
        },
        async stop() {
          stopped = true;
          leads.delete(lead);
          if (leading !== null) held.get(name)?.lose();
          sleeper.end();
          await running;
        },
      };
      leads.add(lead);
      return lead;
    },
    async close() {
      closed = true;
      for (const lease of held.values()) lease.lose();
      await Promise.all([...leads].map((lead) => lead.stop()));
    },
  };
}

class SoleLease implements KeptLease {
  readonly name: string;
  readonly owner: string;
  readonly fence: number;
  readonly #lost = new AbortController();

  constructor(name: string, owner: string, fence: number) {
    this.name = name;
    this.owner = owner;
    this.fence = fence;
  }

  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  get isHeld(): boolean {
    return !this.#lost.signal.aborted;
  }

  lose(): void {
    this.#lost.abort(new Error(`The lease ${this.name} is no longer held: its work has ended, or is to end.`));
  }
}
