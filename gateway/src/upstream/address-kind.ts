import ipaddr from "ipaddr.js";

/**
 * `public`: open to every provider. `private`: only for providers that an administrator allowed to use the private network.
 * `forbidden`: never used, because a cloud serves machine credentials there or because no upstream can be there.
 */
export type AddressKind = "public" | "private" | "forbidden";

/** Ranges in which a self-hosted upstream can be. All other ranges that are not public are forbidden. */
const privateRanges: ReadonlySet<string> = new Set(["loopback", "private", "carrierGradeNat", "uniqueLocal"]);
/** Ranges with an embedded IPv4 address: judged by it, and at best private. */
const embeddingRanges: ReadonlySet<string> = new Set(["ipv4Mapped", "rfc6145", "rfc6052", "6to4", "teredo"]);

/**
 * Where clouds answer with machine credentials, outside the link-local range: Alibaba, Azure, Oracle, and on IPv6 AWS (pods and machines),
 * Google, Oracle, Scaleway, Akamai and Alibaba.
 * https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16,
 * https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html
 */
const metadataAddresses: ReadonlySet<string> = new Set([
  "100.100.100.200",
  "168.63.129.16",
  "192.0.0.192",
  "fd00:ec2:0:0:0:0:0:23",
  "fd00:ec2:0:0:0:0:0:254",
  "fd20:ce:0:0:0:0:0:254",
  "fd00:c1:0:0:0:0:a9fe:a9fe",
  "fd00:42:0:0:0:0:0:42",
  "fd00:a9fe:a9fe:0:0:0:0:1",
  "fd00:100:0:0:0:0:100:200",
]);

const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");
/** Network benchmarking (RFC 2544). ipaddr.js calls it reserved; local forwarders use it for their upstreams. */
const benchmarking = ipaddr.IPv4.parseCIDR("198.18.0.0/15");

/** The kind of an address in text form; `forbidden` if the text is not an address. */
export function addressKind(text: string): AddressKind {
  if (!ipaddr.isValid(text)) return "forbidden";
  const address = ipaddr.parse(text);
  if (metadataAddresses.has(address.toNormalizedString())) return "forbidden";
  return address instanceof ipaddr.IPv6 ? kindOfIPv6(address) : kindOfIPv4(address);
}

/** The worst kind among the addresses of a name: a single bad one may be an attack. */
export function worstKind(addresses: readonly string[]): AddressKind {
  const kinds = addresses.map(addressKind);
  if (kinds.includes("forbidden")) return "forbidden";
  return kinds.includes("private") ? "private" : "public";
}

function kindOfIPv4(address: ipaddr.IPv4): AddressKind {
  const range = address.range();
  if (range === "unicast") return "public";
  return privateRanges.has(range) || address.match(benchmarking) ? "private" : "forbidden";
}

function kindOfIPv6(address: ipaddr.IPv6): AddressKind {
  const range = address.range();
  if (embeddingRanges.has(range)) {
    return addressKind(embeddedIPv4(address, range).toString()) === "forbidden" ? "forbidden" : "private";
  }
  // ipaddr.js calls unassigned space unicast too, even ::7f00:1, the old spelling of 127.0.0.1. Only 2000::/3 is public.
  if (range === "unicast") return address.match(globalUnicast) ? "public" : "forbidden";
  return privateRanges.has(range) ? "private" : "forbidden";
}

function embeddedIPv4(address: ipaddr.IPv6, range: string): ipaddr.IPv4 {
  const bytes = address.toByteArray();
  if (range === "6to4") return new ipaddr.IPv4(bytes.slice(2, 6));
  // Teredo stores the client's address with every bit inverted (RFC 4380 §4).
  if (range === "teredo") return new ipaddr.IPv4(bytes.slice(12).map((byte) => byte ^ 0xff));
  return new ipaddr.IPv4(bytes.slice(12));
}
