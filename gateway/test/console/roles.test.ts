import { describe, expect, test } from "bun:test";
import {
  consoleRoutes,
  everyWorkspace,
  type Need,
  needs,
  type Route,
  type RouteId,
  workspaceRoles,
} from "@sluice/contract";
import { makeAdminTokenSecret } from "#identity/index.ts";
import { needyFields } from "../../../contract/src/console/roles-table.ts";
import type { Handlers } from "../../src/admin/handlers/calls.ts";
import {
  type ConsoleFixture,
  type FixtureUser,
  fixtureOrigin,
  fixtureUsers,
  openConsoleFixture,
  type Who,
} from "../console-fixture.ts";
import { sampleOf } from "../schema-sample.ts";

/**
 * The admin API with the real checks, for every route, actor and field. A handler here only returns an answer with
 * every field of the contract, so what arrives shows the work of the checks alone.
 */
const routes = Object.entries(consoleRoutes) as [RouteId, Route][];
const actors = ["nobody", ...fixtureUsers] as const;
type ActorName = (typeof actors)[number];

/** Each user's role in the workspace acme; the stranger and the newcomer have none. */
const limitUsage: Readonly<Record<ActorName, Need | null>> = {
  nobody: null,
  newcomer: null,
  stranger: null,
  viewer: "viewer",
  member: "member",
  admin: "admin",
  owner: "owner",
  administrator: "administrator",
};

test("allows every route to the actors of the table and nobody else, with a session or a token", async () => {
  await using gateway = await roleGateway();
  for (const [id, route] of routes) {
    for (const actor of actors) {
      for (const [by, who] of waysOf(gateway, actor)) {
        const answer = await gateway.fixture.call(who, id, callOf(route, "acme"));
        expect(`${id} as ${actor} by ${by}: ${statusClass(answer.status)}`).toBe(
          `${id} as ${actor} by ${by}: ${expected(route, actor)}`,
        );
      }
    }
  }
});

test("answers for a workspace of others as for an unknown one, except to an administrator", async () => {
  await using gateway = await roleGateway();
  for (const [id, route] of routes.filter(([, { path }]) => path.includes("{workspace}"))) {
    for (const actor of actors.filter((name) => name !== "nobody")) {
      const ofOthers = await gateway.fixture.call(actor, id, callOf(route, "other"));
      const missing = await gateway.fixture.call(actor, id, callOf(route, "no-such-workspace"));
      expect(`${id} ${actor} ${missing.status}`).toBe(`${id} ${actor} 404`);
      if (actor === "administrator") expect(ofOthers.status, id).toBe(route.status ?? 200);
      else if (actor === "stranger")
        expect(ofOthers.status, id).toBe(route.needs === "administrator" ? 403 : (route.status ?? 200));
      else expect([ofOthers.status, ofOthers.body], `${id} ${actor}`).toEqual([404, missing.body]);
    }
  }
});

test("allows all workspaces at once to administrators only", async () => {
  await using gateway = await roleGateway();
  for (const [id, route] of routes.filter(([, { path }]) => path.includes("{workspace}"))) {
    for (const actor of actors) {
      const { status } = await gateway.fixture.call(actor, id, callOf(route, everyWorkspace));
      expect(`${id} ${actor} ${status < 300}`).toBe(`${id} ${actor} ${actor === "administrator"}`);
      if (status >= 300) expect(status, id).toBe(actor === "nobody" ? 401 : 403);
    }
  }
});

test("always requires a recent sign-in for dangerous routes", async () => {
  await using gateway = await roleGateway();
  const fresh = routes.filter(([, route]) => route.fresh === true);
  expect(fresh.length).toBeGreaterThan(5);
  for (const [id, route] of fresh) {
    for (const actor of fixtureUsers.filter((name) => expected(route, name) === "allowed")) {
      const answer = await gateway.fixture.call({ stale: actor }, id, callOf(route, "acme"));
      expect([answer.status, answer.code], `${id} ${actor}`).toEqual([403, "confirm_sign_in"]);
    }
  }
  for (const [id, route] of routes.filter(([, each]) => each.fresh !== true)) {
    const answer = await gateway.fixture.call({ stale: "administrator" }, id, callOf(route, "acme"));
    expect(answer.status, id).toBe(route.status ?? 200);
  }
});

