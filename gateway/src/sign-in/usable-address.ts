import { asciiDomain } from "./oidc-domains.ts";
import { emailSchema } from "./person-schemas.ts";

/**
 * An address as users here have one: ASCII, its domain by the name that the network knows. null for others: two that differ
 * must not become one by losing their case (`K`, the Kelvin sign, becomes a k).
 */
export function usableAddress(email: string): string | null {
  const at = email.lastIndexOf("@");
  const read = emailSchema.safeParse(`${email.slice(0, at)}@${asciiDomain(email.slice(at + 1))}`);
  return read.success ? read.data : null;
}
