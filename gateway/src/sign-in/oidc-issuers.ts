import { domainToASCII } from "node:url";
import { Failure, isLoopbackHost } from "#core/index.ts";
import type { Clock, NewIdentity, Observer, OidcAccount, Transport } from "#ports/index.ts";
import { IssuerDocuments } from "./issuer-documents.ts";

export interface IssuersOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly observer: Observer;
  /** The claims that an account's rules read. */
  readonly pathsOf: (account: string) => Promise<readonly string[]>;
  /** Connects an identity to a user whom a directory created and who cannot sign in yet, if there is one. */
  readonly connect: (identity: NewIdentity) => Promise<void>;
}

export interface Issuer {
  readonly account: OidcAccount;
  readonly documents: IssuerDocuments;
}

/** The enabled issuers. */
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
        observer.log("warn", "ignoring an invalid single sign-on account", { account: account.id, problem });
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
  // The id is part of the callback path; the library stores passwords under the name `credential`.
  if (!/^[a-z0-9][a-z0-9_-]{0,63}$/i.test(account.id) || account.id === "credential") return "its id cannot be used";
  if (!URL.canParse(account.issuer)) return "its issuer is not a URL";
  const { protocol, hostname } = new URL(account.issuer);
  const local = isLoopbackHost(hostname);
  return protocol === "https:" || (protocol === "http:" && local) ? null : "its issuer is not reached by https";
}

/** Error codes for the sign-in page and the profile, with nothing that the issuer chose. */
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

/** An error shown by its code. */
function refusal(word: RefusalReason): Failure {
  return new Failure("sign_in_refused", "Single sign-on was refused.", { param: word });
}

/** Only addresses in the account's domains are accepted, at every callback: an issuer is trusted only for its domains. */
export function checkDomain(account: OidcAccount, email: string | undefined): void {
  if (email === undefined || email === "") throw refusal("no_email");
  if (account.allowedDomains.length > 0 && !isAllowed(account, email)) throw refusal("not_invited");
}

export function isAllowed({ allowedDomains }: OidcAccount, email: string): boolean {
  const domain = asciiDomain(email.split("@").at(-1) ?? "");
  return domain !== "" && allowedDomains.some((each) => asciiDomain(each) === domain);
}

/** Normalizes a domain: `BÜCHER.example` and `xn--bcher-kva.example` are the same. */
export function asciiDomain(domain: string): string {
  return domainToASCII(domain.trim().toLowerCase());
}
