import type { z } from "zod";
import { addressKey, bounds, Failure } from "#core/index.ts";
import type { ClaimsReceiver, Clock, SignInEvent } from "#ports/index.ts";
import { type TryCounts, takeTry, type trustedBrowsers } from "./guards.ts";
import { addressHeader, type Library } from "./library.ts";
import { failureOf, type Problems } from "./library-problems.ts";
import type { Issuers } from "./oidc-issuers.ts";
import type { AuthDatabase, Session, Sessions } from "./sessions.ts";
import type { Site } from "./site.ts";
import type { Users } from "./users.ts";

/** Delay before a refused sign-in is recorded, so that the answer has left. */
const refusalNoteMs = 50;

export interface SignInDependencies {
  readonly database: AuthDatabase;
  readonly sessions: Sessions;
  readonly users: Users;
  readonly issuers: Issuers;
  readonly rights: ClaimsReceiver;
  readonly clock: Clock;
  readonly tries: TryCounts;
  readonly devices: ReturnType<typeof trustedBrowsers>;
  readonly onEvent: (event: SignInEvent) => void;
  readonly onEventLost: (error: Error) => void;
  /** `withPasskeys`: for the paths under /passkey, and no others. */
  library(site: Site, withPasskeys: boolean): Promise<Library>;
}

/** One path under /api/auth. `session`: requires a session; `fresh`: a recent one. */
export interface CallSpec {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly needs: "anybody" | "session" | "fresh";
  readonly body: z.ZodType | null;
  answer(call: Call, body: never): Promise<Response>;
}

export function get(path: string, needs: CallSpec["needs"], answer: (call: Call) => Promise<Response>): CallSpec {
  return { method: "GET", path, needs, body: null, answer };
}

export function post<Body extends z.ZodType>(
  path: string,
  needs: CallSpec["needs"],
  body: Body,
  answer: (call: Call, body: z.output<Body>) => Promise<Response>,
): CallSpec {
  return { method: "POST", path, needs, body, answer };
}

export interface LibraryAnswer {
  readonly json: Readonly<Record<string, unknown>>;
  readonly cookies: readonly string[];
  readonly location: string | null;
}

export interface LibraryCallOptions {
  readonly body?: object;
  readonly query?: URLSearchParams;
  readonly problems?: Problems;
}

/** An attempt to guess a secret: its type and account. */
export interface Guess {
  readonly by: NonNullable<SignInEvent["by"]>;
  /** Key that counts attempts for this account; null: the attempt itself names the account. */
  readonly account: string | null;
  readonly userId: string | null;
  readonly email: string | null;
}

export class Call {
  readonly dependencies: SignInDependencies;
  readonly request: Request;
  readonly site: Site;
  readonly ip: string;
  /** The current session. */
  readonly session: Session | null;
  /** The `:id` of the path. */
  readonly pathId: string;
  /** `set-cookie` lines in addition to the library's. */
  readonly cookies: string[] = [];

  constructor(given: Pick<Call, "dependencies" | "request" | "site" | "ip" | "session" | "pathId">) {
    this.dependencies = given.dependencies;
    this.request = given.request;
    this.site = given.site;
    this.ip = given.ip;
    this.session = given.session;
    this.pathId = given.pathId;
  }

  get signedIn(): Session {
    if (this.session === null) throw new Failure("not_signed_in", "Sign in first.");
    return this.session;
  }

  get address(): string {
    return addressKey(this.ip);
  }

  /** Calls the library with checked values only. Throws its errors as ours. */
  async callLibrary(path: string, options: LibraryCallOptions = {}): Promise<LibraryAnswer> {
    const library = await this.dependencies.library(this.site, path.startsWith("/passkey/"));
    const headers = new Headers({ origin: this.site.origin, [addressHeader]: this.ip });
    for (const name of ["cookie", "user-agent"]) {
      const value = this.request.headers.get(name);
      if (value !== null) headers.set(name, name === "cookie" ? value : value.slice(0, bounds.userAgentBytesMax));
    }
    const init: RequestInit = { method: this.request.method, headers };
    if (options.body !== undefined) {
      headers.set("content-type", "application/json");
      init.body = JSON.stringify(options.body);
    }
    const query = options.query === undefined ? "" : `?${options.query}`;
    const answer = await library(new Request(`${this.site.origin}/api/auth${path}${query}`, init));
    const text = await answer.text();
    const json = readObject(text);
    if (answer.status >= 400) throw failureOf(answer.status, String(json["code"] ?? ""), options.problems ?? {});
    return { json, cookies: answer.headers.getSetCookie(), location: answer.headers.get("location") };
  }

