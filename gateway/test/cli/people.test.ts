import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sluice } from "../command-line.ts";
import { startGateway, words } from "../processes-fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-people-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("manages an installation without a browser: a token, a key, and removing the person who created it", async () => {
  const dataDir = join(folder, "data");
  await sluice(["migrate"], dataDir);
  expect((await sluice(["token", "create", "--name", "ci", "--administrator"], dataDir)).stderr).toContain(
    "there is no administrator yet",
  );
  await using gateway = await startGateway(dataDir);
  const made = JSON.parse((await sluice(words("token create --name ci --administrator --json"), dataDir)).stdout);
  expect(made).toMatchObject({ administrator: true, owner: { email: "anna@example.com" }, expires_at: null });
  const api = gateway.api(made.secret);
  expect((await api("POST", "/api/workspaces", { slug: "acme" })).status).toBe(201);
  const bob = { email: "bob@example.com", role: "member" };
  const { link } = (await api<{ link: string }>("POST", "/api/workspaces/acme/invitations", bob)).body;
  const account = { token: link.split("#invite=")[1], name: "Bob", password: "another horse battery" };
  expect((await gateway.api(null)("POST", "/api/invitation/accept", account)).status).toBe(201);

  const owned = `token create --name bobs --user bob@example.com --workspace acme --role member --json`;
  const token = JSON.parse((await sluice(words(owned), dataDir)).stdout);
  expect(token).toMatchObject({ role: "member", workspace: { slug: "acme" }, owner: { email: "bob@example.com" } });
  const batch = await gateway.api(token.secret)<Made>("POST", "/api/workspaces/acme/keys", { name: "batch" });
  const { secret, key } = batch.body;
  expect(await gateway.statusOfCall(secret)).toBe(200);

  const undecided = await sluice(words("user disable bob@example.com"), dataDir);
  expect(undecided).toMatchObject({ status: 1, stdout: "" });
  expect(undecided.stderr).toBe(
    "sluice: bob@example.com created or owns an API key in use: acme/batch. " +
      'Set `keys` to "revoke", "disable" or {"hand_over_to": "<user id>"}, or decide about each key in a list. ' +
      "On the command line: --keys revoke, disable or hand-over:<email>\n",
  );
  expect((await sluice(words("user disable bob@example.com --keys disable"), dataDir)).status).toBe(0);
  // Written by another process; this one learns of it through the change feed.
  await gateway.until(secret, 401);
  expect((await gateway.api(token.secret)("GET", "/api/workspaces/acme/keys")).status).toBe(401);
  expect((await sluice(words("user enable bob@example.com"), dataDir)).stdout).toBe("bob@example.com may sign in\n");
  expect(await gateway.statusOfCall(secret)).toBe(401);
  expect((await api("PATCH", `/api/workspaces/acme/keys/${key.id}`, { enabled: true })).status).toBe(200);
  expect(await gateway.statusOfCall(secret)).toBe(200);

  const handed = "user remove bob@example.com --workspace acme --keys hand-over:anna@example.com";
  expect((await sluice(words(handed), dataDir)).stdout).toBe("bob@example.com is no longer a member of acme\n");
  expect(await gateway.statusOfCall(secret)).toBe(200);
  expect((await sluice(words("user remove bob@example.com"), dataDir)).status).toBe(0);
  const listed = await sluice(["user", "list"], dataDir);
  expect(listed.stdout).toContain("anna@example.com");
  expect(listed.stdout).not.toContain("bob@example.com");
  const rows = (await api<Listed<AuditRow>>("GET", "/api/workspaces/-/audit")).body.data;
  expect(rows.map(({ action, object }) => `${action} ${object}`)).toContain("remove user bob@example.com");
});

test("explains wrong arguments with what to use instead", async () => {
  const dataDir = join(folder, "wrong");
  const cases: readonly [string, number, string][] = [
    ["token create --name x", 2, "set either --administrator, or --workspace and --role"],
    [
      "token create --name x --administrator --role owner",
      2,
      "--administrator cannot be combined with --workspace and --role",
    ],
    ["token create --name x --workspace acme --role boss", 2, "--role must be one of viewer, member, admin, owner"],
    ["user disable nobody@example.com", 1, 'there is no user "nobody@example.com"; see `sluice user list`'],
  ];
  await sluice(["migrate"], dataDir);
  for (const [line, status, message] of cases) {
    const answer = await sluice(words(line), dataDir);
    expect([line, answer.status, answer.stdout]).toEqual([line, status, ""]);
    expect(answer.stderr).toContain(message);
  }
});

