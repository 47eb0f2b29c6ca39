import type { Provider } from "#core/index.ts";

/** A setting of every kind that serves models: the upstream may fetch what callers name. */
export const fetchesUrlsSetting = "fetches_urls";

/**
 * Whether addresses that callers name may be left for this upstream to fetch. One in a private network would reach what
 * its callers must not, unless its operator says that it cannot; of any other its operator may say that it does not fetch.
 */
export function mayFetch(provider: Provider): boolean {
  const said = provider.settings[fetchesUrlsSetting];
  return typeof said === "boolean" ? said : !provider.allowPrivateNetwork;
}

/** What is wrong with `settings.fetches_urls`; null when nothing is. */
export function fetchesUrlsProblem(provider: Provider): string | null {
  const said = provider.settings[fetchesUrlsSetting];
  return said === undefined || typeof said === "boolean"
    ? null
    : `settings.${fetchesUrlsSetting} must be true or false`;
}
