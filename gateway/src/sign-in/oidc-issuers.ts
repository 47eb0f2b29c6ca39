import { domainToASCII } from "node:url";
import { Failure, isLoopbackHost } from "#core/index.ts";
import type { Clock, NewIdentity, Observer, OidcAccount, Transport } from "#ports/index.ts";
import { IssuerDocuments } from "./issuer-documents.ts";

export interface IssuersOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly observer: Observer;
  /** Which claims the rules of an account read. */
  readonly pathsOf: (account: string) => Promise<readonly string[]>;
  /** Connects an identity to somebody whom a directory made and who waits for their first sign-in, if there is such a one. */
  readonly connect: (identity: NewIdentity) => Promise<void>;
}

export interface Issuer {
  readonly account: OidcAccount;
  readonly documents: IssuerDocuments;
}

/** The issuers of single sign-on that count now. */
export class Issuers {
  readonly options: IssuersOptions;
  #issuers: ReadonlyMap<string, Issuer> = new Map();

  constructor(options: IssuersOptions) {
    this.options = options;
  }

  use(accounts: readonly OidcAccount[]): void {
    const { transport, clock, observer } = this.options;
    const issuers = new Map<string, Issuer>();
    for (const account of accounts) {
      const problem = problemOf(account);
      if (problem === null) {
        issuers.set(account.id, { account, documents: new IssuerDocuments(account.issuer, transport, clock) });
      } else {
        observer.log("warn", "An account of single sign-on is left out.", { account: account.id, problem });
      }
    }
    this.#issuers = issuers;
  }

  issuer(id: string): Issuer | null {
    return this.#issuers.get(id) ?? null;
  }

  account(id: string): OidcAccount | null {
    return this.#issuers.get(id)?.account ?? null;
  }

  all(): readonly Issuer[] {
    return [...this.#issuers.values()];
  }
}

function problemOf(account: OidcAccount): string | null {
  // The id stands in the callback's path; the library keeps passwords under the name `credential`.
  if (!/^[a-z0-9][a-z0-9_-]{0,63}$/i.test(account.id) || account.id === "credential") return "its id cannot be used";
  if (!URL.canParse(account.issuer)) return "its issuer is not a URL";
  const { protocol, hostname } = new URL(account.issuer);
  const local = isLoopbackHost(hostname);
  return protocol === "https:" || (protocol === "http:" && local) ? null : "its issuer is not reached by https";
}

/** What the sign-in page and the profile are told of a refusal: few words, and none that the issuer chose. */
export const refusalReasons = [
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
export type RefusalReason = (typeof refusalReasons)[number];

/** A refusal that is shown as one word. */
function refusal(word: RefusalReason): Failure {
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
