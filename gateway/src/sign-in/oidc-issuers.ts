import type { OAuthProvider } from "@better-auth/core/oauth2";
import type { Clock, Observer, OidcAccount, Transport } from "#ports/index.ts";
import { IssuerDocuments } from "./issuer-documents.ts";
import type { oidcProvider, ProviderOptions } from "./oidc-provider.ts";

export interface IssuersOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly observer: Observer;
  /** Which claims the rules of an account read. */
  readonly pathsOf: (account: string) => Promise<readonly string[]>;
  readonly connect: ProviderOptions["connect"];
}

interface Issuer {
  readonly account: OidcAccount;
  readonly documents: IssuerDocuments;
}

/** The issuers of single sign-on that count now. */
export class Issuers {
  readonly #options: IssuersOptions;
  #issuers: ReadonlyMap<string, Issuer> = new Map();

  constructor(options: IssuersOptions) {
    this.#options = options;
  }

  use(accounts: readonly OidcAccount[]): void {
    const { transport, clock, observer } = this.#options;
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

  documents(id: string): IssuerDocuments | null {
    return this.#issuers.get(id)?.documents ?? null;
  }

  list(): readonly OidcAccount[] {
    return [...this.#issuers.values()].map(({ account }) => account);
  }

  /** As the library takes them. `make` is given, not imported: it comes with the library, when somebody signs in. */
  providers(make: typeof oidcProvider): readonly OAuthProvider[] {
    return [...this.#issuers.values()].map(({ account, documents }) => make(account, documents, this.#options));
  }
}

function problemOf(account: OidcAccount): string | null {
  // The id stands in the callback's path; the library keeps passwords under the name `credential`.
  if (!/^[a-z0-9][a-z0-9_-]{0,63}$/i.test(account.id) || account.id === "credential") return "its id cannot be used";
  if (!URL.canParse(account.issuer)) return "its issuer is not a URL";
  const { protocol, hostname } = new URL(account.issuer);
  const local = ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
  return protocol === "https:" || (protocol === "http:" && local) ? null : "its issuer is not reached by https";
}
