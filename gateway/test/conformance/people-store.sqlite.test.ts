import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closeDatabase, createControlStore, createPeopleStore, openDatabase, openVault } from "#storage/index.ts";
import { createIds } from "#system/index.ts";
import { FakeClock } from "../fake-clock.ts";
import { createHeaderSignIn } from "../header-sign-in.ts";
import { migrated } from "../migrated.ts";
import { type PeopleGround, peopleStoreSuite } from "./people-store-suite.ts";
import { by, kindDefaults, newYear } from "./store-ground.ts";

peopleStoreSuite("sqlite", async (): Promise<PeopleGround> => {
  const directory = mkdtempSync(join(tmpdir(), "sluice-people-"));
  const clock = new FakeClock(newYear);
  const ids = createIds(clock);
  const vault = openVault({ masterKey: null, dataDir: directory });
  const database = openDatabase({ path: join(directory, "sluice.db") });
  await migrated(database);
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
    acme: acme.id,
    other: other.id,
    user: async (name) => (await signIn.createUser({ email: `${name}@example.com`, name, password: "" })).id,
    remove: (userId) => signIn.removeUser(userId),
    async [Symbol.asyncDispose]() {
      await closeDatabase(database);
      rmSync(directory, { recursive: true, force: true });
    },
  };
});
