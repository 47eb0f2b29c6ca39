import type { ConfigSnapshot } from "#core/index.ts";
import { matches } from "#identity/index.ts";

/** Whether calls of more than one workspace can reach an account, by what their grants say now. */
export function sharedAccounts(configSnapshot: () => ConfigSnapshot): (providerId: string) => boolean {
  /** By config snapshot: a change brings a new one. */
  const known = new WeakMap<ConfigSnapshot, Map<string, boolean>>();
  return (providerId) => {
    const now = configSnapshot();
    let answers = known.get(now);
    if (answers === undefined) {
      answers = new Map();
      known.set(now, answers);
    }
    let shared = answers.get(providerId);
    if (shared === undefined) {
      shared = isShared(now, providerId);
      answers.set(providerId, shared);
    }
    return shared;
  };
}

function isShared({ models, workspaces }: ConfigSnapshot, providerId: string): boolean {
  const names = [...models.values()]
    .filter(({ deployments }) => deployments.some(({ provider }) => provider.id === providerId))
    .map(({ name }) => name);
  let reaching = 0;
  for (const { models: patterns, passThrough } of workspaces.values()) {
    if (passThrough.includes(providerId) || names.some((name) => matches(patterns, name))) reaching++;
    if (reaching > 1) return true;
  }
  return false;
}
