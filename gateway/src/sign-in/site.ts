import ipaddr from "ipaddr.js";
import { Failure, isLoopbackHost } from "#core/index.ts";

/** An address of the console. */
export interface Site {
  readonly origin: string;
  readonly hostname: string;
  readonly secure: boolean;
  /** Prefix of cookie names. */
  readonly cookiePrefix: string;
}

/**
 * The site of a request. With a configured address, only that one. Without one, only names of this machine: another host may be DNS
 * rebinding, and plain http would send passwords in the clear. null for those.
 */
export function siteOf(request: Request, publicUrl: string | null): Site | null {
  if (publicUrl !== null) return siteAt(new URL(publicUrl).origin);
  const host = request.headers.get("host") ?? new URL(request.url).host;
  // With its own certificate the gateway serves https itself.
  const origin = `${request.url.startsWith("https:") ? "https" : "http"}://${host}`;
  if (!/^[a-z0-9.:[\]-]+$/i.test(host) || !URL.canParse(origin)) return null;
  const { hostname, origin: own } = new URL(origin);
  return isLoopbackHost(hostname) || hostname.endsWith(".localhost") ? siteAt(own) : null;
}

/** Throws `forbidden` with instructions for the operator. */
export function requireSite(request: Request, publicUrl: string | null): Site {
  const site = siteOf(request, publicUrl);
  if (site !== null) return site;
  throw new Failure(
    "forbidden",
    "Sign-in works only at http://localhost until SLUICE_PUBLIC_URL (with SLUICE_ADMIN_PORT: SLUICE_ADMIN_URL) is set to the address of this console.",
  );
}

function siteAt(origin: string): Site {
  const url = new URL(origin);
  const secure = url.protocol === "https:";
  // `__Host-` binds a cookie to this host over https. On plain http browsers refuse it; there the port in the name separates two gateways
  // on one machine.
  const cookiePrefix = secure ? "__Host-sluice" : `sluice-${url.port || "80"}`;
  return { origin, hostname: url.hostname, secure, cookiePrefix };
}

export function isAddress(hostname: string): boolean {
  return ipaddr.isValid(hostname.replace(/^\[|\]$/g, ""));
}

/** The value of a cookie without its signature; null: none. */
export function cookieOf(headers: Headers, name: string): string | null {
  const raw = rawCookieOf(headers, name);
  return raw === null ? null : signedValue(raw);
}

/** The value of a cookie as sent; null: none. */
export function rawCookieOf(headers: Headers, name: string): string | null {
  for (const pair of (headers.get("cookie") ?? "").split(";")) {
    const equals = pair.indexOf("=");
    if (equals >= 0 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim();
  }
  return null;
}

/**
 * The part before the signature. The signature need not be checked: the value is itself a secret of 32 random characters, looked up by
 * digest.
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
