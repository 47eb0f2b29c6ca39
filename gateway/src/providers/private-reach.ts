import { oncePerObject, type Provider } from "#core/index.ts";

/**
 * Whether a request for an account may go to a private address: only to the origins that its operator wrote down, those of the
 * base URL and of addresses in its settings. An address that an upstream names, as that of a result or a redirect, is no word
 * of the operator's.
 */
export function mayReachPrivate(provider: Provider, url: string): boolean {
  if (!provider.allowPrivateNetwork) return false;
  const reach = reachOf(provider);
  if (reach.url !== url) {
    reach.url = url;
    reach.isPrivate = reach.origins.some(
      (origin) => url.startsWith(origin) && endsOrigin.has(url.charAt(origin.length)),
    );
  }
  return reach.isPrivate;
}

/** Keeps the verdict on the last address, because consecutive calls mostly go to the same one. */
const reachOf = oncePerObject((provider: Provider) => ({
  origins: configuredOrigins(provider),
  url: "",
  isPrivate: false,
}));
const endsOrigin: ReadonlySet<string> = new Set(["/", "?", "#", ""]);

/** As they are written and as URLs are normalized. */
function configuredOrigins({ baseUrl, settings }: Provider): readonly string[] {
  return [baseUrl, ...Object.values(settings)].flatMap((value) => {
    const written = typeof value === "string" ? /^https?:\/\/[^/?#]+/i.exec(value)?.[0] : undefined;
    return written === undefined ? [] : [written, URL.parse(written)?.origin ?? written];
  });
}
