import type { Principal } from "#core/index.ts";

/**
 * Whether a caller may use a provider's whole API: its workspace, its group and its key must each name the provider. No pattern
 * of models says anything of it.
 */
export function mayPassThrough(principal: Principal, provider: string): boolean {
  return whyNotPassThrough(principal, provider) === null;
}

/** Which of the three says no, widest first; null when none does. */
export function whyNotPassThrough(
  { workspace, group, key }: Principal,
  provider: string,
): "workspace" | "group" | "key" | null {
  if (!workspace.passThrough.includes(provider)) return "workspace";
  if (!group.passThrough.includes(provider)) return "group";
  return key.passThrough.includes(provider) ? null : "key";
}
