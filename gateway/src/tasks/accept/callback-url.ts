import ipaddr from "ipaddr.js";
import { bounds } from "#core/index.ts";
import { wrong } from "./request-members.ts";

/**
 * Where the caller wants to be told. What a name resolves to is checked each time something is sent there; what can
 * be seen in the URL itself is refused at once.
 */
export function readCallbackUrl(value: unknown): string | null {
  if (value === null) return null;
  if (typeof value !== "string" || value.length > bounds.urlBytesMax || !URL.canParse(value)) throw notPublic();
  const url = new URL(value);
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  const known = url.protocol === "https:" || url.protocol === "http:";
  if (!known || host === "" || url.username !== "" || url.password !== "") throw notPublic();
  if (host === "localhost" || host.endsWith(".localhost") || !host.includes(".") === !ipaddr.isValid(host)) {
    throw notPublic();
  }
  if (ipaddr.isValid(host) && ipaddr.process(host).range() !== "unicast") throw notPublic();
  return url.href;
}

const notPublic = () => wrong("callback_url", "must be a public http or https URL without credentials");
