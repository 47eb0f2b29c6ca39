import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { until } from "../until.ts";
import { AdminClient, administratorEnvironment } from "./admin-client.ts";
import { chat } from "./chat-call.ts";
import { root } from "./child.ts";
import { type Gateway, startGateway } from "./start-gateway.ts";
import { type SimulatorProcess, startSimulator } from "./start-simulator.ts";
import { model, testConfig } from "./test-config.ts";

let simulator: SimulatorProcess;
let gateway: Gateway;
let admin: AdminClient;
beforeAll(async () => {
  simulator = await startSimulator();
  gateway = await startGateway({ config: testConfig(simulator.url), env: administratorEnvironment });
  admin = await AdminClient.signIn(gateway.url);
});
afterAll(async () => {
  await gateway?.remove();
  await simulator?.stop();
});

/** Starts another program that takes the database's write lock and holds it until `release`. */
async function holdWriteLock(): Promise<{ readonly release: () => Promise<void> }> {
  const program = join(root, "test/acceptance/lock-holder.ts");
  const child = Bun.spawn([process.execPath, "--no-env-file", program, join(gateway.dataDir, "sluice.db")], {
    stdin: "pipe",
    stdout: "pipe",
  });
  const { value } = await child.stdout.getReader().read();
  expect(new TextDecoder().decode(value)).toBe("locked\n");
  return {
    async release() {
      await child.stdin.end();
      expect(await child.exited).toBe(0);
    },
  };
}

const keys = "/api/workspaces/acme/keys";

test("while another program holds the write lock, calls continue and a write waits for it", async () => {
  const lock = await holdWriteLock();
  const ended: string[] = [];
  const created = admin.call("POST", keys, { name: "waiting" }).then((answer) => {
    ended.push("key");
    return answer;
  });
  // A write that blocked the event loop would end before the first of these calls is answered.
  for (let n = 0; n < 5; n++) {
    const answer = await chat(gateway.url, { script: { tokens: 3 } });
    expect([answer.status, (await answer.text()) === ""]).toEqual([200, false]);
    ended.push("call");
  }
  await lock.release();
  expect((await created).status).toBe(201);
  expect(ended).toEqual(["call", "call", "call", "call", "call", "key"]);
});

test("a write that waits too long returns 503 with Retry-After, and one line on the command line; nothing is written", async () => {
  const lock = await holdWriteLock();
  const refused = await admin.call("POST", keys, { name: "refused" });
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
  expect(await refused.json()).toMatchObject({ error: { code: "storage_unavailable" } });
  const command = await gateway.cli("key", "create", "--name", "refused");
  expect(command).toEqual({
    status: 1,
    stdout: "",
    stderr: "sluice: The database is locked by another program for more than 5 s. Try again.\n",
  });
  await lock.release();
  expect((await admin.call("POST", keys, { name: "refused" })).status).toBe(201);
});

test("simultaneous writes by the console, the command line and the config file lose nothing", async () => {
  const config = (round: number) => {
    const base = testConfig(simulator.url);
    const more = model(`round-${round}`, [{ provider: "sim", upstream_model: "up-test" }]);
    return { ...base, models: [...(base.models ?? []), more] };
  };
  const rounds = 6;
  const before = gateway.output().length;
  const file = join(gateway.dataDir, "..", "sluice.json");
  const results = await Promise.all([
    ...Array.from({ length: 20 }, async (_, n) => (await admin.call("POST", keys, { name: `console-${n}` })).status),
    ...Array.from({ length: 4 }, async (_, n) => (await gateway.cli("key", "create", "--name", `line-${n}`)).stderr),
    (async () => {
      const errors: string[] = [];
      for (let round = 1; round <= rounds; round++) {
        gateway.writeConfig(config(round));
        gateway.reload();
        errors.push((await gateway.cli("apply", file)).stderr);
      }
      return errors.join("");
    })(),
  ]);
  expect(results).toEqual([...Array(20).fill(201), ...Array(4).fill(""), ""]);
  const listed = JSON.parse((await gateway.cli("key", "list", "--json")).stdout).keys as { readonly name: string }[];
  const names = new Set(listed.map(({ name }) => name));
  const expected = [
    ...Array.from({ length: 20 }, (_, n) => `console-${n}`),
    ...Array.from({ length: 4 }, (_, n) => `line-${n}`),
  ];
  expect(expected.filter((name) => !names.has(name))).toEqual([]);
  const last = await until(async () => {
    const answer = await fetch(`${gateway.url}/v1/models`, {
      headers: { "x-api-key": "sk-acme-main-0000000000000001" },
    });
    const ids = ((await answer.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
    return ids.includes(`round-${rounds}`) ? ids : null;
  });
  expect(last.filter((id) => id.startsWith("round-"))).toEqual([`round-${rounds}`]);
  expect(gateway.output().slice(before)).not.toContain('"level":"error"');
});
