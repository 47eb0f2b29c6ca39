import ipaddr from "ipaddr.js";

/** One caller of IPv6 has a whole /64 to choose from. */
export function addressKey(ip: string): string {
  if (!ipaddr.isValid(ip)) return "address:unknown";
  const address = ipaddr.process(ip);
  if (address.kind() === "ipv4") return `address:${address.toString()}`;
  return `address:${(address as ipaddr.IPv6).parts.slice(0, 4).join(":")}`;
}

/** The networks that an address is in, from the largest to the one that `addressKey` counts. */
export function networksOf(ip: string): readonly string[] {
  if (!ipaddr.isValid(ip)) return ["unknown"];
  const address = ipaddr.process(ip);
  const hex = Buffer.from(address.toByteArray()).toString("hex");
  const bits = address.kind() === "ipv4" ? [24, 32] : [48, 56, 64];
  return bits.map((length) => `${address.kind()} ${hex.slice(0, length / 4)}`);
}

/** An IP address, or a range in CIDR notation. Short forms such as `127.1` are refused: nobody agrees what they mean. */
export function isAddressRange(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  if (rest.length > 0) return false;
  if (!ipaddr.IPv4.isValidFourPartDecimal(address) && !ipaddr.IPv6.isValid(address)) return false;
  return bits === undefined || ipaddr.isValidCIDR(text);
}

/** Whether a host, with or without brackets, is this machine itself. A name other than localhost is not. */
export function isLoopbackHost(host: string): boolean {
  const bare = host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
  if (bare.toLowerCase() === "localhost") return true;
  // Strict forms only: what `127.1` or `0x7f.1` means is up to the system.
  if (ipaddr.IPv4.isValidFourPartDecimal(bare)) return ipaddr.IPv4.parse(bare).range() === "loopback";
  return ipaddr.IPv6.isValid(bare) && ipaddr.process(bare).range() === "loopback";
}
