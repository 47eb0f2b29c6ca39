import type { ConsoleUser } from "@sluice/contract";
import { bounds, Failure } from "#core/index.ts";
import type { PeopleStore } from "#directory/index.ts";
import type { Clock, Vault } from "#ports/index.ts";
import { type Handlers, requireActor } from "./handler.ts";
import { type OneTimeLinkOptions, oneTimeLink } from "./one-time-link.ts";

export interface UserHandlerDependencies extends OneTimeLinkOptions {
  readonly people: PeopleStore;
  readonly vault: Vault;
  readonly clock: Clock;
  /** Resolves when this process goes by everything that was written until now. */
  readonly changesSeen: () => Promise<void>;
}

/** The calls about users, all of them for administrators. */
export function userHandlers(
  dependencies: UserHandlerDependencies,
): Handlers<"users.list" | "users.update" | "users.remove" | "users.reset" | "users.resetSecondFactor"> {
  const { people, vault, clock } = dependencies;
  return {
    "users.list": ({ query }) =>
      listed(people.listUsers(query.search ?? null, query.cursor ?? null, query.limit ?? 50)),
    "users.update": async ({ params, body, auditSource }) => {
      const before = await userNamed(people, params.user);
      const change = {
        ...(body.administrator === undefined ? {} : { administrator: body.administrator }),
        ...(body.disabled === undefined ? {} : { disabled: body.disabled }),
        keys: body.keys,
      };
      const after = await people.updateUser(before.id, change, auditSource);
      await dependencies.changesSeen();
      return after;
    },
    "users.remove": async ({ params, body, auditSource }) => {
      const user = await userNamed(people, params.user);
      await people.removeUser(user.id, body.keys ?? null, auditSource);
      await dependencies.changesSeen();
      return {};
    },
    "users.reset": async ({ params, request, auditSource }) => {
      const user = await userNamed(people, params.user);
      if (user.disabled) throw new Failure("conflict", `${user.email} is disabled. Enable them first.`);
      const { secret, link } = oneTimeLink("reset", request, dependencies);
      const expiresAt = clock.now() + bounds.passwordResetMs;
      await people.createReset(user.id, vault.digest(secret), expiresAt, auditSource);
      return { link, expires_at: expiresAt };
    },
    "users.resetSecondFactor": async ({ params, body, actor, auditSource }) => {
      // A stolen session must not get rid of what the profile page asks the password for.
      if (requireActor(actor).userId === params.user) {
        throw new Failure("conflict", "This is you. Switch your own second factor off on your profile page.");
      }
      return await people.resetSecondFactor(params.user, { passkeys: body.passkeys ?? false }, auditSource);
    },
  };
}

async function listed<Item>(page: Promise<{ readonly data: readonly Item[]; readonly next: string | null }>) {
  const { data, next } = await page;
  return { data: [...data], next };
}

async function userNamed(people: PeopleStore, id: string): Promise<ConsoleUser> {
  const user = await people.user(id);
  if (user === null) throw new Failure("not_found", "There is no such user.", { param: "user" });
  return user;
}
