import type { Provider } from "#core/index.ts";
import { kindForm } from "./kind-form.ts";
import { providerKind } from "./kinds.ts";

/** What stands for a secret that is there. */
export const redactedText = "[redacted]";

/** Whether a setting of this name of a kind is shown. What no form asks for may be anything, so it is not. */
export function settingIsShown(kindId: string, name: string): boolean {
  const kind = providerKind(kindId);
  const field = kind === null ? undefined : kindForm(kind).fields.find((one) => one.name === name);
  return field !== undefined && field.type !== "secret";
}

/** Settings as they may be shown. */
export function shownSettings(
  kindId: string,
  settings: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const shown = (name: string, value: unknown) => (settingIsShown(kindId, name) ? value : redactedText);
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, shown(name, value)]));
}

/** A text without any secret of an account that it may repeat: upstreams quote keys in their refusals. */
export function withoutSecrets(text: string, provider: Provider): string {
  return secretsIn(provider).reduce((safe, secret) => safe.replaceAll(secret, redactedText), text);
}

/** The longest first: a shorter one may be its beginning, and would leave the rest of it standing. */
export function secretsIn(provider: Provider): readonly string[] {
  const credential = provider.secret?.reveal() ?? "";
  const secrets = [credential, ...secretsInDocument(credential)];
  for (const [name, value] of Object.entries(provider.settings)) {
    if (typeof value === "string" && !settingIsShown(provider.kind, name)) secrets.push(value);
  }
  return secrets.filter((secret) => secret.length >= secretLengthMin).sort((a, b) => b.length - a.length);
}

/** What is secret in a service account's key file; its addresses and names are none. */
function secretsInDocument(credential: string): readonly string[] {
  return [...credential.matchAll(secretMember)].map(([, value]) => value ?? "");
}

const secretMember = /"(?:private_key|private_key_id|client_secret|refresh_token)"\s*:\s*"((?:[^"\\]|\\.)*)"/g;

/** What is shorter stands in any sentence. */
const secretLengthMin = 4;
