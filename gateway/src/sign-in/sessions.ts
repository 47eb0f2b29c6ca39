import { createHash } from "node:crypto";
import { bounds } from "#core/index.ts";
import type { Clock, User } from "#ports/index.ts";
import { type Database, deleteRows, not, setColumns } from "#storage/tables.ts";
import { cookieOf, type Site, signedValue } from "./site.ts";

/** Idle timeout, and how often use is recorded. */
const sessionIdleMs = 12 * 3_600_000;
const sessionTouchMs = 60_000;
const sessionsPerUserMax = 20;

export interface Session {
  readonly id: string;
  readonly user: User;
  readonly twoFactor: boolean;
  readonly createdAt: number;
  readonly seenAt: number;
  readonly endsAt: number;
  readonly fresh: boolean;
  readonly ip: string;
  readonly userAgent: string;
}

/** The stored digest. A plain hash is enough for 190 random bits. */
export function tokenDigest(token: string): string {
  return createHash("sha256").update(token).digest("base64url");
}

/**
 * Valid sessions. A session ends after `sessionIdleMs` without use, `sessionTotalMs` after its start, and when its user is disabled; it
 * is then deleted when it is next seen.
 */
export class Sessions {
  readonly #database: AuthDatabase;
  readonly #clock: Clock;

  constructor(database: AuthDatabase, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  async find(headers: Headers, site: Site): Promise<Session | null> {
    const token = cookieOf(headers, `${site.cookiePrefix}.session_token`);
    if (token === null) return null;
    const session = await this.#byToken(token);
    if (session !== null) await this.#touch(session);
    return session;
  }

  /** The session that an answer of the library opens; null: none. */
  async openedBy(cookies: readonly string[], site: Site): Promise<Session | null> {
    const start = `${site.cookiePrefix}.session_token=`;
    const line = cookies.findLast((cookie) => cookie.startsWith(start));
    const token = signedValue(line?.slice(start.length).split(";", 1)[0] ?? "");
    if (token === null) return null;
    const session = await this.#byToken(token);
    if (session !== null) await this.#afterOpening(session);
    return session;
  }

  async list(userId: string): Promise<readonly Session[]> {
    const rows = await sessionRows(this.#database).where("auth_sessions.user_id", "=", userId).execute();
    return rows
      .map((row) => this.#sessionOf(row))
      .filter((session) => this.#holds(session))
      .sort((left, right) => right.seenAt - left.seenAt);
  }

  /** True if the user had this session. */
  async end(userId: string, sessionId: string): Promise<boolean> {
    return (await deleteRows(this.#database, "auth_sessions", { user_id: userId, id: sessionId })) > 0;
  }

  /** Also removes unfinished sign-ins, such as one that waits for its code. */
  async endAll(userId: string, exceptId: string | null = null): Promise<number> {
    const ended = await deleteRows(this.#database, "auth_sessions", { user_id: userId, id: not(exceptId) });
    await deleteRows(this.#database, "auth_verifications", { value: userId });
    return ended;
  }

  /** Deletes expired rows. */
  async deleteExpired(): Promise<void> {
    const now = timeText(this.#clock.now());
    const idle = timeText(this.#clock.now() - sessionIdleMs);
    await this.#database.deleteFrom("auth_verifications").where("expires_at", "<", now).execute();
    await this.#database
      .deleteFrom("auth_sessions")
      .where((is) => is.or([is("expires_at", "<", now), is("updated_at", "<", idle)]))
      .execute();
  }

  async #byToken(token: string): Promise<Session | null> {
    const row = await sessionRows(this.#database)
      .where("auth_sessions.token", "=", tokenDigest(token))
      .executeTakeFirst();
    if (row === undefined) return null;
    const session = this.#sessionOf(row);
    if (row.disabled === 0 && this.#holds(session)) return session;
    await this.end(session.user.id, session.id);
    return null;
  }

  #holds(session: Session): boolean {
    const now = this.#clock.now();
    return now < session.endsAt && now < session.seenAt + sessionIdleMs;
  }

  async #touch(session: Session): Promise<void> {
    if (this.#clock.now() - session.seenAt < sessionTouchMs) return;
    const updated_at = timeText(this.#clock.now());
    await setColumns(this.#database, "auth_sessions", { id: session.id }, { updated_at });
    await this.#seen(session.user.id);
  }

  async #afterOpening(session: Session): Promise<void> {
    const oldest = this.#database
      .selectFrom("auth_sessions")
      .select("id")
      .where("user_id", "=", session.user.id)
      .orderBy("created_at", "desc")
      .limit(1_000)
      .offset(sessionsPerUserMax);
    await this.#database.deleteFrom("auth_sessions").where("id", "in", oldest).where("id", "!=", session.id).execute();
    await this.#seen(session.user.id);
  }

  async #seen(userId: string): Promise<void> {
    await setColumns(this.#database, "auth_users", { id: userId }, { last_seen_at: this.#clock.now() });
  }

  #sessionOf(row: SessionRow): Session {
    const createdAt = Date.parse(row.created_at);
    return {
      id: row.id,
      user: {
        id: row.user_id,
        email: row.email,
        name: row.name,
        createdAt: Date.parse(row.user_created_at),
      },
      twoFactor: Boolean(row.two_factor_enabled),
      createdAt,
      seenAt: Date.parse(row.updated_at),
      endsAt: Math.min(Date.parse(row.expires_at), createdAt + bounds.sessionTotalMs),
      fresh: this.#clock.now() < createdAt + bounds.sessionFreshMs,
      ip: row.ip_address ?? "",
      userAgent: row.user_agent ?? "",
    };
  }
}

type SessionRow = Awaited<ReturnType<ReturnType<typeof sessionRows>["execute"]>>[number];

function sessionRows(database: AuthDatabase) {
  return database
    .selectFrom("auth_sessions")
    .innerJoin("auth_users", "auth_users.id", "auth_sessions.user_id")
    .select([
      "auth_sessions.id",
      "auth_sessions.created_at",
      "auth_sessions.updated_at",
      "auth_sessions.expires_at",
      "auth_sessions.ip_address",
      "auth_sessions.user_agent",
      "auth_users.id as user_id",
      "auth_users.email",
      "auth_users.name",
      "auth_users.disabled",
      "auth_users.two_factor_enabled",
      "auth_users.created_at as user_created_at",
    ]);
}

/** Times are ISO 8601 text and flags 0 or 1, also on PostgreSQL. */
export type AuthDatabase = Database["kysely"];

export function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
