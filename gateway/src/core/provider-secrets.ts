import type { Provider } from "./deployment.ts";

/** What of an account must never be shown: its key, and whatever in its settings is called one. */
export function secretsOf({ secret, settings }: Provider): readonly string[] {
  const found = secret === null ? [] : [secret.reveal()];
  for (const [name, value] of Object.entries(settings)) collectSecrets(name, value, found);
  return found.filter((text) => text.length >= secretCharactersMin);
}

/** Shorter ones protect nothing, and stand in too many texts. */
const secretCharactersMin = 8;
const secretName = /key|secret|token|password|credential/i;

function collectSecrets(name: string, value: unknown, found: string[]): void {
  if (typeof value === "string") {
    if (secretName.test(name)) found.push(value);
  } else if (typeof value === "object" && value !== null) {
    for (const [member, inner] of Object.entries(value)) collectSecrets(member, inner, found);
  }
}

/** A text without these secrets, wherever they stand in it. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((left, secret) => (left.includes(secret) ? left.replaceAll(secret, "[redacted]") : left), text);
}