test("refuses changes from pages of other sites, and accepts JSON only", async () => {
  await using gateway = await roleGateway();
  const hostile: readonly [string, Record<string, string>, number][] = [
    ["another origin", { origin: "https://evil.example", "sec-fetch-site": "cross-site" }, 403],
    ["another origin behind an old browser", { origin: "https://evil.example" }, 403],
    ["a page without an origin", { origin: "null" }, 403],
    ["another host of the same site", { "sec-fetch-site": "same-site" }, 403],
    ["a form", { "content-type": "text/plain" }, 415],
    ["a form with fields", { "content-type": "application/x-www-form-urlencoded" }, 415],
  ];
  for (const [id, route] of routes.filter(([, { method }]) => method !== "GET")) {
    for (const [what, headers, status] of hostile) {
      const answer = await gateway.fixture.call("administrator", id, { ...callOf(route, "acme"), headers });
      expect(`${id} from ${what}: ${answer.status}`).toBe(`${id} from ${what}: ${status}`);
    }
  }
});

test("accepts only the table's methods on a path", async () => {
  await using gateway = await roleGateway();
  const byPath = Map.groupBy(routes, ([, { path }]) => path);
  for (const [path, there] of byPath) {
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"].filter((each) =>
      there.every(([, route]) => route.method !== each),
    )) {
      const url = fixtureOrigin + path.replace(/\{workspace\}/, "acme").replace(/\{[a-z]+\}/g, "x");
      const init = {
        method,
        headers: { "content-type": "application/json" },
        ...(method === "GET" ? {} : { body: "{}" }),
      };
      const { status } = await gateway.fixture.fetch(new Request(url, init));
      // A name in a path may match another route: then that route answers.
      expect([401, 404], `${method} ${path}`).toContain(status);
    }
  }
});

describe("fields", () => {
  test("some fields are restricted: how models are served, the limits of a workspace", async () => {
    const found = routes.flatMap(([id, route]) => [
      ...needyFields(route.answer, "output").map((field) => `${id} answers ${field.path.join(".")}`),
      ...(route.body === undefined
        ? []
        : needyFields(route.body, "input").map((field) => `${id} takes ${field.path.join(".")}`)),
    ]);
    expect(found).toContain("models.list answers data.[].deployments");
    expect(found).toContain("workspaces.update takes budget");
    expect(found.length).toBeGreaterThan(8);
  });

  test("refuses a restricted field of a body by name, and accepts it with the required role", async () => {
    await using gateway = await roleGateway();
    for (const [id, route] of routes) {
      if (route.body === undefined) continue;
      for (const field of needyFields(route.body, "input")) {
        const body = {
          ...(sampleOf(route.body, "least") as object),
          ...branch(sampleOf(route.body, "full"), field.path),
        };
        for (const actor of fixtureUsers.filter((name) => expected(route, name) === "allowed")) {
          const answer = await gateway.fixture.call(actor, id, { ...callOf(route, "acme"), body });
          const may = highestRole(route, actor) >= needs.indexOf(field.needs);
          expect([actor, answer.status], `${id} ${field.path}`).toEqual([actor, may ? (route.status ?? 200) : 403]);
          if (!may) expect(answer.param).toBe(field.path.join("."));
        }
      }
    }
  });

  test("omits a restricted field of an answer, and includes it with the required role", async () => {
    await using gateway = await roleGateway();
    for (const [id, route] of routes) {
      for (const field of needyFields(route.answer, "output")) {
        for (const actor of fixtureUsers.filter((name) => expected(route, name) === "allowed")) {
          const { body } = await gateway.fixture.call(actor, id, callOf(route, "acme"));
          const may = highestRole(route, actor) >= needs.indexOf(field.needs);
          expect([actor, isThere(body, field.path)], `${id} ${field.path}`).toEqual([actor, may]);
        }
      }
    }
  });

  test("keeps every other field of an answer", async () => {
    await using gateway = await roleGateway();
    for (const [id, route] of routes) {
      const { body } = await gateway.fixture.call("administrator", id, callOf(route, "acme"));
      expect(body, id).toEqual(sampleOf(route.answer, "full"));
    }
  });
});

