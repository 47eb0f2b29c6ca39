import {
  asFailure,
  type ConfigSnapshot,
  LastingFault,
  type Model,
  type Provider,
  Secret,
  within,
} from "#core/index.ts";
import {
  type CredentialContext,
  credentialContext,
  isReference,
  readReference,
  VaultSession,
} from "#credentials/index.ts";
import type { Clock, Observer, Transport, Workload } from "#ports/index.ts";
import { type ReadSecret, referencesOf, withSecrets } from "#providers/index.ts";

interface ReadState {
  value: string | null;
  problem: string;
  /** Monotonic milliseconds of the last read and the last good one. */
  triedMs: number;
  readMs: number;
  pending: Promise<void> | null;
}

interface SecretReferencesOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly workload: Workload;
}

/**
 * The secrets that providers name by reference. Reads each when it first appears and then every five minutes; while one
 * cannot be read, its last value stays. Every process reads for itself.
 */
export class SecretReferences {
  readonly #clock: Clock;
  readonly #context: CredentialContext;
  readonly #vault = new VaultSession();
  /** By reference; only those in use. */
  readonly #states = new Map<string, ReadState>();
  /** The providers of each reference. */
  #uses: ReadonlyMap<string, readonly { readonly id: string }[]> = new Map();
  #onChange: () => void = () => {};
  #fault: LastingFault | null = null;
  /** null: no check is scheduled. */
  #stop: (() => void) | null = null;
  readonly #closing = new AbortController();
  /** The number of `resolve` that wait, and will see every change. */
  #waiting = 0;

  constructor({ transport, clock, workload }: SecretReferencesOptions) {
    this.#clock = clock;
    this.#context = credentialContext({ transport, clock, workload, signal: this.#closing.signal });
  }