test("changes of the console and an applied config file do not overwrite each other", async () => {
  const dataDir = join(folder, "writers");
  await using gateway = await startGateway(dataDir);
  const made = JSON.parse((await sluice(words("token create --name ci --administrator --json"), dataDir)).stdout);
  const api = gateway.api(made.secret);
  await api("POST", "/api/workspaces", { slug: "lab" });
  const file = join(folder, "writers.yaml");
  const fileOf = (round: number) =>
    JSON.stringify({
      providers: [{ id: "filed", kind: "demo" }],
      models: [{ name: "filed", deployments: [{ provider: "filed" }] }],
      workspaces: [{ slug: "acme", limits: { rpm: round }, keys: [{ name: `key-${round}` }, { name: "always" }] }],
    });
  const rounds = 4;
  const applying = async () => {
    for (let round = 1; round <= rounds; round++) {
      await Bun.write(file, fileOf(round));
      const { status, stderr } = await sluice(["apply", file], dataDir);
      expect([stderr, status]).toEqual(["", 0]);
    }
  };
  const answers: number[] = [];
  let applied = false;
  const editing = async () => {
    for (let n = 0; !applied || n < 10; n++) {
      answers.push((await api("POST", "/api/workspaces/lab/keys", { name: `key ${n}` })).status);
      answers.push((await api("PATCH", "/api/workspaces/lab", { limits: { rpm: n + 1 } })).status);
      answers.push((await api("POST", "/api/workspaces/lab/groups", { name: `group-${n}` })).status);
      // The console can never change objects of the config file.
      const { status, body } = await api<Refused>("PATCH", "/api/workspaces/acme", { limits: { rpm: 999 } });
      if (status !== 404) expect(body.error.code).toBe("managed_by_file");
    }
  };
  await Promise.all([applying().finally(() => (applied = true)), editing()]);
  expect(answers.filter((status) => status >= 300)).toEqual([]);
  const times = answers.length / 3;
  const lab = (await api<Workspace>("GET", "/api/workspaces/lab")).body;
  expect([lab.keys, lab.groups, lab.limits]).toEqual([times, times + 1, { rpm: times }]);
  await gateway.sees("/api/workspaces/acme", made.secret, (acme: Workspace) => acme.limits.rpm === rounds);
  const keys = (await api<Listed<{ name: string; managed_by: string }>>("GET", "/api/workspaces/acme/keys")).body.data;
  expect(keys.filter(({ managed_by }) => managed_by === "file").map(({ name }) => name)).toEqual([
    "always",
    `key-${rounds}`,
  ]);
  const rows = await auditOf(api);
  const count = (start: string) => rows.filter((row) => row.startsWith(start)).length;
  expect([count("create key lab/"), count("create group lab/group-"), count("update workspace lab")]).toEqual([
    times,
    times,
    times,
  ]);
  expect([count("create key acme/key-"), count("suspend key acme/key-")]).toEqual([rounds, rounds - 1]);
});

async function auditOf(api: (method: string, path: string) => Promise<{ body: unknown }>): Promise<readonly string[]> {
  const rows: string[] = [];
  let cursor = "";
  do {
    const path = `/api/workspaces/-/audit?limit=200${cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`}`;
    const { data, next } = (await api("GET", path)).body as {
      data: AuditRow[];
      next: string | null;
    };
    rows.push(...data.map(({ action, object }) => `${action} ${object}`));
    cursor = next ?? "";
  } while (cursor !== "");
  return rows;
}

/** The fields of admin API answers that these tests read. */
interface Listed<Row> {
  readonly data: readonly Row[];
}
interface AuditRow {
  readonly action: string;
  readonly object: string;
}
interface Made {
  readonly secret: string;
  readonly key: { readonly id: string };
}
interface Refused {
  readonly error: { readonly code: string };
}
interface Workspace {
  readonly keys: number;
  readonly groups: number;
  readonly limits: { readonly rpm?: number };
}
