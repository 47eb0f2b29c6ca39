import { createHash, timingSafeEqual } from "node:crypto";
import { finalTaskStates } from "#core/index.ts";
import type { TaskDependencies } from "../dependencies.ts";
import { videoKindOf } from "../video-lanes.ts";

/** Where an upstream may say that something happened with a task; null when it could not reach us. */
export function upstreamCallbackUrl(
  { publicUrl, secrets }: Pick<TaskDependencies, "publicUrl" | "secrets">,
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
  dependencies: TaskDependencies,
  taskId: string,
  token: string,
  readBody: () => Promise<Uint8Array>,
): Promise<boolean> {
  const { store, secrets, clock } = dependencies;
  if (!secrets.callbackTokens(taskId).some((right) => sameText(token, right))) return false;
  const task = await store.findById(taskId);
  if (task?.account == null) return false;
  if (finalTaskStates.has(task.state)) return true;
  const told = videoKindOf(task.account.kind)?.adapter.readCallback?.(await readBody()) ?? null;
  if (told !== null && task.upstreamId !== null && told.upstreamId !== task.upstreamId) return false;
  await store.hurry(taskId, clock.now());
  return true;
}

function sameText(given: string, wanted: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return wanted !== "" && timingSafeEqual(digest(given), digest(wanted));
}
