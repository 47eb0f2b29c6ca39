import ipaddr from "ipaddr.js";
import { bounds } from "#core/index.ts";
import { type AddressKind, addressKind } from "./address-kind.ts";
import { refusedUrl } from "./send-failure.ts";

/** Scheme, host and port of a URL, as they are sent. */
export interface Origin {
  readonly scheme: "http" | "https";
  /** A name in lower case, or an address without brackets. */
  readonly hostname: string;
  readonly port: number;
  readonly hostHeader: string;
  /** The addresses that need no look-up: the host itself when it is one, both loopbacks for `localhost`. */
  readonly addresses: readonly string[] | null;
  /** The verdict on the name itself, before any address is known. */
  readonly nameKind: AddressKind;
}

/** Control characters, blanks and backslashes: URL parsers disagree on them, and CR LF would write into the request. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const unsafe = /[\u0000-\u0020\u007f\\]/;

/** Names under which clouds serve machine credentials, whatever they resolve to. */
const metadataNames: ReadonlySet<string> = new Set([
  "metadata",
  "metadata.google.internal",
  "metadata.goog",
  "instance-data",
  "instance-data.ec2.internal",
  "metadata.tencentyun.com",
  "metadata.azure.internal",
  "metadata.azure.com",
]);

/** Cuts a URL behind its origin without parsing it: `https://a.example/v1/x` → 17. Refuses what must not be sent. */
export function originEnd(url: string): number {
  const known = knownEnds.get(url);
  if (known !== undefined) return known;
  const end = findOriginEnd(url);
  if (knownEnds.size < bounds.knownUrlsMax && url.length <= bounds.knownUrlCharactersMax) knownEnds.set(url, end);
  return end;
}

/** Most requests go to one of few addresses. */
const knownEnds = new Map<string, number>();

function findOriginEnd(url: string): number {
  if (url.length > bounds.urlBytesMax) throw refusedUrl("it is too long");
  if (unsafe.test(url)) throw refusedUrl("it has a control character, a blank or a backslash");
  const start = url.indexOf("://") + 3;
  if (start < 3) throw refusedUrl("it is not absolute");
  for (let i = start; i < url.length; i++) {
    const c = url.charCodeAt(i);
    if (c === 0x2f || c === 0x3f || c === 0x23) return i;
  }
  return url.length;
}

export function parseOrigin(text: string): Origin {
  if (!URL.canParse(text)) throw refusedUrl("it is not a URL");
  const url = new URL(text);
  if (url.username !== "" || url.password !== "" || text.includes("@")) throw refusedUrl("it carries credentials");
  const scheme = url.protocol.slice(0, -1);
  if (scheme !== "http" && scheme !== "https") throw refusedUrl("only http and https are spoken");
  if (url.hostname === "") throw refusedUrl("it names no host");
  const hostname = url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  return {
    scheme,
    hostname,
    port: url.port === "" ? (scheme === "https" ? 443 : 80) : Number(url.port),
    hostHeader: url.host,
    addresses: knownAddresses(hostname),
    nameKind: nameKind(hostname),
  };
}

function knownAddresses(hostname: string): readonly string[] | null {
  if (ipaddr.isValid(hostname)) return [hostname];
  if (hostname === "localhost" || hostname.endsWith(".localhost")) return ["127.0.0.1", "::1"];
  return null;
}

function nameKind(hostname: string): AddressKind {
  if (ipaddr.isValid(hostname)) return addressKind(hostname);
  return metadataNames.has(hostname) ? "forbidden" : "public";
}
