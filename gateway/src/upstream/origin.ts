import ipaddr from "ipaddr.js";
import { bounds } from "#core/index.ts";
import { type AddressKind, addressKind } from "./address-kind.ts";
import { refusedUrl } from "./send-failure.ts";

/** Scheme, host and port of a URL. */
export interface Origin {
  readonly scheme: "http" | "https";
  /** A name in lower case, or an address without brackets. */
  readonly hostname: string;
  readonly port: number;
  readonly hostHeader: string;
  /** The text after the target in a request: the version and the `host` line, without its end. */
  readonly lineEnd: string;
  /** Addresses without a lookup: the host itself if it is an address, both loopbacks for `localhost`; null: a lookup is needed. */
  readonly addresses: readonly string[] | null;
  /** The verdict on the name itself, before a lookup. */
  readonly nameKind: AddressKind;
}

/** Control characters, spaces and backslashes: URL parsers disagree on them, and CR LF could inject headers. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for them
const unsafe = /[\u0000-\u0020\u007f\\]/;

/** Names at which clouds serve machine credentials, refused at any address. */
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

/** A URL in two parts: `https://a.example` and `/v1/x?y`, the path and the query as a request contains them. */
export interface UrlParts {
  readonly origin: string;
  readonly target: string;
}

/** Divides a URL without parsing it. Throws Failure for a URL that must not be sent. */
export function partsOf(url: string): UrlParts {
  const cached = cachedParts.get(url);
  if (cached !== undefined) return cached;
  const end = originEnd(url);
  const parts = { origin: url.slice(0, end), target: targetOf(url.slice(end)) };
  if (cachedParts.size < bounds.parsedUrlsMax && url.length <= bounds.parsedUrlCharactersMax)
    cachedParts.set(url, parts);
  return parts;
}

/** Most requests go to one of few URLs. */
const cachedParts = new Map<string, UrlParts>();

function originEnd(url: string): number {
  if (url.length > bounds.urlBytesMax) throw refusedUrl("it is too long");
  if (unsafe.test(url)) throw refusedUrl("it has a control character, a space or a backslash");
  const start = url.indexOf("://") + 3;
  if (start < 3) throw refusedUrl("it is not absolute");
  const length = url.slice(start).search(/[/?#]/);
  return length < 0 ? url.length : start + length;
}

/** With percent-encoding for characters outside ASCII, and without the fragment. */
function targetOf(rest: string): string {
  const [plain = ""] = rest.split("#");
  const target = plain.startsWith("/") ? plain : `/${plain}`;
  try {
    return target.replace(/[^\x21-\x7e]+/g, (text) => encodeURIComponent(text));
  } catch {
    throw refusedUrl("it has half a surrogate pair");
  }
}

export function parseOrigin(text: string): Origin {
  if (!URL.canParse(text)) throw refusedUrl("it is not a URL");
  const url = new URL(text);
  if (url.username !== "" || url.password !== "" || text.includes("@")) throw refusedUrl("it carries credentials");
  const scheme = url.protocol.slice(0, -1);
  if (scheme !== "http" && scheme !== "https") throw refusedUrl("only http and https are supported");
  if (url.hostname === "") throw refusedUrl("it has no host");
  const hostname = url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  return {
    scheme,
    hostname,
    port: url.port === "" ? (scheme === "https" ? 443 : 80) : Number(url.port),
    hostHeader: url.host,
    lineEnd: ` HTTP/1.1\r\nhost: ${url.host}`,
    addresses: literalAddresses(hostname),
    nameKind: nameKind(hostname),
  };
}

function literalAddresses(hostname: string): readonly string[] | null {
  if (ipaddr.isValid(hostname)) return [hostname];
  if (hostname === "localhost" || hostname.endsWith(".localhost")) return ["127.0.0.1", "::1"];
  return null;
}

function nameKind(hostname: string): AddressKind {
  if (ipaddr.isValid(hostname)) return addressKind(hostname);
  return metadataNames.has(hostname) ? "forbidden" : "public";
}
