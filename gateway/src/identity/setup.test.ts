import { expect, test } from "bun:test";
import { Failure } from "#core/index.ts";
import { createSetup, type SetupOptions } from "./setup.ts";

const token = "t".repeat(43);
const password = "correct horse battery";
const ip = "192.0.2.1";

interface Row {
  readonly email: string;
  password: string;
  administrator: boolean;
}

/** Users in memory, as both ports promise to keep them. */
function rowStores(existing: readonly Omit<Row, "password">[] = []) {
  const rows: Row[] = existing.map((row) => ({ ...row, password: "the password before" }));
  const stores: Pick<SetupOptions, "signIn" | "people"> = {
    signIn: {
      prepareUser: async ({ email, name, password }) => {
        if (password.length < 12 || password.length > 256) {
          throw new Failure("invalid_request", "the password has a wrong length", { param: "password" });
        }
        return { email: email.trim().toLowerCase(), name, passwordHash: password };
      },
    },
    people: {
      administratorExists: async () => rows.some((row) => row.administrator),
      makeFirstAdministrator: async ({ email, passwordHash }) => {
        if (rows.some((row) => row.administrator)) return false;
        const row = rows.find((each) => each.email === email);
        if (row === undefined) rows.push({ email, password: passwordHash, administrator: true });
        else Object.assign(row, { password: passwordHash, administrator: true });
        return true;
      },
    },
  };
  return { rows, ...stores };
}

const open = (stores: Pick<SetupOptions, "signIn" | "people">) =>
  createSetup({ signIn: stores.signIn, people: stores.people, randomToken: () => token });

async function codeOf(act: Promise<unknown>): Promise<string> {
  const thrown = await act.then(
    () => null,
    (reason: unknown) => reason,
  );
  return thrown instanceof Failure ? `${thrown.code} ${thrown.param ?? ""}`.trim() : String(thrown);
}

test("accepts the setup link once and creates the first administrator", async () => {
  const stores = rowStores();
  const setup = await open(stores);
  expect(setup.token()).toBe(token);
  await setup.complete({ token, email: " Ada@Example.com ", password, ip });
  expect(stores.rows).toMatchObject([{ email: "ada@example.com", password, administrator: true }]);
  expect(setup.token()).toBeNull();
  expect(await codeOf(setup.complete({ token, email: "b@example.com", password, ip }))).toBe("forbidden");
});

test("creates no setup link if there is an administrator", async () => {
  const setup = await open(rowStores([{ email: "ada@example.com", administrator: true }]));
  expect(setup.token()).toBeNull();
  expect(await codeOf(setup.complete({ token, email: "b@example.com", password, ip }))).toBe("forbidden");
});

test("creates no user for a wrong token, and keeps the link valid", async () => {
  const stores = rowStores();
  const setup = await open(stores);
  for (const wrong of ["", "x", `${"t".repeat(42)}u`, `${token}t`]) {
    expect(await codeOf(setup.complete({ token: wrong, email: "a@example.com", password, ip }))).toBe("forbidden");
  }
  expect(stores.rows).toEqual([]);
  await setup.complete({ token, email: "a@example.com", password, ip });
});

test("rejects a password outside 12 to 256 characters, and keeps the link valid", async () => {
  const setup = await open(rowStores());
  for (const bad of ["p".repeat(11), "p".repeat(257)]) {
    const attempt = setup.complete({ token, email: "a@example.com", password: bad, ip });
    expect(await codeOf(attempt)).toBe("invalid_request password");
  }
  expect(setup.token()).toBe(token);
});

test("creates one administrator and one user for two concurrent setups", async () => {
  const stores = rowStores();
  const setup = await open(stores);
  const results = await Promise.all([
    codeOf(setup.complete({ token, email: "a@example.com", password, ip })),
    codeOf(setup.complete({ token, email: "b@example.com", password, ip })),
  ]);
  expect(results.toSorted()).toEqual(["forbidden", "null"]);
  expect(stores.rows).toHaveLength(1);
});

test("creates one administrator and one user for concurrent setups in two processes", async () => {
  const stores = rowStores();
  const [one, two] = [await open(stores), await open(stores)];
  const results = await Promise.all([
    codeOf(one.complete({ token, email: "a@example.com", password, ip })),
    codeOf(two.complete({ token, email: "b@example.com", password, ip })),
  ]);
  expect(results.toSorted()).toEqual(["forbidden", "null"]);
  expect(stores.rows).toMatchObject([{ administrator: true }]);
});

test("completes a setup that was interrupted after creating the user", async () => {
  const stores = rowStores([{ email: "ada@example.com", administrator: false }]);
  const setup = await open(stores);
  await setup.complete({ token, email: "ada@example.com", password, ip });
  expect(stores.rows).toMatchObject([{ password, administrator: true }]);
});

test("keeps the link valid if setup fails for another reason", async () => {
  const stores = rowStores();
  const broken = { ...stores.signIn, prepareUser: () => Promise.reject(new Error("the disk is full")) };
  const setup = await open({ ...stores, signIn: broken });
  expect(await codeOf(setup.complete({ token, email: "a@example.com", password, ip }))).toContain("disk is full");
  expect(setup.token()).toBe(token);
});
