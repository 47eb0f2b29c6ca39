import ipaddr from "ipaddr.js";
import { Failure, isLoopbackHost } from "#core/index.ts";

/** An address the console is opened at. */
export interface Site {
  readonly origin: string;
  readonly hostname: string;
  readonly secure: boolean;
  /** In front of every cookie's name. */
  readonly cookiePrefix: string;
}

/**
 * The site a request counts for. With a configured address that one alone: what the `host` header says is then a
 * matter of the proxy in front. Without one, this machine's own names: any other host may be somebody's trick
 * (DNS rebinding), and plain http from elsewhere would carry passwords in the open. Null for those.
 */
export function siteOf(request: Request, publicUrl: string | null): Site | null {
  if (publicUrl !== null) return siteAt(new URL(publicUrl).origin);
  const host = request.headers.get("host") ?? new URL(request.url).host;
  // With a certificate of its own the gateway is opened by https without a proxy in front.
  const origin = `${request.url.startsWith("https:") ? "https" : "http"}://${host}`;
  if (!/^[a-z0-9.:[\]-]+$/i.test(host) || !URL.canParse(origin)) return null;
  const { hostname, origin: own } = new URL(origin);
  return isLoopbackHost(hostname) || hostname.endsWith(".localhost") ? siteAt(own) : null;
}

/** Throws `forbidden` with what the operator has to do. */
export function requireSite(request: Request, publicUrl: string | null): Site {
  const site = siteOf(request, publicUrl);
  if (site !== null) return site;
  throw new Failure(
    "forbidden",
    "Sign-in works at http://localhost only, until SLUICE_PUBLIC_URL (with SLUICE_ADMIN_PORT: SLUICE_ADMIN_URL) says at which address this console is opened.",
  );
}

function siteAt(origin: string): Site {
  const url = new URL(origin);
  const secure = url.protocol === "https:";
  // `__Host-` binds a cookie to exactly this host, set by https only. Browsers refuse it on plain http; there the port
  // keeps two gateways of one machine apart, since cookies do not know ports.
  const cookiePrefix = secure ? "__Host-sluice" : `sluice-${url.port || "80"}`;
  return { origin, hostname: url.hostname, secure, cookiePrefix };
}

export function isAddress(hostname: string): boolean {
  return ipaddr.isValid(hostname.replace(/^\[|\]$/g, ""));
}

/** The value of a cookie without its signature; null when there is none. */
export function cookieOf(headers: Headers, name: string): string | null {
  const raw = rawCookieOf(headers, name);
  return raw === null ? null : signedValue(raw);
}

/** The value of a cookie as it was sent; null when there is none. */
export function rawCookieOf(headers: Headers, name: string): string | null {
  for (const pair of (headers.get("cookie") ?? "").split(";")) {
    const equals = pair.indexOf("=");
    if (equals >= 0 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim();
  }
  return null;
}

/**
 * What stands before the signature. The signature is not asked for here: what these cookies carry is itself a secret of
 * 32 random characters, found by its digest.
 */
export function signedValue(text: string): string | null {
  try {
    const decoded = decodeURIComponent(text);
    const value = decoded.slice(0, Math.max(0, decoded.lastIndexOf(".")));
    return value === "" ? null : value;
  } catch {
    return null;
  }
}
