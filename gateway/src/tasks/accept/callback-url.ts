import ipaddr from "ipaddr.js";
import { bounds, type ExemptRule, isListed } from "#core/index.ts";
import { wrong } from "./request-members.ts";

/**
 * Where the caller wants to be told: a public place, or one of those that an administrator has opened (`places`). What a name
 * resolves to is checked each time something is sent there; what can be seen in the URL itself is refused at once.
 */
export function readCallbackUrl(value: unknown, places: readonly ExemptRule[]): string | null {
  if (value === null) return null;
  if (typeof value !== "string" || value.length > bounds.urlBytesMax || !URL.canParse(value)) throw notPublic();
  const url = new URL(value);
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  const known = url.protocol === "https:" || url.protocol === "http:";
  if (!known || host === "" || url.username !== "" || url.password !== "") throw notPublic();
  const port = url.port === "" ? usualPorts[url.protocol] : Number(url.port);
  if (!isPublic(host) && !isListed(places, host, port ?? 0)) throw notPublic();
  return url.href;
}

const usualPorts: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

function isPublic(host: string): boolean {
  if (ipaddr.isValid(host)) return ipaddr.process(host).range() === "unicast";
  return host.includes(".") && !host.endsWith(".localhost");
}

const notPublic = () => wrong("callback_url", "must be a public http or https URL without credentials");
