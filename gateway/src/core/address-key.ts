import ipaddr from "ipaddr.js";

/** One caller of IPv6 has a whole /64 to choose from. */
export function addressKey(ip: string): string {
  if (!ipaddr.isValid(ip)) return "address:unknown";
  const address = ipaddr.process(ip);
  if (address.kind() === "ipv4") return `address:${address.toString()}`;
  return `address:${(address as ipaddr.IPv6).parts.slice(0, 4).join(":")}`;
}
