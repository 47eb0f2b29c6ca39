import ipaddr from "ipaddr.js";

/** Whether a host to listen on can be reached from this machine only. A name other than localhost counts as open. */
export function isLoopbackHost(host: string): boolean {
  const bare = host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
  if (bare.toLowerCase() === "localhost") return true;
  // Strict forms only: what `127.1` or `0x7f.1` means is up to the system.
  if (ipaddr.IPv4.isValidFourPartDecimal(bare)) return ipaddr.IPv4.parse(bare).range() === "loopback";
  return ipaddr.IPv6.isValid(bare) && ipaddr.process(bare).range() === "loopback";
}

/** Whether a text can be a host to listen on: an address (with or without brackets) or a name. */
export function isHost(text: string): boolean {
  const bare = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text;
  if (ipaddr.IPv6.isValid(bare)) return true;
  return (
    bare.length <= 253 &&
    /^[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*$/.test(bare)
  );
}
