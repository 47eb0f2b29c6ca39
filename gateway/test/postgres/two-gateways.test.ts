import { afterAll, beforeAll, expect, test } from "bun:test";
import { type GatewayProcess, tailPath } from "@sluice/contract";
import { Secret } from "#core/index.ts";
import { until } from "../../../test/until.ts";
import { sluice } from "../command-line.ts";
import { openPostgresFixture, type PostgresFixture } from "../postgres-fixture.ts";
import { onPostgres } from "../postgres-server.ts";
import { hello, type Overrides, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

const masterKey = "a-master-key-of-the-installation-0123456789";
const administrator = { email: "ada@example.com", password: "correct horse battery staple" };

await onPostgres("two gateways", () => {
  let fixture: PostgresFixture;
  let gateways: readonly [StartedGateway, StartedGateway];
  /** The administrator's session at each: their addresses differ, and so do their cookies. */
  const cookies = new Map<StartedGateway, string>();
  beforeAll(async () => {
    fixture = await openPostgresFixture();
    const environment = {
      databaseUrl: new Secret(fixture.url),
      masterKey: new Secret(masterKey),
      administrator: { email: administrator.email, password: new Secret(administrator.password) },
    };
    const providers: Overrides["providers"] = (simulator) => [upstream("main", simulator, { kind: "openai" })];
    gateways = [await startGateway({ environment, providers }), await startGateway({ environment, providers })];
    for (const gateway of gateways) {
      const answer = await signIn(gateway, administrator.password);
      expect(answer.status).toBe(200);
      cookies.set(
        gateway,
        answer.headers
          .getSetCookie()
          .map((line) => line.split(";")[0] ?? "")
          .join("; "),
      );
    }
  });
  afterAll(async () => {
    for (const gateway of gateways ?? []) await gateway.stop();
    await fixture?.[Symbol.asyncDispose]();
  });

  const addressOf = ({ configSnapshot }: StartedGateway["gateway"]) =>
    configSnapshot.current.providers.get("main")?.baseUrl;
  const consoleOf = ({ gateway }: StartedGateway) => `http://localhost:${gateway.consolePort}`;
  const signIn = (gateway: StartedGateway, password: string) =>
    fetch(`${consoleOf(gateway)}/api/auth/sign-in/email`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: consoleOf(gateway) },
      body: JSON.stringify({ email: administrator.email, password }),
    });
  const asAdministrator = (gateway: StartedGateway) => ({ cookie: cookies.get(gateway) ?? "" });
  const processesAt = async (gateway: StartedGateway): Promise<readonly GatewayProcess[]> => {
    const answer = await fetch(`${consoleOf(gateway)}/api/system/processes`, { headers: asAdministrator(gateway) });
    expect(answer.status).toBe(200);
    return ((await answer.json()) as { data: GatewayProcess[] }).data;
  };

  test("shows an administrator every process at either gateway, with start, last contact, leases and journal lag", async () => {
    const ids = gateways.map(({ control }) => control.instanceId);
    for (const [index, gateway] of gateways.entries()) {
      const listed = await processesAt(gateway);
      expect(listed.map(({ id }) => id)).toEqual(ids);
      expect(listed.map(({ answers }) => answers)).toEqual(index === 0 ? [true, false] : [false, true]);
      for (const { alive, version, started_at, seen_at } of listed) {
        expect([alive, version, seen_at >= started_at]).toEqual([true, "0.0.0-test+72c595dc", true]);
      }
    }
    // The leader shows at both once leases are taken; a lag arrives with the next heartbeat.
    await until(async () => {
      const listed = await processesAt(gateways[1]);
      return (
        listed.some(({ leads }) => leads.includes("ledger")) && listed.every(({ journal_lag }) => journal_lag !== null)
      );
    });
    const leaders = (await processesAt(gateways[0])).filter(({ leads }) => leads.includes("ledger"));
    expect(leaders.map(({ leader }) => leader)).toEqual([true]);
    expect((await fetch(`${consoleOf(gateways[0])}/api/system/processes`)).status).toBe(401);
  });

  test("doctor has a line for each gateway", async () => {
    const further = { SLUICE_DATABASE_URL: fixture.url, SLUICE_MASTER_KEY: masterKey };
    const { stdout } = await sluice(["doctor"], gateways[0].dataDir, further);
    for (const { control } of gateways) {
      const line = stdout.split("\n").find((each) => each.includes(control.instanceId)) ?? "";
      expect(line).toMatch(
        /^ok {4}process: proc_\S+ on \S+; version 0\.0\.0-test\+72c595dc; since \S+Z; last seen \S+Z; (?:no )?leases/,
      );
    }
  });

  test("a live view at one shows a call answered by the other, and nothing without permission", async () => {
    const leaving = new AbortController();
    const view = await fetch(consoleOf(gateways[0]) + tailPath("-"), {
      headers: asAdministrator(gateways[0]),
      signal: leaving.signal,
    });
    expect(view.status).toBe(200);
    let text = "";
    const reading = (async () => {
      const decoder = new TextDecoder();
      for await (const piece of view.body as unknown as AsyncIterable<Uint8Array>) text += decoder.decode(piece);
    })().catch(() => undefined);
    // The other learns of the view in a moment; earlier requests are in the list.
    await until(async () => {
      const { status } = await gateways[1].chat(hello, { script: { tokens: 2 } });
      expect(status).toBe(200);
      return text.includes('"model":"gpt-test"');
    });
    leaving.abort();
    await reading;
    expect((await fetch(consoleOf(gateways[0]) + tailPath("-"))).status).toBe(401);
  });

  test("finds an answer stored by the other at once, even before it is in the ledger", async () => {
    const ask = { model: "gpt-test", input: "hello" };
    // Both use the account that was written last.
    await until(() => gateways.every(({ gateway }) => addressOf(gateway) === gateways[1].simulator.url));
    for (let n = 0; n < 5; n++) {
      const [one, two] = n % 2 === 0 ? gateways : [gateways[1], gateways[0]];
      const first = await one.post("/v1/responses", ask, { script: { tokens: 2 } });
      expect(first.status).toBe(200);
      const { id } = (await first.json()) as { id: string };
      const second = await two.post("/v1/responses", { ...ask, previous_response_id: id }, { script: { tokens: 2 } });
      expect([second.status, second.status === 200 ? "" : await second.text()]).toEqual([200, ""]);
    }
    const unknown = await gateways[0].post("/v1/responses", { ...ask, previous_response_id: "resp_nobody_made" });
    expect(unknown.status).toBe(400);
  });

  test("an agent signed in at one calls both, and is signed out at both when its user ends it at the other", async () => {
    const [one, two] = gateways;
    const begun = await fetch(`${one.url}/oauth/device_authorization`, { method: "POST" });
    const { device_code, user_code } = (await begun.json()) as { device_code: string; user_code: string };
    const act = (gateway: StartedGateway, method: string, path: string, body?: object) =>
      fetch(consoleOf(gateway) + path, {
        method,
        headers: { ...asAdministrator(gateway), origin: consoleOf(gateway), "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    const [workspace] = two.gateway.configSnapshot.current.workspaces.keys();
    expect((await act(two, "POST", "/api/agents/approve", { code: user_code, workspace })).status).toBe(200);
    const token = await fetch(`${two.url}/oauth/token`, {
      method: "POST",
      body: new URLSearchParams({ grant_type: "urn:ietf:params:oauth:grant-type:device_code", device_code }),
    });
    const { access_token: key } = (await token.json()) as { access_token: string };
    const statusAt = async (gateway: StartedGateway) =>
      (await gateway.chat(hello, { key, script: { tokens: 1 } })).status;
    for (const gateway of gateways) expect(await statusAt(gateway)).toBe(200);
    const { data } = (await (await act(one, "GET", "/api/agents")).json()) as { data: { id: string }[] };
    expect((await act(two, "DELETE", `/api/agents/${data[0]?.id}`, {})).status).toBe(200);
    for (const gateway of gateways) await until(async () => (await statusAt(gateway)) === 401);
  });

  test("ten wrong passwords across both lock both", async () => {
    const statuses: number[] = [];
    for (let n = 0; n < 12; n++)
      statuses.push((await signIn(gateways[n % 2] as StartedGateway, `wrong horse ${n}`)).status);
    expect(statuses).toEqual([...Array(10).fill(401), 429, 429]);
    for (const gateway of gateways) {
      const answer = await signIn(gateway, administrator.password);
      expect([answer.status, Number(answer.headers.get("retry-after")) > 0]).toEqual([429, true]);
    }
  });
});