  /** The configuration with secrets in place of references. Waits for new ones, but no longer than `waitMs`. */
  async resolve(snapshot: ConfigSnapshot): Promise<ConfigSnapshot> {
    const uses = [...snapshot.providers.values()].flatMap((provider) =>
      [...referencesOf(provider).values()].map((reference) => ({ reference, id: provider.id })),
    );
    this.#uses = Map.groupBy(uses, ({ reference }) => reference);
    for (const reference of this.#states.keys()) if (!this.#uses.has(reference)) this.#states.delete(reference);
    if (uses.length === 0) return snapshot;
    this.#schedule();
    const fresh = [...this.#uses.keys()].filter((reference) => !this.#states.has(reference));
    this.#waiting++;
    await within(this.#clock, waitMs, Promise.all(fresh.map((reference) => this.#read(reference))), () => []);
    this.#waiting--;
    const providers = new Map(
      [...snapshot.providers].map(([id, provider]) => [id, withSecrets(provider, (one) => this.#secretOf(one))]),
    );
    const models = [...snapshot.models].map(([name, model]): [string, Model] => [
      name,
      withProviders(model, providers),
    ]);
    return Object.freeze({ ...snapshot, providers, models: new Map(models) });
  }

  /** Reads a secret that is rarely used now, if it is a reference. Throws the Failure of the step that failed. */
  async reveal(secret: Secret): Promise<Secret> {
    const text = secret.reveal().trim();
    return isReference(text) ? new Secret(await readReference(this.#context, text, this.#vault)) : secret;
  }

  /** Reads every reference on a schedule. `onChange` is called after a value changed, which needs a new `resolve`. */
  follow(observer: Pick<Observer, "log">, onChange: () => void): void {
    this.#onChange = onChange;
    const fault = "failed to read secret references; keeping their last values";
    const over = "secret references read after failures";
    this.#fault = new LastingFault({ clock: this.#clock, observer, level: "error", fault, over });
    this.#schedule();
  }

  /** The upstream refused an account's secret: reads its references again, unless that was seconds ago. */
  refused({ references = [] }: Provider): void {
    for (const reference of references) {
      const state = this.#states.get(reference);
      if (state !== undefined && this.#clock.monotonic() - state.triedMs >= rereadMs) void this.#read(reference);
    }
  }

  /** How many references were not read at the last attempt, and the age of the oldest value in milliseconds. */
  get numbers(): { readonly failing: number; readonly oldestMs: number } {
    const states = [...this.#states.values()];
    const read = states.filter(({ value }) => value !== null).map(({ readMs }) => this.#clock.monotonic() - readMs);
    return { failing: states.filter(({ problem }) => problem !== "").length, oldestMs: Math.max(0, ...read) };
  }

  close(): void {
    this.#closing.abort();
    this.#stop?.();
  }

  /** Checks the references on a schedule, as long as there are any. */
  #schedule(): void {
    if (this.#stop !== null || this.#fault === null || this.#closing.signal.aborted || this.#uses.size === 0) return;
    this.#stop = this.#clock.after(checkMs, () => {
      this.#stop = null;
      for (const [reference, state] of this.#states) if (this.#isDue(state)) void this.#read(reference);
      this.#schedule();
    });
  }

  #isDue({ problem, triedMs, pending }: ReadState): boolean {
    const everyMs = problem === "" ? readEveryMs : retryMs;
    return pending === null && this.#clock.monotonic() - triedMs >= everyMs;
  }

  #secretOf(reference: string): ReadSecret {
    const state = this.#states.get(reference);
    if (state?.value != null) return { value: state.value };
    return { problem: state === undefined || state.problem === "" ? notYet : state.problem };
  }

  /** Never rejects. */
  #read(reference: string): Promise<void> {
    const never = Number.NEGATIVE_INFINITY;
    const state = this.#states.get(reference) ?? {
      value: null,
      problem: "",
      triedMs: never,
      readMs: never,
      pending: null,
    };
    this.#states.set(reference, state);
    state.triedMs = this.#clock.monotonic();
    state.pending ??= this.#update(reference, state).finally(() => {
      state.pending = null;
    });
    return state.pending;
  }

  async #update(reference: string, state: ReadState): Promise<void> {
    const { value: before, problem: problemBefore } = state;
    try {
      state.value = await readReference(this.#context, reference, this.#vault);
      state.readMs = this.#clock.monotonic();
      state.problem = "";
    } catch (thrown) {
      state.problem = asFailure(thrown).message;
    }
    if (this.#closing.signal.aborted || !this.#states.has(reference)) return;
    this.#report();
    const isChanged = state.value !== before || (state.value === null && state.problem !== problemBefore);
    if (isChanged && this.#waiting === 0) this.#onChange();
  }

  /** Logs the ids of providers with unreadable secrets, never a reference, which has the place of a secret. */
  #report(): void {
    const failing = [...this.#states].filter(([, { problem }]) => problem !== "");
    if (failing.length === 0) {
      this.#fault?.succeeded();
      return;
    }
    const ids = failing.flatMap(([reference]) => this.#uses.get(reference)?.map(({ id }) => id) ?? []);
    this.#fault?.failed({ providers: [...new Set(ids)].slice(0, namedMax), reason: failing[0]?.[1].problem });
  }
}

function withProviders(model: Model, providers: ReadonlyMap<string, Provider>): Model {
  const deployments = model.deployments.map((deployment) => {
    const provider = providers.get(deployment.provider.id) ?? deployment.provider;
    return provider === deployment.provider ? deployment : Object.freeze({ ...deployment, provider });
  });
  return Object.freeze({ ...model, deployments: Object.freeze(deployments) });
}

const notYet = "A secret reference of the provider was not read yet.";
/** How long a new configuration waits for new references. */
const waitMs = 5_000;
const checkMs = 10_000;
/** Providers that a log line names. */
const namedMax = 20;
const readEveryMs = 5 * 60_000;
const retryMs = 30_000;
/** The least time between reads because an upstream refused the secret. */
const rereadMs = 30_000;
