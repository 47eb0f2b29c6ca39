import { oncePerObject, type Provider, Redactor, redactedText } from "#core/index.ts";
import { kindForm } from "./kind-form.ts";
import { providerKind } from "./kinds.ts";

/** Whether a setting may be displayed. Settings without a form field are hidden. */
export function settingIsShown(kindId: string, name: string): boolean {
  const kind = providerKind(kindId);
  const field = kind === null ? undefined : kindForm(kind).fields.find((one) => one.name === name);
  return field !== undefined && field.type !== "secret";
}

export function shownSettings(
  kindId: string,
  settings: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const shown = (name: string, value: unknown) => (settingIsShown(kindId, name) ? value : redactedText);
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, shown(name, value)]));
}

/** All secrets of an account: its key, secret settings, and nested values with secret names. */
export function secretsOf({ kind, secret, settings }: Provider): readonly string[] {
  const credential = secret?.reveal() ?? "";
  const found = [credential, ...secretsInDocument(credential)];
  for (const [name, value] of Object.entries(settings)) {
    if (typeof value === "string" && !settingIsShown(kind, name)) found.push(value);
    else collectNamed(name, value, found);
  }
  return found.filter((text) => text !== "");
}

/** Redacts a provider's secrets. */
export const accountRedactor = oncePerObject((provider: Provider) => new Redactor(secretsOf(provider)));

const secretName = /key|secret|token|password|credential|authorization/i;

function collectNamed(name: string, value: unknown, found: string[]): void {
  if (typeof value === "string") {
    if (secretName.test(name)) found.push(value);
  } else if (typeof value === "object" && value !== null) {
    for (const [member, inner] of Object.entries(value)) {
      collectNamed(secretName.test(name) ? name : member, inner, found);
    }
  }
}

/** The secrets in a service account's key file. */
function secretsInDocument(credential: string): readonly string[] {
  return [...credential.matchAll(secretMember)].map(([, value]) => value?.replaceAll("\\n", "\n") ?? "");
}

const secretMember = /"(?:private_key|private_key_id|client_secret|refresh_token)"\s*:\s*"((?:[^"\\]|\\.)*)"/g;
