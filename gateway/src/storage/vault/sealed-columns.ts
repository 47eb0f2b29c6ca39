import { Secret } from "#core/index.ts";
import type { RightsSource, Vault } from "#ports/index.ts";
import { SealBroken } from "./vault.ts";

/** The row id a provider's column is sealed with: a value cannot be moved to another row or column. */
export function sealId(providerId: string, column: "secret" | "settings"): string {
  return `provider:${providerId}:${column}`;
}

/** Where messages of a notice go. */
export function channelSealId(noticeId: string): string {
  return `notice:${noticeId}:channel`;
}

/** An account cannot be moved to another task. */
export function accountSealId(taskId: string): string {
  return `task:${taskId}:account`;
}

/** The id that a refresh token is sealed with: it opens nobody else's. */
export function tokenSealId(userId: string, source: RightsSource): string {
  return `claims:${userId}:${source}`;
}

/** The sealed form of `wanted`; the old one when it holds the same, since sealing twice never gives the same text. */
export function sealedAgain(vault: Vault, rowId: string, before: string | null, wanted: string): string {
  return before !== null && opened(vault, before, rowId) === wanted ? before : vault.seal(new Secret(wanted), rowId);
}

/** The settings of a provider, opened. */
export function openedSettings(
  row: { readonly id: string; readonly sealed_settings: string | null },
  vault: Vault,
): Record<string, unknown> {
  if (row.sealed_settings === null) return {};
  return JSON.parse(vault.open(row.sealed_settings, sealId(row.id, "settings")).reveal());
}

function opened(vault: Vault, sealed: string, rowId: string): string | null {
  try {
    return vault.open(sealed, rowId).reveal();
  } catch (error) {
    if (error instanceof SealBroken) return null;
    throw error;
  }
}
