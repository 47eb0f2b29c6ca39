import { randomBytes } from "node:crypto";
import { createMemoryCounter, createMemoryTries } from "#coordination/index.ts";
import { Admission } from "#limits/index.ts";
import type { Mailer, OpenTries } from "#ports/index.ts";
import { silentObserver } from "../conformance/store-ground.ts";
import { type ConsoleGround, type GroundAnswer, openConsoleGround, type Who } from "../console-ground.ts";

export interface PeopleGround extends ConsoleGround {
  /** Every mail sent. */
  readonly mails: { readonly to: readonly string[]; readonly subject: string; readonly text: string }[];
  invite(who: Who, email: string, role?: string): Promise<GroundAnswer>;
  /** Sends the secret behind # of a link in the body, as the console does. */
  preview(link: string, ip?: string): Promise<GroundAnswer>;
  accept(link: string, as?: Who, ip?: string): Promise<GroundAnswer>;
}

export interface PeopleGroundOptions {
  readonly publicUrl?: string;
  readonly mail?: "sent" | "refused";
  readonly openTries?: OpenTries;
}

/** The API of users and tokens over the real stores. */
export async function openPeopleGround({
  publicUrl,
  mail,
  openTries,
}: PeopleGroundOptions = {}): Promise<PeopleGround> {
  const mails: PeopleGround["mails"] = [];
  const mailer: Mailer = {
    async send(message) {
      if (mail === "refused") throw new Error("the mail server is away");
      mails.push(message);
    },
  };
  const ground = await openConsoleGround((gateway) => {
    return {
      admission: new Admission({ counter: createMemoryCounter({ clock: gateway.clock }), clock: gateway.clock }),
      openTries: openTries ?? createMemoryTries(gateway.clock),
      observer: silentObserver,
      mailer: mail === undefined ? null : mailer,
      publicUrl: publicUrl ?? null,
      randomBytes,
      changesSeen: async () => undefined,
    };
  });
  const account = { name: "New One", password: "correct horse battery" };
  return {
    ...ground,
    mails,
    invite: (who, email, role = "member") =>
      ground.call(who, "invitations.create", { params: { workspace: "acme" }, body: { email, role } }),
    preview: (link, ip = "192.0.2.50") =>
      ground.call("nobody", "invitation.find", { body: { token: secretOf(link) }, ip }),
    accept: (link, as = "nobody", ip = "192.0.2.51") =>
      ground.call(as, "invitation.accept", {
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
  ground: ConsoleGround,
  userId: string,
  id = `ses_${crypto.randomUUID()}`,
): Promise<void> {
  const at = new Date(ground.clock.now()).toISOString();
  const row = { id, user_id: userId, token: id, expires_at: at, created_at: at, updated_at: at };
  await ground.database.kysely
    .insertInto("auth_sessions")
    .values({ ...row, ip_address: null, user_agent: null })
    .execute();
}

/** The user ids of the sessions that still exist. */
export async function openSessions(ground: ConsoleGround): Promise<readonly string[]> {
  const rows = await ground.database.kysely.selectFrom("auth_sessions").select("user_id").execute();
  return rows.map((row) => row.user_id);
}
