import { domainToASCII } from "node:url";
import { Failure } from "#core/index.ts";
import type { OidcAccount } from "#ports/index.ts";
import { emailSchema } from "./person-schemas.ts";

/** What the sign-in page and the profile are told of a refusal: few words, and none that the issuer chose. */
export const refusalWords = [
  "denied",
  "expired",
  "no_email",
  "email_not_verified",
  "not_invited",
  "account_exists",
  "other_person",
  "sign_in_first",
  "no_access",
  "failed",
] as const;
export type RefusalWord = (typeof refusalWords)[number];

/** A refusal that is shown as one word. */
function refusal(word: RefusalWord): Failure {
  return new Failure("sign_in_refused", "Single sign-on was refused.", { param: word });
}

/**
 * Whom an issuer may speak for at all: those with an address in the account's domains. Asked at every coming back, whoever
 * it is: an issuer that is let in for one domain says nothing about people of another.
 */
export function checkDomain(account: OidcAccount, email: string | undefined): void {
  if (email === undefined || email === "") throw refusal("no_email");
  if (account.allowedDomains.length > 0 && !isAllowed(account, email)) throw refusal("not_invited");
}

/**
 * An address as users here have one: ASCII, its domain by the name that the network knows. null for others: two that differ
 * must not become one by losing their case (`K`, the Kelvin sign, becomes a k).
 */
export function usableAddress(email: string): string | null {
  const at = email.lastIndexOf("@");
  const read = emailSchema.safeParse(`${email.slice(0, at)}@${asciiDomain(email.slice(at + 1))}`);
  return read.success ? read.data : null;
}

export function isAllowed({ allowedDomains }: OidcAccount, email: string): boolean {
  const domain = asciiDomain(email.split("@").at(-1) ?? "");
  return domain !== "" && allowedDomains.some((each) => asciiDomain(each) === domain);
}

/** One name for a domain, however it is written: `BÜCHER.example` and `xn--bcher-kva.example` are the same. */
function asciiDomain(domain: string): string {
  return domainToASCII(domain.trim().toLowerCase());
}
