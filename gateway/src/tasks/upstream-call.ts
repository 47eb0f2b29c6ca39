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

/** Where an upstream may say that something happened with a task; null when it could not reach us. */
export function upstreamCallbackUrl(
  { publicUrl, secrets }: Pick<VideoTasksOptions, "publicUrl" | "secrets">,
  taskId: string,
): string | null {
  if (publicUrl === null) return null;
  return `${publicUrl}/v1/video/callbacks/${taskId}/${encodeURIComponent(secrets.callbackToken(taskId))}`;
}

/**
 * An upstream says that something happened. Whatever it says, the task is only looked at sooner: nobody signs these
 * messages, and they come twice, late, or never. Its body is read only when the token is right and the task still runs.
 * False for what is not to be heard.
 */
export async function takeHint(
  { store, secrets, clock }: Pick<VideoTasksOptions, "store" | "secrets" | "clock">,
  taskId: string,
  token: string,
  readBody: () => Promise<Uint8Array>,
): Promise<boolean> {
  if (!secrets.callbackTokens(taskId).some((right) => right !== "" && isSameText(token, right))) return false;
  const task = await store.findById(taskId);
  if (task?.account == null) return false;
  if (finalTaskStates.has(task.state)) return true;
  const told = videoKindOf(task.account.kind)?.adapter.readCallback?.(await readBody()) ?? null;
  if (told !== null && task.upstreamId !== null && told.upstreamId !== task.upstreamId) return false;
  await store.hurry(taskId, clock.now());
  return true;
}
