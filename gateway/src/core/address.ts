import ipaddr from "ipaddr.js";

/** IPv6 callers count by /64, because one caller usually has a whole one. */
export function addressKey(ip: string): string {
  if (!ipaddr.isValid(ip)) return "address:unknown";
  const address = ipaddr.process(ip);
  if (address.kind() === "ipv4") return `address:${address.toString()}`;
  return `address:${(address as ipaddr.IPv6).parts.slice(0, 4).join(":")}`;
}

/** The networks that contain an address, from the largest to the one used by `addressKey`. */
export function networksOf(ip: string): readonly string[] {
  if (!ipaddr.isValid(ip)) return ["unknown"];
  const address = ipaddr.process(ip);
  const hex = Buffer.from(address.toByteArray()).toString("hex");
  const bits = address.kind() === "ipv4" ? [24, 32] : [48, 56, 64];
  return bits.map((length) => `${address.kind()} ${hex.slice(0, length / 4)}`);
}

/** An IP address or a CIDR range. Short forms such as `127.1` are refused, because programs disagree about them. */
export function isAddressRange(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  if (rest.length > 0) return false;
  if (!ipaddr.IPv4.isValidFourPartDecimal(address) && !ipaddr.IPv6.isValid(address)) return false;
  return bits === undefined || ipaddr.isValidCIDR(text);
}

/** Whether a host, with or without brackets, is the loopback. Of names only localhost is. */
export function isLoopbackHost(host: string): boolean {
  const bare = host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
  if (bare.toLowerCase() === "localhost") return true;
  // Strict forms only, because programs disagree about `127.1` and `0x7f.1`.
  if (ipaddr.IPv4.isValidFourPartDecimal(bare)) return ipaddr.IPv4.parse(bare).range() === "loopback";
  return ipaddr.IPv6.isValid(bare) && ipaddr.process(bare).range() === "loopback";
}
