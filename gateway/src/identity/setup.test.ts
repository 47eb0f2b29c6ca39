import { expect, test } from "bun:test";
import { Failure } from "#core/index.ts";
import { createSetup, type SetupOptions } from "./setup.ts";

const token = "t".repeat(43);
const password = "correct horse battery";

/** The one row that set-up writes, kept the way the store promises to keep it: the first administrator only. */
function rowStore(existing: string | null = null) {
  const rows: { email: string; hash: string }[] = existing === null ? [] : [{ email: existing, hash: "" }];
  const controlStore: SetupOptions["controlStore"] = {
    administratorExists: async () => rows.length > 0,
    createFirstAdministrator: async (email, hash) => {
      if (rows.length > 0) return false;
      rows.push({ email, hash });
      return true;
    },
  };
  return { rows, controlStore };
}

function options(controlStore: SetupOptions["controlStore"], hashed: string[] = []): SetupOptions {
  return {
    controlStore,
    randomToken: () => token,
    hashPassword: async (text) => {
      hashed.push(text);
      return `hash of ${text.length}`;
    },
  };
}

async function codeOf(act: Promise<unknown>): Promise<string> {
  const thrown = await act.then(
    () => null,
    (reason: unknown) => reason,
  );
  return thrown instanceof Failure ? `${thrown.code} ${thrown.param ?? ""}`.trim() : String(thrown);
}

test("the set-up link works once and makes the first administrator", async () => {
  const { rows, controlStore } = rowStore();
  const setup = await createSetup(options(controlStore));
  expect(setup.token()).toBe(token);
  await setup.complete({ token, email: " Ada@Example.com ", password });
  expect(rows).toEqual([{ email: "ada@example.com", hash: "hash of 21" }]);
  expect(setup.token()).toBeNull();
  expect(await codeOf(setup.complete({ token, email: "b@example.com", password }))).toBe("forbidden");
});

test("there is no set-up link when an administrator exists", async () => {
  const setup = await createSetup(options(rowStore("ada@example.com").controlStore));
  expect(setup.token()).toBeNull();
  expect(await codeOf(setup.complete({ token, email: "b@example.com", password }))).toBe("forbidden");
});

test("a wrong token costs no hashing and leaves the right one working", async () => {
  const hashed: string[] = [];
  const setup = await createSetup(options(rowStore().controlStore, hashed));
  for (const wrong of ["", "x", `${"t".repeat(42)}u`, `${token}t`]) {
    expect(await codeOf(setup.complete({ token: wrong, email: "a@example.com", password }))).toBe("forbidden");
  }
  expect(hashed).toEqual([]);
  await setup.complete({ token, email: "a@example.com", password });
});

test("a password outside 12 to 256 characters is refused and the link stays valid", async () => {
  const setup = await createSetup(options(rowStore().controlStore));
  for (const bad of ["p".repeat(11), "p".repeat(257)]) {
    const attempt = setup.complete({ token, email: "a@example.com", password: bad });
    expect(await codeOf(attempt)).toBe("invalid_request password");
  }
  expect(setup.token()).toBe(token);
});

test("of two set-ups at the same moment exactly one makes an administrator", async () => {
  const { rows, controlStore } = rowStore();
  const setup = await createSetup(options(controlStore));
  const results = await Promise.all([
    codeOf(setup.complete({ token, email: "a@example.com", password })),
    codeOf(setup.complete({ token, email: "b@example.com", password })),
  ]);
  expect(results.toSorted()).toEqual(["forbidden", "null"]);
  expect(rows).toHaveLength(1);
});
