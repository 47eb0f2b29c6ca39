import { domainToASCII } from "node:url";
import { Failure } from "#core/index.ts";
import type { OidcAccount } from "#ports/index.ts";

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

export function isAllowed({ allowedDomains }: OidcAccount, email: string): boolean {
  const domain = asciiDomain(email.split("@").at(-1) ?? "");
  return domain !== "" && allowedDomains.some((each) => asciiDomain(each) === domain);
}

/** One name for a domain, however it is written: `BÜCHER.example` and `xn--bcher-kva.example` are the same. */
export function asciiDomain(domain: string): string {
  return domainToASCII(domain.trim().toLowerCase());
}
