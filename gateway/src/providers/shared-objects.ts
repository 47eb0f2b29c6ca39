import type { Provider } from "#core/index.ts";

/** A setting of every kind that serves models: objects of the account that every workspace may name. */
export const objectsSetting = "objects";

/** Whether the operator lets every workspace that reaches this account name this object. */
export function allowsObject(provider: Provider, id: string): boolean {
  const said = provider.settings[objectsSetting];
  if (!Array.isArray(said)) return false;
  return said.some(
    (one) => typeof one === "string" && (one.endsWith("*") ? id.startsWith(one.slice(0, -1)) : id === one),
  );
}

/** What is wrong with `settings.objects`; null when nothing is. */
export function objectsProblem(provider: Provider): string | null {
  const said = provider.settings[objectsSetting];
  if (said === undefined || (Array.isArray(said) && said.every((one) => typeof one === "string" && one !== ""))) {
    return null;
  }
  return `settings.${objectsSetting} must be a list of ids, or beginnings of ids with a * behind`;
}
