import ipaddr from "ipaddr.js";

/** An IP address, or a range in CIDR notation. Short forms such as `127.1` are refused: nobody agrees what they mean. */
export function isAddressRange(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  if (rest.length > 0) return false;
  if (!ipaddr.IPv4.isValidFourPartDecimal(address) && !ipaddr.IPv6.isValid(address)) return false;
  return bits === undefined || ipaddr.isValidCIDR(text);
}
