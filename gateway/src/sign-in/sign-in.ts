import { BoundedMap, type Claims } from "#core/index.ts";
import type {
  ClaimsReceiver,
  Clock,
  Ids,
  NewIdentity,
  Observer,
  OidcAccount,
  OpenTries,
  SignIn,
  SignInEvent,
  Transport,
  VersionedSecret,
} from "#ports/index.ts";
import type { SignInDependencies } from "./call.ts";
import { openTryCounts, trustedBrowsers } from "./guards.ts";
import type { Library } from "./library.ts";
import { Issuers, isAllowed } from "./oidc-issuers.ts";
import { boundedPasswords, checkPassword, type PasswordFunctions } from "./passwords.ts";
import { type AuthDatabase, Sessions } from "./sessions.ts";
import { type Site, siteOf } from "./site.ts";
import { readPerson, Users } from "./users.ts";

const signInSweepMs = 600_000;
/** Addresses of this gateway, each with its own sign-in. */
const signInSitesMax = 8;

export interface SignInOptions extends PasswordFunctions {
  readonly database: AuthDatabase;
  /** The first signs cookies; all decrypt second factors. At least 32 random characters each. Read again after each `useOidc`. */
  readonly secrets: () => readonly VersionedSecret[];
  /** Address of the console; null: only the names of this machine. */
  readonly publicUrl: string | null;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly openTries: OpenTries;
  readonly observer: Observer;
  readonly transport: Transport;
  readonly oidc: readonly OidcAccount[];
  /** Receives the claims of users. */
  readonly rights?: ClaimsReceiver;
  /** Connects an identity to a user whom a directory created and who cannot sign in yet, if there is one. */
  readonly connect?: (identity: NewIdentity) => Promise<void>;
  /** Records sign-in events. Must not throw. */
  readonly onEvent?: (event: SignInEvent) => void;
}

export function createSignIn(options: SignInOptions): SignIn {
  const { database, clock, ids, observer, transport, publicUrl, secrets } = options;
  const passwords = boundedPasswords(options);
  const sessions = new Sessions(database, clock);
  const rights = options.rights ?? ignoreClaims;
  const issuers = new Issuers({
    transport,
    clock,
    observer,
    pathsOf: (account) => rights.pathsOf(account),
    connect: options.connect ?? (async () => {}),
  });
  const mayUse = (provider: string) => issuers.account(provider) !== null;
  const users = new Users(database, mayUse);
  const hashPassword = async (password: string): Promise<string> => {
    checkPassword(password, "password");
    return await passwords.hashPassword(password);
  };
  issuers.use(options.oidc);
  // The library is built for one site and a fixed set of issuers, so there is one instance per site, and one for passkeys.
  const libraries = new BoundedMap<string, Promise<Library>>(2 * signInSitesMax);
  const open = async (site: Site, withPasskeys: boolean): Promise<Library> => {
    const { openLibrary } = await import("./library.ts");
    const parts = { database, secrets: secrets(), passwords, ids, observer, issuers, sessions };
    return await openLibrary(parts, site, withPasskeys);
  };
  const library = (site: Site, withPasskeys: boolean): Promise<Library> => {
    const name = `${site.origin} ${withPasskeys}`;
    const known = libraries.get(name);
    if (known !== undefined) return known;
    const opening = open(site, withPasskeys);
    libraries.set(name, opening);
    opening.catch(() => libraries.delete(name));
    return opening;
  };
  const dependencies: SignInDependencies = {
    database,
    sessions,
    users,
    issuers,
    rights,
    clock,
    tries: openTryCounts(options.openTries),
    devices: trustedBrowsers(() => secrets()[0]?.value ?? "", clock),
    onEvent: options.onEvent ?? (() => {}),
    onEventLost: ({ message }) => observer.log("warn", "failed to record a refused sign-in", { error: message }),
    library,
  };
  let sweepAtMs = 0;
  const sweep = async (): Promise<void> => {
    if (clock.monotonic() < sweepAtMs) return;
    sweepAtMs = clock.monotonic() + signInSweepMs;
    await sessions.deleteExpired().catch((thrown: Error) => {
      observer.log("warn", "failed to delete expired sign-in data", { error: thrown.message });
    });
  };
  return {
    async handle(request, info) {
      await sweep();
      const { answerAuth } = await import("./mount-sign-in.ts");
      return await answerAuth({ dependencies, publicUrl, observer }, request, info.ip);
    },
    async session(request) {
      const site = siteOf(request, publicUrl);
      const session = site === null ? null : await sessions.find(request.headers, site);
      if (session === null) return null;
      return { user: session.user, sessionId: session.id, fresh: session.fresh };
    },
    sessionsOf: (userId) => sessions.list(userId),
    methods: () => ({
      password: true,
      passkey: true,
      oidc: issuers.all().map(({ account: { id, name } }) => ({ id, name })),
    }),
    prepareUser: async (user) => ({ ...(await readPerson(user)), passwordHash: await hashPassword(user.password) }),
    hashPassword,
    async recheckAtIssuer({ account, userId, refreshToken }) {
      const issuer = issuers.issuer(account);
      const subject = issuer === null ? null : await users.subjectAt(userId, account);
      if (issuer === null || subject === null) return { kind: "unknown" };
      const { refreshClaims } = await import("./oidc-tokens.ts");
      const answer = await refreshClaims(issuer, { refreshToken, subject, paths: await rights.pathsOf(account) });
      if (answer.kind === "claims" && !mayVouchFor(issuer.account, answer.claims)) return { kind: "refused" };
      return answer;
    },
    recheckTimes(account) {
      const known = issuers.account(account);
      return known === null
        ? null
        : { recheckMs: known.recheckMinutes * minuteMs, graceMs: known.graceHours * 60 * minuteMs };
    },
    useOidc(accounts) {
      issuers.use(accounts.filter(({ suspended }) => suspended !== true));
      libraries.clear();
    },
  };
}

const minuteMs = 60_000;

const ignoreClaims: ClaimsReceiver = { pathsOf: async () => [], receive: async () => {} };

/** Whether the address in a refresh is in the account's domains. Many issuers send none. */
function mayVouchFor(account: OidcAccount, { email }: Claims): boolean {
  return typeof email !== "string" || account.allowedDomains.length === 0 || isAllowed(account, email);
}
