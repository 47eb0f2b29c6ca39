import type { Vault } from "#ports/index.ts";

/** What a workspace checks our messages with, in the form of Standard Webhooks: `whsec_` and base64. It changes with the master key. */
export function webhookSecretOf(vault: Pick<Vault, "derive">, workspaceId: string): string {
  return shown(vault.derive(purpose, workspaceId));
}

/** The same, and those of earlier master keys until their end: a message is signed with each of them. */
export function webhookSecretsOf(
  vault: Pick<Vault, "deriveValid">,
  workspaceId: string,
  now: number,
): readonly string[] {
  return vault.deriveValid(purpose, workspaceId, now).map(shown);
}

const purpose = "webhook";
const shown = (secret: string) => `whsec_${Buffer.from(secret, "base64url").toString("base64")}`;
