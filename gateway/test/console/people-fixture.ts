import { randomBytes } from "node:crypto";
import { createMemoryCounter, createMemoryTries } from "#coordination/index.ts";
import { Failure } from "#core/index.ts";
import { Admission } from "#limits/index.ts";
import type { Mailer, OpenTries } from "#ports/index.ts";
import { silentObserver } from "../conformance/store-fixture.ts";
import { type ConsoleFixture, type FixtureAnswer, openConsoleFixture, type Who } from "../console-fixture.ts";

export interface PeopleFixture extends ConsoleFixture {
  /** Every mail sent. */
  readonly mails: { readonly to: readonly string[]; readonly subject: string; readonly text: string }[];
  /** What people spent, as the reports answer. */
  readonly spends: { personId: string; usd: number }[];
  invite(who: Who, email: string, role?: string): Promise<FixtureAnswer>;
  /** Sends the secret behind # of a link in the body, as the console does. */
  preview(link: string, ip?: string): Promise<FixtureAnswer>;
  accept(link: string, as?: Who, ip?: string): Promise<FixtureAnswer>;
}

export interface PeopleFixtureOptions {
  readonly publicUrl?: string;
  readonly mail?: "sent" | "refused";
  readonly openTries?: OpenTries;
  readonly reports?: "unavailable";
}

/** The API of users and tokens over the real stores. */
export async function openPeopleFixture({
  publicUrl,
  mail,
  openTries,
  reports,
}: PeopleFixtureOptions = {}): Promise<PeopleFixture> {
  const mails: PeopleFixture["mails"] = [];
  const spends: PeopleFixture["spends"] = [];
  const mailer: Mailer = {
    async send(message) {
      if (mail === "refused") throw new Error("the mail server is away");
      mails.push(message);
    },
  };
  const fixture = await openConsoleFixture((gateway) => {
    return {
      admission: new Admission({ counter: createMemoryCounter({ clock: gateway.clock }), clock: gateway.clock }),
      openTries: openTries ?? createMemoryTries(gateway.clock),
      observer: silentObserver,
      reports: {
        listCount: async () => ({ total: null, more_than_total: false }),
        personSpend: async () => {
          if (reports === "unavailable") throw new Failure("draining", "The gateway is shutting down.");
          return spends;
        },
      },
      mailer: mail === undefined ? null : mailer,
      publicUrl: publicUrl ?? null,
      randomBytes,
      changesSeen: async () => undefined,
    };
  });
  const account = { name: "New One", password: "correct horse battery" };
  return {
    ...fixture,
    mails,
    spends,
    invite: (who, email, role = "member") =>
      fixture.call(who, "invitations.create", { params: { workspace: "acme" }, body: { email, role } }),
    preview: (link, ip = "192.0.2.50") =>
      fixture.call("nobody", "invitation.find", { body: { token: secretOf(link) }, ip }),
    accept: (link, as = "nobody", ip = "192.0.2.51") =>
      fixture.call(as, "invitation.accept", {
        body: { token: secretOf(link), ...(as === "nobody" ? account : {}) },
        ip,
      }),
  };
}

export function secretOf(link: string): string {
  return /#(?:invite|reset)=(.+)$/.exec(link)?.[1] ?? link;
}

/** Stores a session as the sign-in library does, to check later whether it still exists. */
export async function openSession(
  fixture: ConsoleFixture,
  userId: string,
  id = `ses_${crypto.randomUUID()}`,
): Promise<void> {
  const at = new Date(fixture.clock.now()).toISOString();
  const row = { id, user_id: userId, token: id, expires_at: at, created_at: at, updated_at: at };
  await fixture.database.kysely
    .insertInto("auth_sessions")
    .values({ ...row, ip_address: null, user_agent: null })
    .execute();
}

/** The user ids of the sessions that still exist. */
export async function openSessions(fixture: ConsoleFixture): Promise<readonly string[]> {
  const rows = await fixture.database.kysely.selectFrom("auth_sessions").select("user_id").execute();
  return rows.map((row) => row.user_id);
}
