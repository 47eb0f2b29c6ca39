import { expect, test } from "bun:test";
import { Failure } from "#core/index.ts";
import type { User } from "#ports/index.ts";
import { createSetup, type SetupOptions } from "./setup.ts";

const token = "t".repeat(43);
const password = "correct horse battery";
const ip = "192.0.2.1";

interface Row {
  readonly user: User;
  password: string;
  administrator: boolean;
}

/** Users and the right of the first administrator, kept the way both ports promise to keep them. */
function rowStores(existing: readonly { readonly email: string; readonly administrator: boolean }[] = []) {
  const rows: Row[] = [];
  const add = (email: string, text: string, administrator = false): Row => {
    if (rows.some((each) => each.user.email === email)) throw new Failure("invalid_request", "taken");
    const row = { user: { id: `usr_${email}`, email, name: email, createdAt: 0 }, password: text, administrator };
    rows.push(row);
    return row;
  };
  for (const { email, administrator } of existing) add(email, "the password before", administrator);
  const find = (id: string) => rows.find((row) => row.user.id === id);
  const stores: Pick<SetupOptions, "signIn" | "people"> = {
    signIn: {
      createUser: async (user) => add(user.email, user.password).user,
      setPassword: async (id, text) => {
        const row = find(id);
        if (row !== undefined) row.password = text;
      },
      removeUser: async (id) => void rows.splice(0, rows.length, ...rows.filter((row) => row.user.id !== id)),
    },
    people: {
      administratorExists: async () => rows.some((row) => row.administrator),
      userByEmail: async (email) => {
        const row = rows.find((each) => each.user.email === email);
        if (row === undefined) return null;
        const { id, name } = row.user;
        const more = {
          language: null,
          disabled: false,
          suspended: false,
          two_factor: false,
          passkeys: 0,
          created_at: 0,
          last_seen_at: null,
        };
        return { id, email, name, administrator: row.administrator, workspaces: [], sources: [], ...more };
      },
      makeFirstAdministrator: async (id) => {
        const row = find(id);
        if (row === undefined || rows.some((each) => each.administrator)) return false;
        row.administrator = true;
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

test("the set-up link works once and makes the first administrator", async () => {
  const stores = rowStores();
  const setup = await open(stores);
  expect(setup.token()).toBe(token);
  await setup.complete({ token, email: " Ada@Example.com ", password, ip });
  expect(stores.rows).toMatchObject([{ user: { email: "ada@example.com" }, password, administrator: true }]);
  expect(setup.token()).toBeNull();
  expect(await codeOf(setup.complete({ token, email: "b@example.com", password, ip }))).toBe("forbidden");
});

test("there is no set-up link when an administrator exists", async () => {
  const setup = await open(rowStores([{ email: "ada@example.com", administrator: true }]));
  expect(setup.token()).toBeNull();
  expect(await codeOf(setup.complete({ token, email: "b@example.com", password, ip }))).toBe("forbidden");
});

test("a wrong token makes no user and leaves the right one working", async () => {
  const stores = rowStores();
  const setup = await open(stores);
  for (const wrong of ["", "x", `${"t".repeat(42)}u`, `${token}t`]) {
    expect(await codeOf(setup.complete({ token: wrong, email: "a@example.com", password, ip }))).toBe("forbidden");
  }
  expect(stores.rows).toEqual([]);
  await setup.complete({ token, email: "a@example.com", password, ip });
});

test("a password outside 12 to 256 characters is refused and the link stays valid", async () => {
  const setup = await open(rowStores());
  for (const bad of ["p".repeat(11), "p".repeat(257)]) {
    const attempt = setup.complete({ token, email: "a@example.com", password: bad, ip });
    expect(await codeOf(attempt)).toBe("invalid_request password");
  }
  expect(setup.token()).toBe(token);
});

test("of two set-ups at the same moment exactly one makes an administrator, and one user is left", async () => {
  const stores = rowStores();
  const setup = await open(stores);
  const results = await Promise.all([
    codeOf(setup.complete({ token, email: "a@example.com", password, ip })),
    codeOf(setup.complete({ token, email: "b@example.com", password, ip })),
  ]);
  expect(results.toSorted()).toEqual(["forbidden", "null"]);
  expect(stores.rows).toHaveLength(1);
});

test("of two processes that set up at the same moment one makes an administrator, and one user is left", async () => {
  const stores = rowStores();
  const [one, two] = [await open(stores), await open(stores)];
  const results = await Promise.all([
    codeOf(one.complete({ token, email: "a@example.com", password, ip })),
    codeOf(two.complete({ token, email: "b@example.com", password, ip })),
  ]);
  expect(results.toSorted()).toEqual(["forbidden", "null"]);
  expect(stores.rows).toMatchObject([{ administrator: true }]);
});

test("a set-up that was stopped between the user and the right can be done again with the same address", async () => {
  const stores = rowStores([{ email: "ada@example.com", administrator: false }]);
  const setup = await open(stores);
  await setup.complete({ token, email: "ada@example.com", password, ip });
  expect(stores.rows).toMatchObject([{ password, administrator: true }]);
});

test("a set-up that fails for another reason leaves the link valid", async () => {
  const stores = rowStores();
  const broken = { ...stores.signIn, createUser: () => Promise.reject(new Error("the disk is full")) };
  const setup = await open({ ...stores, signIn: broken });
  expect(await codeOf(setup.complete({ token, email: "a@example.com", password, ip }))).toContain("disk is full");
  expect(setup.token()).toBe(token);
});