test("rejects a mistyped, invented or orphaned token, also beside other credentials", async () => {
  await using gateway = await roleGateway();
  const real = gateway.tokens.get("administrator") ?? "";
  const wrong = [
    `${real}x`,
    real.slice(0, -1),
    `sluice-admin-${"a".repeat(49)}`,
    "sk-sluice-0123456789",
    "not-a-token",
  ];
  for (const token of wrong) {
    const answer = await gateway.fixture.call({ token }, "session.show");
    expect([token.slice(0, 16), answer.status, answer.code]).toEqual([token.slice(0, 16), 401, "not_signed_in"]);
    expect(JSON.stringify(answer.body)).not.toContain(token.slice(1));
  }
  const { headers } = new Request(fixtureOrigin, { headers: { authorization: `Basic ${btoa("a:b")}` } });
  const basic = await gateway.fixture.call("administrator", "session.show", {
    headers: { authorization: headers.get("authorization") ?? "" },
  });
  expect(basic.code).toBe("not_signed_in");
});

interface RoleGateway extends AsyncDisposable {
  readonly fixture: ConsoleFixture;
  readonly tokens: ReadonlyMap<FixtureUser, string>;
}

/** A console that answers every route with every field, and a token for every user with a role. */
async function roleGateway(): Promise<RoleGateway> {
  const fixture = await openConsoleFixture(() => ({}), reached);
  const tokens = new Map<FixtureUser, string>();
  const { acme, other, people, vault, users } = fixture;
  for (const [index, name] of fixtureUsers.entries()) {
    if (name === "newcomer") continue;
    const secret = makeAdminTokenSecret(new Uint8Array(32).fill(index + 1));
    const workspaceId = name === "stranger" ? other.id : acme.id;
    const role = workspaceRoles.find((each) => each === name) ?? "owner";
    const grant =
      name === "administrator"
        ? ({ administrator: true } as const)
        : ({ administrator: false, workspaceId, role } as const);
    const digest = vault.digest(secret);
    const token = { name, grant, ownerId: users[name].id, digest, prefix: "", expiresAt: null };
    await people.createToken(token, { actor: "test", ip: null });
    tokens.set(name, secret);
  }
  return { fixture, tokens, [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose]() };
}

function reached(): Handlers {
  const handlers = routes.map(([id, route]) => [id, () => sampleOf(route.answer, "full")]);
  return Object.fromEntries(handlers) as unknown as Handlers;
}

function waysOf(gateway: RoleGateway, actor: ActorName): [string, Who][] {
  const token = actor === "nobody" ? undefined : gateway.tokens.get(actor);
  return token === undefined
    ? [["session", actor]]
    : [
        ["session", actor],
        ["token", { token }],
      ];
}

function callOf(route: Route, workspace: string) {
  const names = [...route.path.matchAll(/\{([a-z]+)\}/g)].map((match) => match[1] ?? "");
  const params = Object.fromEntries(names.map((name) => [name, name === "workspace" ? workspace : "sample"]));
  return {
    params,
    ...(route.query === undefined ? {} : { query: sampleOf(route.query, "least") as never }),
    ...(route.body === undefined ? {} : { body: sampleOf(route.body, "least") as never }),
  };
}

/** The expected result for a call about acme, computed separately from the code under test. */
function expected(route: Route, actor: ActorName): "allowed" | "401" | "403" | "404" {
  if (actor === "nobody") return route.needs === "public" ? "allowed" : "401";
  if (route.path.includes("{workspace}") && limitUsage[actor] === null) return "404";
  return highestRole(route, actor) >= needs.indexOf(route.needs) ? "allowed" : "403";
}

/** A route without a workspace is for users with its role in any workspace. */
function highestRole(route: Route, actor: ActorName): number {
  const anywhere = actor === "stranger" && !route.path.includes("{workspace}") ? "owner" : limitUsage[actor];
  return needs.indexOf(anywhere ?? (actor === "nobody" ? "public" : "signed-in"));
}

function statusClass(status: number): string {
  return status < 300 ? "allowed" : String(status);
}

/** Only the field at a path, with its parents. */
function branch(value: unknown, path: readonly string[]): Record<string, unknown> {
  const [name] = path;
  return name === undefined ? {} : { [name]: Reflect.get(value as object, name) };
}

function isThere(value: unknown, [step, ...rest]: readonly string[]): boolean {
  if (step === undefined) return value !== undefined;
  if (value === null || typeof value !== "object") return false;
  if (step === "[]" || step === "*") return Object.values(value).some((each) => isThere(each, rest));
  return isThere(Reflect.get(value, step), rest);
}
