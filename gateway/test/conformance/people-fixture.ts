import {
  createAgentStore,
  createControlStore,
  createPeopleStore,
  createRightsStore,
  createScimStore,
} from "#directory/index.ts";
import { type Database, openVault } from "#storage/index.ts";
import { createIds } from "#system/index.ts";
import { FakeClock } from "../fake-clock.ts";
import { createHeaderSignIn } from "../header-sign-in.ts";
import type { AgentFixture } from "./agent-store-suite.ts";
import type { PeopleFixture } from "./people-facts.ts";
import type { RightsFixture } from "./rights-facts.ts";
import type { ScimStoreFixture } from "./scim-store-suite.ts";
import { by, kindDefaults, newYear } from "./store-fixture.ts";

/** Two workspaces without users, on a migrated database. `close` cleans up at the end. */
export async function peopleFixture(
  database: Database,
  dataDir: string,
  close: () => Promise<void>,
): Promise<PeopleFixture & AgentFixture & RightsFixture & ScimStoreFixture> {
  const clock = new FakeClock(newYear);
  const ids = createIds(clock);
  const vault = openVault({ masterKey: null, dataDir });
  const controlStore = createControlStore({ database, vault, clock, ids, kindDefaults });
  const signIn = createHeaderSignIn(database, () => clock.now());
  const [acme, other] = [
    await controlStore.addWorkspace({ slug: "acme", name: "Acme" }, by("test")),
    await controlStore.addWorkspace({ slug: "other", name: "Other" }, by("test")),
  ];
  return {
    database,
    clock,
    people: createPeopleStore({ database, clock, ids }),
    agents: createAgentStore({ database, clock, ids }),
    rights: createRightsStore({ database, clock, ids, vault }),
    scim: createScimStore({ database, clock, ids, vault }),
    controlStore,
    acme: acme.id,
    other: other.id,
    user: async (name) => (await signIn.createUser({ email: `${name}@example.com`, name })).id,
    remove: (userId) => signIn.removeUser(userId),
    [Symbol.asyncDispose]: close,
  };
}
