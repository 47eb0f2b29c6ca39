/** Whether a text is an address or a range (`10.0.0.0/8`, `2001:db8::/32`)that the gateway accepts. */
export function isIpRange(text: string): boolean {
  const [address = "", bits, ...more] = text.split("/");
  if (more.length > 0) return false;
  const most = isIpv4(address) ? 32 : isIpv6(address) ? 128 : null;
  if (most === null) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most);
}

function isIpv4(text: string): boolean {
  const parts = text.split(".");
  return parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255);
}

function isIpv6(text: string): boolean {
  return text.includes(":") && URL.canParse(`http://[${text}]/`);
}
