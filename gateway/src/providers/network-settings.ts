import { createHash, createPrivateKey, X509Certificate } from "node:crypto";
import { EgressProxyInvalid, oncePerObject, type Provider, parseEgressProxy, Secret } from "#core/index.ts";
import { isReference } from "#credentials/index.ts";
import type { OutboundNetwork } from "#ports/index.ts";
import { type SettingField, settingField } from "./setting-field.ts";
import { settingText } from "./settings.ts";

/** Network settings of every provider type. */
export const networkFields: readonly SettingField[] = [
  settingField("proxy", "Egress proxy", {
    type: "secret",
    help: "The proxy for calls to this provider, such as http://user:password@proxy.example:3128; none for a direct connection. Default: the gateway's environment.",
    setsDestination: true,
  }),
  settingField("ca", "Certificate authorities", {
    help: "PEM; trusted in addition to the defaults.",
    setsDestination: true,
  }),
  settingField("client_certificate", "Client certificate", {
    help: "PEM of the gateway's own certificate. Requires its key.",
  }),
  settingField("client_key", "Client key", { type: "secret", help: "PEM, not encrypted." }),
];

/** A problem with the network settings; null if there is none. */
export function networkProblem(provider: Provider): string | null {
  const problem = (name: string, text: string) => `settings.${name} ${text}`;
  const proxy = settingText(provider, "proxy");
  if (proxy !== null && proxy !== "none" && !isReference(proxy)) {
    try {
      parseEgressProxy(proxy);
    } catch (thrown) {
      return problem("proxy", thrown instanceof EgressProxyInvalid ? thrown.message : "cannot be read");
    }
  }
  const ca = settingText(provider, "ca");
  if (ca !== null && !areCertificates(ca)) return problem("ca", notPem);
  const certificate = settingText(provider, "client_certificate");
  const key = settingText(provider, "client_key");
  if ((certificate === null) !== (key === null)) {
    return problem(
      certificate === null ? "client_certificate" : "client_key",
      "is missing: a certificate requires its key",
    );
  }
  if (certificate === null || key === null) return null;
  if (!areCertificates(certificate)) return problem("client_certificate", notPem);
  return isReference(key) ? null : keyProblem(certificate, key);
}

const notPem = "must be PEM, with lines -----BEGIN CERTIFICATE-----";
const certificatePattern = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

function certificatesIn(text: string): readonly string[] {
  return text.match(certificatePattern) ?? [];
}

/** The earliest expiry of the provider's certificates in Unix milliseconds; null: it has none. */
export function certificateEnds(provider: Provider): number | null {
  const texts = [settingText(provider, "ca"), settingText(provider, "client_certificate")];
  const ends = texts.flatMap((text) => certificatesIn(text ?? "")).map((text) => expiryOf(text));
  return ends.length === 0 ? null : Math.min(...ends);
}

function expiryOf(text: string): number {
  return Date.parse(new X509Certificate(text).validTo);
}

function areCertificates(text: string): boolean {
  const found = certificatesIn(text);
  try {
    for (const one of found) new X509Certificate(one);
    return found.length > 0;
  } catch {
    return false;
  }
}

function keyProblem(certificate: string, key: string): string | null {
  try {
    const isIts = new X509Certificate(certificatesIn(certificate)[0] ?? "").checkPrivateKey(createPrivateKey(key));
    return isIts ? null : "settings.client_key is not the key of settings.client_certificate";
  } catch {
    return "settings.client_key must be a private key in PEM, not encrypted";
  }
}

/** undefined: the account uses the default network. */
export function networkOf({ settings }: Provider): OutboundNetwork | undefined {
  return networkBy(settings) ?? undefined;
}

const networkBy = oncePerObject((settings: Provider["settings"]): OutboundNetwork | null => {
  const provider = { settings };
  const proxy = settingText(provider, "proxy");
  const ca = settingText(provider, "ca");
  const certificate = settingText(provider, "client_certificate");
  const key = settingText(provider, "client_key");
  if (proxy === null && ca === null && certificate === null) return null;
  const id = createHash("sha256")
    .update(JSON.stringify([proxy, ca, certificate, key]))
    .digest("base64url");
  return Object.freeze({
    id,
    ...(proxy === null ? {} : { proxy: proxy === "none" ? null : parseEgressProxy(proxy) }),
    ...(ca === null ? {} : { authorities: certificatesIn(ca) }),
    ...(certificate === null || key === null ? {} : { client: { certificate, key: new Secret(key) } }),
  });
});

/**
 * Whether a request may go to a private address: only to origins in the base URL or the settings. A URL from an upstream's
 * answer or redirect is not trusted.
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

/** Caches the last URL, because consecutive calls mostly use the same one. */
const reachOf = oncePerObject((provider: Provider) => ({
  origins: configuredOrigins(provider),
  url: "",
  isPrivate: false,
}));
const endsOrigin: ReadonlySet<string> = new Set(["/", "?", "#", ""]);

/** As written, and normalized. */
function configuredOrigins({ baseUrl, settings }: Provider): readonly string[] {
  return [baseUrl, ...Object.values(settings)].flatMap((value) => {
    const written = typeof value === "string" ? /^https?:\/\/[^/?#]+/i.exec(value)?.[0] : undefined;
    return written === undefined ? [] : [written, URL.parse(written)?.origin ?? written];
  });
}
