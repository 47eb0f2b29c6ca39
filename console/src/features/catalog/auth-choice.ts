import type { ProviderKindForm } from "@sluice/contract";

type Settings = Readonly<Record<string, unknown>>;

/** The chosen way of authentication, by default the first; empty if the type has only one. */
function authOf(form: ProviderKindForm, settings: Settings): string {
  const chosen = settings["auth"];
  if (typeof chosen === "string" && chosen !== "") return chosen;
  return firstAuth(form);
}

function firstAuth({ fields }: ProviderKindForm): string {
  return fields.find(({ name }) => name === "auth")?.options?.[0] ?? "";
}

/** Whether the chosen authentication may use the API key. It is the first choice of each type. */
export function usesApiKey(form: ProviderKindForm, settings: Settings): boolean {
  return form.api_key !== "none" && authOf(form, settings) === firstAuth(form);
}

/** The fields of the chosen authentication, and those with a stored value. */
export function fieldsFor(form: ProviderKindForm, settings: Settings, stored: Settings = {}) {
  const auth = authOf(form, settings);
  return form.fields.filter(({ name, auths }) => auths === null || auths.includes(auth) || name in stored);
}
