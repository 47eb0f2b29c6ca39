import {
  BoundedMap,
  bounds,
  defaultTimeouts,
  Failure,
  finalTaskStates,
  isSameText,
  type Provider,
  Secret,
  type TaskAccount,
} from "#core/index.ts";
import type { RequestClocks } from "#provider-client/index.ts";
import type { VideoTasksOptions } from "./options.ts";
import { videoKindOf } from "./video-lanes.ts";

/** Bounds of a poll, a list or a cancellation. */
export const pollClocks: RequestClocks = {
  connectMs: bounds.taskPollConnectMs,
  headersMs: bounds.taskPollHeadersMs,
  totalMs: bounds.taskPollTotalMs,
};

/** For requests that only their own timeouts may end. */
export function neverAborted(): AbortSignal {
  return new AbortController().signal;
}

export function noVideoAdapter(kind: string): Failure {
  return new Failure("internal_error", `The provider type "${kind}" makes no videos.`);
}

export function taskAccountOf(provider: Provider): TaskAccount {
  return {
    providerId: provider.id,
    kind: provider.kind,
    baseUrl: provider.baseUrl,
    secret: provider.secret?.reveal() ?? null,
    settings: provider.settings,
    allowPrivateNetwork: provider.allowPrivateNetwork,
  };
}

/** Providers for the accounts in task rows. Tasks of one account share one object, and so its short-lived tokens. */
export class AccountProviders {
  readonly #providers = new BoundedMap<string, Provider>(bounds.taskAccountsMax);

  providerOf(account: TaskAccount): Provider {
    const key = JSON.stringify(account);
    const cached = this.#providers.get(key);
    if (cached !== undefined) return cached;
    const provider = asProvider(account);
    this.#providers.set(key, provider);
    return provider;
  }
}

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

/** The callback URL for an upstream; null: the gateway has no public URL. */
export function upstreamCallbackUrl(
  { publicUrl, secrets }: Pick<VideoTasksOptions, "publicUrl" | "secrets">,
  taskId: string,
): string | null {
  if (publicUrl === null) return null;
  return `${publicUrl}/v1/video/callbacks/${taskId}/${encodeURIComponent(secrets.callbackToken(taskId))}`;
}

/**
 * Handles a callback of an upstream: the task becomes due now. Callbacks are unsigned and may be late, repeated or missing,
 * so their content changes nothing else. The body is read only with a valid token and an open task. False: not accepted.
 */
export async function handleCallback(
  { store, secrets, clock }: Pick<VideoTasksOptions, "store" | "secrets" | "clock">,
  taskId: string,
  token: string,
  readBody: () => Promise<Uint8Array>,
): Promise<boolean> {
  if (!secrets.callbackTokens(taskId).some((valid) => valid !== "" && isSameText(token, valid))) return false;
  const task = await store.findById(taskId);
  if (task?.account == null) return false;
  if (finalTaskStates.has(task.state)) return true;
  const callback = videoKindOf(task.account.kind)?.adapter.readCallback?.(await readBody()) ?? null;
  if (callback !== null && task.upstreamId !== null && callback.upstreamId !== task.upstreamId) return false;
  await store.makeDueNow(taskId, clock.now());
  return true;
}
