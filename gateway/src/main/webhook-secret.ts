import type { Vault } from "#ports/index.ts";

/** What a workspace checks our messages with, in the form of Standard Webhooks: `whsec_` and base64. Always the same. */
export function webhookSecretOf(vault: Pick<Vault, "derive">, workspaceId: string): string {
  return `whsec_${Buffer.from(vault.derive("webhook", workspaceId), "base64url").toString("base64")}`;
}
