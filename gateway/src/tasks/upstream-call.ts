import { BoundedMap, bounds, defaultTimeouts, Failure, type Provider, Secret, type TaskAccount } from "#core/index.ts";
import type { RequestClocks } from "#provider-client/index.ts";

/** Of what may be asked at any time: a state, a list, a cancellation. */
export const pollClocks: RequestClocks = {
  connectMs: bounds.taskPollConnectMs,
  headersMs: bounds.taskPollHeadersMs,
  totalMs: bounds.taskPollTotalMs,
};

/** A signal that nobody gives: what it belongs to is bounded by its own clocks. */
export function ownSignal(): AbortSignal {
  return new AbortController().signal;
}

export function adapterGone(kind: string): Failure {
  return new Failure("internal_error", `Nothing here knows how the kind "${kind}" makes videos.`);
}

/** The account as it is when a task is sent, for the task's row. */
export function accountOf(provider: Provider): TaskAccount {
  return {
    providerId: provider.id,
    kind: provider.kind,
    baseUrl: provider.baseUrl,
    secret: provider.secret?.reveal() ?? null,
    settings: provider.settings,
    allowPrivateNetwork: provider.allowPrivateNetwork,
  };
}

/**
 * Accounts of rows as providers. Tasks of one account get one object, so that what is kept by provider (short-lived
 * tokens) is had once; the least recently used leave first.
 */
export class Accounts {
  readonly #known = new BoundedMap<string, Provider>(bounds.taskAccountsMax);

  providerOf(account: TaskAccount): Provider {
    const key = JSON.stringify(account);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const provider = asProvider(account);
    this.#known.set(key, provider);
    return provider;
  }
}

/** Its own clocks do not matter: polls have those of bounds. */
function asProvider({ providerId, kind, baseUrl, secret, settings, allowPrivateNetwork }: TaskAccount): Provider {
  return {
    id: providerId,
    kind,
    baseUrl,
    secret: secret === null ? null : new Secret(secret),
    allowPrivateNetwork,
    timeouts: { ...defaultTimeouts, connectMs: bounds.taskPollConnectMs, headersMs: bounds.taskPollHeadersMs },
    disconnect: "cancel",
    settings,
    enabled: true,
  };
}
