import ipaddr from "ipaddr.js";

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Parsed ranges by their list; the list is frozen with its key. */
const parsed = new WeakMap<readonly string[], readonly Range[]>();

/** Whether `address` lies in one of `ranges` (addresses or CIDR). An unreadable address lies in none. */
export function addressAllowed(ranges: readonly string[], address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const caller = ipaddr.process(address);
  let list = parsed.get(ranges);
  if (list === undefined) {
    list = ranges.flatMap(parseRange);
    parsed.set(ranges, list);
  }
  return list.some((range) => range[0].kind() === caller.kind() && caller.match(range as [ipaddr.IPv4, number]));
}

function parseRange(text: string): Range[] {
  if (ipaddr.isValidCIDR(text)) return [ipaddr.parseCIDR(text) as Range];
  if (!ipaddr.isValid(text)) return [];
  const address = ipaddr.process(text);
  return [[address, address.kind() === "ipv4" ? 32 : 128]];
}
