import ipaddr from "ipaddr.js";
import { Secret } from "./secret.ts";

/** An outbound HTTP proxy (RFC 9110 §9.3.6). */
export interface EgressProxy {
  /** A lower-case name, or an address without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** The value of `proxy-authorization`; null if none is needed. */
  readonly authorization: Secret | null;
}

/** Outbound proxies by scheme, and their exemptions. */
export interface Egress {
  readonly http: EgressProxy | null;
  readonly https: EgressProxy | null;
  readonly exempt: readonly ExemptRule[];
}

export type ExemptRule =
  | { readonly kind: "all" }
  | { readonly kind: "name"; readonly name: string; readonly itself: boolean; readonly port: number | null }
  | { readonly kind: "range"; readonly range: AddressRange; readonly port: number | null };

type AddressRange = [ipaddr.IPv4 | ipaddr.IPv6, number];

export class EgressProxyInvalid extends Error {
  override readonly name = "EgressProxyInvalid";
}

/**
 * `http://user:password@proxy.example:3128`; the scheme defaults to http and the port to 80, as in curl and Go. Throws
 * EgressProxyInvalid, whose message never contains the value.
 */
export function parseEgressProxy(text: string): EgressProxy {
  const url = URL.parse(text.includes("://") ? text : `http://${text}`);
  if (url === null || url.hostname === "" || /[\s\\]/.test(text)) {
    throw new EgressProxyInvalid("must be the address of a proxy, such as http://proxy.example:3128");
  }
  if (url.protocol !== "http:") {
    throw new EgressProxyInvalid(
      "must begin with http://: the proxy is spoken to in plain HTTP, and calls to https:// are encrypted through it",
    );
  }
  if ((url.pathname !== "/" && url.pathname !== "") || url.search !== "" || url.hash !== "") {
    throw new EgressProxyInvalid("must be a proxy's address without a path, a query or a fragment");
  }
  return Object.freeze({
    hostname: url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, ""),
    port: url.port === "" ? 80 : Number(url.port),
    authorization: credentialsOf(url),
  });
}

function credentialsOf({ username, password }: URL): Secret | null {
  if (username === "" && password === "") return null;
  try {
    const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return new Secret(`Basic ${Buffer.from(pair, "utf8").toString("base64")}`);
  } catch {
    throw new EgressProxyInvalid("has a user or a password that is not percent-encoded rightly");
  }
}

/**
 * Parses `NO_PROXY` as Go does, separated by commas or spaces: `*` for everything; a name including its subdomains; `.name` or `*.name`
 * for subdomains only; an address; a range such as 10.0.0.0/8. All but ranges may have a `:port`. `unread` lists invalid items.
 */
export function parseExemptions(text: string): {
  readonly rules: readonly ExemptRule[];
  readonly unread: readonly string[];
} {
  const rules: ExemptRule[] = [];
  const unread: string[] = [];
  for (const word of text.split(/[\s,]+/)) {
    if (word === "") continue;
    const rule = exemption(word.toLowerCase());
    if (rule === null) unread.push(word);
    else rules.push(Object.freeze(rule));
  }
  return { rules: Object.freeze(rules), unread };
}

function exemption(word: string): ExemptRule | null {
  if (word === "*") return { kind: "all" };
  if (word.includes("/"))
    return ipaddr.isValidCIDR(word) ? { kind: "range", range: ipaddr.parseCIDR(word), port: null } : null;
  const bare =
    /^\[(.*)\](?::(\d{1,5}))?$/.exec(word) ??
    (ipaddr.isValid(word) ? [word, word] : /^([^:]+)(?::(\d{1,5}))?$/.exec(word));
  const host = bare?.[1];
  if (bare === null || host === undefined) return null;
  const port = bare[2] === undefined ? null : Number(bare[2]);
  if (ipaddr.isValid(host)) {
    const address = ipaddr.process(host);
    return { kind: "range", range: [address, address.kind() === "ipv4" ? 32 : 128], port };
  }
  const below = host.startsWith("*.") ? host.slice(2) : host.startsWith(".") ? host.slice(1) : null;
  const name = (below ?? host).replace(/\.$/, "");
  if (!/^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(name)) return null;
  return { kind: "name", name, itself: below === null, port };
}

/** The proxy for an origin; null for a direct connection. As in Go, loopback addresses never use a proxy. */
export function egressProxyFor(
  egress: Egress,
  { scheme, hostname, port }: { readonly scheme: string; readonly hostname: string; readonly port: number },
): EgressProxy | null {
  const proxy = scheme === "https" ? egress.https : scheme === "http" ? egress.http : null;
  if (proxy === null) return null;
  return isOwn(hostname) || isListed(egress.exempt, hostname, port) ? null : proxy;
}

/** Whether a rule matches this host or address. */
export function isListed(rules: readonly ExemptRule[], hostname: string, port: number): boolean {
  return rules.some((rule) => matches(rule, hostname, port));
}

function isOwn(hostname: string): boolean {
  if (hostname === "localhost" || hostname.endsWith(".localhost")) return true;
  return ipaddr.isValid(hostname) && ipaddr.process(hostname).range() === "loopback";
}

function matches(rule: ExemptRule, hostname: string, port: number): boolean {
  if (rule.kind === "all") return true;
  if (rule.port !== null && rule.port !== port) return false;
  if (rule.kind === "name") return (rule.itself && hostname === rule.name) || hostname.endsWith(`.${rule.name}`);
  if (!ipaddr.isValid(hostname)) return false;
  const address = ipaddr.process(hostname);
  return address.kind() === rule.range[0].kind() && address.match(rule.range);
}