  /** Counts an action that needs no sign-in. */
  async countStart(): Promise<void> {
    await takeTry(this.dependencies.tries.starts, [this.address]);
  }

  /** Counts an attempt and runs it. A success is not counted, and resets the count of the account. */
  async guess<Result>(guess: Guess, work: () => Promise<Result>): Promise<Result> {
    const { guesses } = this.dependencies.tries;
    // A locked account does not affect a trusted browser, but a locked address does.
    const device =
      guess.email === null ? null : this.dependencies.devices.keyOf(this.request.headers, this.site, guess.email);
    const account = guess.account === null ? null : device === null ? guess.account : `${device} ${guess.account}`;
    const keys = account === null ? [this.address] : [account, this.address];
    const { isLast } = await takeTry(guesses, keys);
    try {
      const result = await work();
      await guesses.giveBack([this.address]);
      if (account !== null) await guesses.forget(account);
      return result;
    } catch (thrown) {
      if (isWrongGuess(thrown)) this.#emitRefused(guess, isLast);
      // The original error matters more than a failed refund.
      else await guesses.giveBack(keys).catch(() => undefined);
      throw thrown;
    }
  }

  /** Signs in with the session that the library opened, which replaces the previous one. */
  async openSession(answer: LibraryAnswer, by: Guess["by"]): Promise<Session> {
    const session = await this.dependencies.sessions.openedBy(answer.cookies, this.site);
    if (session === null) throw new Failure("internal_error", "The session was not opened.");
    await this.endSession();
    this.cookies.push(this.dependencies.devices.cookie(this.site, session.user.email));
    this.emit("signed-in", by, session.user);
    return session;
  }

  /** Ends the session of this call, since the browser gets another one or none. */
  async endSession(): Promise<void> {
    if (this.session !== null) await this.dependencies.sessions.end(this.session.user.id, this.session.id);
  }

  /** After a change of sign-in methods: a new session for this browser, and all others end. */
  async renewSession(answer: LibraryAnswer): Promise<Response> {
    const session = await this.dependencies.sessions.openedBy(answer.cookies, this.site);
    await this.dependencies.sessions.endAll(this.signedIn.user.id, session?.id ?? null);
    return answerJson({ user: userView(this.signedIn) }, answer.cookies);
  }

  /** Looks up the account and writes the record after the answer, so that response times do not reveal which accounts exist. */
  #emitRefused(guess: Guess, locked: boolean): void {
    const report = async (): Promise<void> => {
      const userId = guess.userId ?? (guess.email === null ? null : await this.dependencies.users.idOf(guess.email));
      this.emit("sign-in-refused", guess.by, { userId, email: guess.email });
      if (locked) this.emit("sign-in-locked", guess.by, { userId, email: guess.email });
    };
    this.dependencies.clock.after(refusalNoteMs, () => void report().catch(this.dependencies.onEventLost));
  }

  emit(
    what: SignInEvent["what"],
    by: SignInEvent["by"],
    who: { readonly id?: string; readonly userId?: string | null; readonly email: string | null },
  ): void {
    this.dependencies.onEvent({ what, by, userId: who.id ?? who.userId ?? null, email: who.email, ip: this.ip });
  }
}

export function userView(session: Session): object {
  const { id, email, name } = session.user;
  return { id, email, name };
}

function isWrongGuess(thrown: unknown): boolean {
  if (!(thrown instanceof Failure)) return false;
  return thrown.code === "sign_in_refused" || (thrown.code === "invalid_request" && thrown.param !== null);
}

function readObject(text: string): Readonly<Record<string, unknown>> {
  if (text === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return { list: value };
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** An uncached JSON answer with cookies. */
export function answerJson(value: object, cookies: readonly string[] = []): Response {
  return withCookies(Response.json(value, { headers: { "cache-control": "no-store" } }), cookies);
}

/** Redirects to one of our pages. */
export function answerRedirect(path: string, cookies: readonly string[] = []): Response {
  const headers = { location: path, "cache-control": "no-store" };
  return withCookies(new Response(null, { status: 302, headers }), cookies);
}

function withCookies(answer: Response, cookies: readonly string[]): Response {
  for (const cookie of cookies) answer.headers.append("set-cookie", cookie);
  return answer;
}
