import { Secret } from "#core/index.ts";
import type { RightsSource, Vault } from "#ports/index.ts";
import { SealBroken } from "./vault.ts";

/** The row id for sealing a provider's column; sealed values cannot be moved between rows or columns. */
export function sealId(providerId: string, column: "secret" | "settings" | "billing"): string {
  return `provider:${providerId}:${column}`;
}

/** Seal id of the address of an alert channel. */
export function channelSealId(channelId: string): string {
  return `alert-channel:${channelId}:target`;
}

/** Seal id of the secret of a guardrail's webhook. */
export function guardrailSealId(guardrailId: string): string {
  return `guardrail:${guardrailId}:secret`;
}

/** Seal id of a task's account. */
export function accountSealId(taskId: string): string {
  return `task:${taskId}:account`;
}

/** Seal id of a refresh token. */
export function tokenSealId(userId: string, source: RightsSource): string {
  return `claims:${userId}:${source}`;
}

/** Seals `wanted`, or returns `before` if it contains the same value, since sealing is not deterministic. */
export function sealIfChanged(vault: Vault, rowId: string, before: string | null, wanted: string): string {
  return before !== null && opened(vault, before, rowId) === wanted ? before : vault.seal(new Secret(wanted), rowId);
}

/** Decrypted settings of a provider. */
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
