import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { GuardrailCheckRow, GuardrailFindings, RequestDetail, RequestRow } from "@sluice/contract";
import { Secret } from "#core/index.ts";
import { createHeaderSignIn } from "../header-sign-in.ts";
import { openPostgresFixture, type PostgresFixture } from "../postgres-fixture.ts";
import { onPostgres } from "../postgres-server.ts";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";
import { type EchoUpstream, startEchoUpstream } from "./echo-upstream.ts";
import { createMembers, readAs, secret } from "./guardrail-fixture.ts";

const email = "jane.canary@example.org";
const word = "bluebirdcanary";
const canaries = [secret, email, word];

const guardrails = [
  { name: "keys", check: { kind: "credentials" }, action: "block", on: ["input"] },
  { name: "mail", check: { kind: "personal_data", types: ["email"] }, action: "mask", on: ["input"] },
  { name: "shadow", check: { kind: "personal_data", types: ["email"] }, action: "block", enforce: false },
  { name: "code-names", check: { kind: "words", words: [word] }, action: "block", on: ["output"] },
] as const;

function evidenceOn(databaseUrl: () => Promise<string | null>): void {
  let echo: EchoUpstream;
  let gateway: StartedGateway;
  let users: Readonly<Record<Who, string>>;
  beforeAll(async () => {
    echo = startEchoUpstream();
    const url = await databaseUrl();
    gateway = await startGateway({
      providers: (simulator) => [upstream("openai", simulator, { kind: "openai", base_url: echo.url })],
      models: [{ name: "gpt", deployments: [{ provider: "openai", upstream_model: "gpt-5.1" }] }],
      keys: [{ name: "alice", secret: aliceKey, capture: "headers" }],
      guardrails: structuredClone(guardrails) as never,
      openSignIn: ({ control }) => createHeaderSignIn(control.database, () => Date.now()),
      ...(url === null ? {} : { environment: { databaseUrl: new Secret(url) } }),
    });
    users = await createMembers(gateway, ["admin", "viewer"]);
  });
  afterAll(async () => {
    await gateway?.stop();
    echo?.stop();
  });

  async function call(content: string, more: object = {}) {
    const response = await gateway.chat({ model: "gpt", messages: [{ role: "user", content }], ...more });
    await response.text();
    return { status: response.status, requestId: response.headers.get("x-request-id") ?? "" };
  }

  type Who = "admin" | "viewer";

  const read = (path: string, who: Who = "admin"): Promise<Response> => readAs(users[who], gateway, path);

  async function checksOf(requestId: string): Promise<readonly GuardrailCheckRow[]> {
    await gateway.entries();
    return ((await (await read(`requests/${requestId}`)).json()) as RequestDetail).checks;
  }

  const findings = async (query = "") =>
    (await (await read(`guardrail-findings?${query}`)).json()) as GuardrailFindings;

  test("keeps a blocked request, with its caller and without the text", async () => {
    const { status, requestId } = await call(`the key is ${secret}`);
    expect(status).toBe(400);
    expect(await checksOf(requestId)).toMatchObject([
      {
        ...{ request_id: requestId, workspace: { slug: "acme" }, key: { name: "alice" }, person: null, error: null },
        ...{ guardrail: { name: "keys" }, side: "input", action: "block", enforced: true, verdict: "blocked" },
        ...{ counts: { github_token: 1 }, paths: ["messages[0].content"], unmasked: 0, unreadable: 0 },
        definition: expect.stringMatching(/^[0-9a-f]{16}$/),
      },
    ]);
  });

  test("keeps a masked request, and what a shadowed guardrail would have done", async () => {
    const { status, requestId } = await call(`write to ${email}`);
    expect(status).toBe(200);
    const found = (await checksOf(requestId)).map((row) => [row.guardrail.name, row.side, row.verdict, row.enforced]);
    expect(found.toSorted()).toEqual([
      ["mail", "input", "masked", true],
      ["shadow", "input", "blocked", false],
    ]);
  });

  test("keeps a stream that was blocked in the middle", async () => {
    echo.pieces = () => ["one ", "two ", `${word} `, "three"];
    const { status, requestId } = await call("hello", { stream: true });
    echo.pieces = null;
    expect(status).toBe(200);
    expect(await checksOf(requestId)).toMatchObject([
      { guardrail: { name: "code-names" }, side: "output", verdict: "blocked", counts: { word: 1 } },
    ]);
  });

  test("removes what was found from names of members", async () => {
    const { requestId } = await call("hello", { unknown: { [secret]: { [email]: email } } });
    const rows = await checksOf(requestId);
    expect(rows.length).toBe(3);
    for (const canary of canaries) expect(JSON.stringify(rows)).not.toContain(canary);
  });

  test("reports what was found by guardrail, type, key and time", async () => {
    await gateway.entries();
    const all = await findings();
    expect(all.totals.requests).toBeGreaterThanOrEqual(4);
    expect(all.totals.people).toBe(0);
    expect(all.keys).toMatchObject([{ name: "alice", checks: all.totals.checks }]);
    expect(all.types.map(({ type }) => type).toSorted()).toEqual(["email", "github_token", "word"]);
    const shadow = await findings("enforced=false");
    expect(shadow.guardrails).toMatchObject([{ name: "shadow", verdict: "blocked", enforced: false, requests: 2 }]);
    expect(shadow.series).toMatchObject([{ id: "shadow:blocked", total: shadow.totals.checks }]);
    for (const { values } of all.series) expect(values.length).toBe(all.at.length);
    const counted = (series: GuardrailFindings["series"]) => series.map(({ label, total }) => [label, total]);
    const types = await findings("by=type");
    expect(new Map(types.series.map(({ id, total }) => [id, total]))).toEqual(
      new Map(all.types.map(({ type, findings: count }) => [type, count])),
    );
    expect(counted((await findings("by=key")).series)).toEqual([["alice", all.totals.checks]]);
    expect((await findings("by=person")).series).toMatchObject([{ id: "-", total: all.totals.checks }]);
    const byGuardrail = counted((await findings("by=guardrail&step=hour")).series);
    expect(byGuardrail.map(([name]) => name).toSorted()).toEqual(["code-names", "keys", "mail", "shadow"]);
    expect((await findings("model=gpt")).totals).toMatchObject({ checks: all.totals.checks, checked: null });
    expect((await findings("model=other")).totals.checks).toBe(0);
    expect((await findings("type=word")).totals).toMatchObject({ checks: 1, requests: 1, checked: null });
    // Both databases ignore case.
    expect((await findings("type=WORD")).totals.checks).toBe(1);
    expect((await findings("type=wor_")).totals.checks).toBe(0);
    expect((await findings("from=0&to=1000")).totals).toEqual({ checks: 0, requests: 0, people: 0, checked: 0 });
  });

  test("lists checks by page, and as CSV", async () => {
    interface Page {
      readonly data: readonly GuardrailCheckRow[];
      readonly next: string | null;
    }
    const page = async (query: string) => (await (await read(`guardrail-checks?${query}`)).json()) as Page;
    const all = (await page("")).data;
    const first = await page("limit=2");
    const second = await page(`limit=2&cursor=${first.next}`);
    expect([...first.data, ...second.data]).toEqual(all.slice(0, 4));
    const csv = await (await read("guardrail-checks/csv?verdict=masked")).text();
    expect(csv.split("\n")[0]).toStartWith("time,request_id,workspace");
    expect(csv).toContain(",mail,");
    expect(csv).not.toContain(",keys,");
  });

  test("filters the list of requests, its totals and its CSV by what guardrails found, and marks the rows", async () => {
    interface Requests {
      readonly data: readonly RequestRow[];
    }
    const list = async (query: string) => ((await (await read(`requests?${query}`)).json()) as Requests).data;
    const masked = await list("guardrail_verdict=masked");
    expect(new Set(masked.map((row) => row.guardrail_verdict))).toContain("masked");
    const [check] = await checksOf(masked[0]?.request_id ?? "");
    const own = await list(`guardrail=${check?.guardrail.id}`);
    expect(own.map(({ request_id: id }) => id)).toContain(masked[0]?.request_id ?? "");
    const any = await list("guardrail=any");
    expect(any.length).toBeGreaterThan(masked.length);
    const shadow = await list("would_refuse=true");
    expect(shadow.every((row) => row.would_refuse === true)).toBe(true);
    const totals = (await (await read("request-totals?would_refuse=true")).json()) as { readonly attempts: number };
    expect(totals.attempts).toBe(shadow.length);
    const lines = (await (await read("requests/csv?guardrail=any")).text()).trim().split("\n");
    expect(lines[0]).toEndWith("guardrail_verdict,would_refuse");
    expect(lines.length).toBe(any.length + 1);
    for (const query of ["guardrail_verdict=passed", "would_refuse=maybe"]) {
      expect((await read(`requests?${query}`)).status).toBe(400);
    }
  });

  test("shows members only their own requests and requests with shared keys", async () => {
    const { person: owner } = await gateway.control.database.kysely
      .updateTable("guardrail_checks")
      .set({ person_id: users.admin })
      .where("verdict", "=", "masked")
      .returning("person_id as person")
      .executeTakeFirstOrThrow();
    expect(owner).toBe(users.admin);
    expect((await findings("verdict=masked")).people).toMatchObject([{ person: { email: "admin@example.com" } }]);
    const seen = (await (await read("guardrail-findings", "viewer")).json()) as GuardrailFindings;
    expect([seen.people, seen.totals.checked]).toEqual([[], null]);
    expect(seen.guardrails.map(({ name }) => name)).not.toContain("mail");
    expect((await read(`guardrail-checks?person=${users.admin}`, "viewer")).status).toBe(403);
  });

  test("refuses a time that is empty or too long", async () => {
    for (const query of ["from=2&to=1", "from=0", "verdict=passed"]) {
      expect((await read(`guardrail-findings?${query}`)).status).toBe(400);
    }
  });

  test("counts checks that find nothing", async () => {
    await call("hello");
    const metrics = await (await gateway.get("/metrics")).text();
    expect(metrics).toMatch(
      /sluice_guardrail_checks_total\{guardrail="keys",side="input",verdict="passed",enforced="true"\} [1-9]/,
    );
    expect(metrics).toMatch(/sluice_guardrail_check_seconds_count\{guardrail="keys"\} [1-9]/);
    for (const canary of canaries) expect(metrics).not.toContain(canary);
  });

  test("stores no text that was found", async () => {
    const { kysely } = gateway.control.database;
    await gateway.entries();
    const tables = await kysely.introspection.getTables();
    const read = await Promise.all(
      tables.map(async ({ name }) => [
        name,
        JSON.stringify(
          await kysely
            .selectFrom(name as never)
            .selectAll()
            .execute(),
        ),
      ]),
    );
    expect(read.map(([name]) => name)).toContain("guardrail_checks");
    for (const canary of canaries) {
      const holding = read.filter(([, rows]) => rows?.includes(canary)).map(([name]) => name);
      // The definition of the guardrail has the word that it finds.
      expect(holding).toEqual(canary === word ? expect.arrayContaining(["guardrails"]) : []);
    }
    const journal = readdirSync(join(gateway.dataDir, "journal"), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
      .join("");
    for (const canary of canaries) expect(journal).not.toContain(canary);
  });
}

describe("evidence on SQLite", () => evidenceOn(async () => null));

await onPostgres("evidence on PostgreSQL", () => {
  let fixture: PostgresFixture;
  afterAll(() => fixture?.[Symbol.asyncDispose]());
  evidenceOn(async () => {
    fixture = await openPostgresFixture();
    return fixture.url;
  });
});
