import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bareEnvironment } from "../../../test/bare-environment.ts";
import { commandOf, programs } from "../../../test/programs.ts";
import { noRedis, RedisServer } from "../../../test/redis-server.ts";
import { until } from "../../../test/until.ts";
import { openPostgresFixture } from "../postgres-fixture.ts";
import { onPostgres } from "../postgres-server.ts";

const config = (model: string) => `
providers: [{ id: main, kind: demo }]
models: [{ name: ${model}, deployments: [{ provider: main }] }]
`;

/** Starts one of several simultaneous processes, with a separate data directory. */
function startProcess(folder: string, name: string, further: Readonly<Record<string, string>>, model = "one") {
  const file = join(folder, `${name}.yaml`);
  writeFileSync(file, config(model));
  const dataDir = join(folder, name);
  const child = Bun.spawn([...commandOf(programs.cli), "serve"], {
    env: {
      ...bareEnvironment(),
      ...further,
      SLUICE_DATA_DIR: dataDir,
      SLUICE_CONFIG: file,
      SLUICE_PORT: "0",
      SLUICE_LOG_FORMAT: "json",
    },
    stdout: "pipe",
    stderr: "pipe",
  });
  let text = "";
  const collect = async (output: ReadableStream<Uint8Array>): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const piece of output) text += decoder.decode(piece, { stream: true });
  };
  const read = Promise.all([collect(child.stdout), collect(child.stderr)]);
  const has = (words: string) => text.includes(words);
  return {
    dataDir,
    file,
    has,
    /** Fails with the process's output when it exits early. */
    until: (words: string) =>
      until(() => {
        if (child.exitCode !== null) throw new Error(`it ended: ${text}`);
        return has(words);
      }),
    child,
    get url() {
      return `http://127.0.0.1:${/"port":(\d+)/.exec(text)?.[1]}`;
    },
    async stop(signal: "SIGTERM" | "SIGKILL" = "SIGTERM") {
      child.kill(signal);
      await child.exited;
      await read;
    },
  };
}

const started = "gateway ready";

/** Few, because each is a whole program; `TEST_PROCESSES=10` runs more. */
const count = Number(process.env["TEST_PROCESSES"] ?? 3);

await onPostgres("simultaneous starts", () => {
  test.skipIf(noRedis !== null)(
    "any number of processes create one key and one setup link, all of them accept it, and the config file is applied once",
    async () => {
      await using fixture = await openPostgresFixture();
      const redis = await RedisServer.start();
      const folder = mkdtempSync(join(tmpdir(), "sluice-ten-"));
      const further = {
        SLUICE_DATABASE_URL: fixture.url,
        SLUICE_REDIS_URL: redis.url,
        SLUICE_BLOBS: "separate",
        SLUICE_MASTER_KEY: "a-master-key-of-the-installation-0123456789",
      };
      const start = (name: string, model?: string) => startProcess(folder, name, further, model);
      const all = Array.from({ length: count }, (_, n) => start(`p${n}`));
      try {
        await Promise.all(all.map((one) => one.until(started)));
        const { kysely } = fixture.database;
        expect(await kysely.selectFrom("api_keys").select("name").execute()).toEqual([{ name: "first key" }]);
        const holding = (name: string) => all.filter(({ dataDir }) => existsSync(join(dataDir, name)));
        expect([holding("first-key").length, holding("setup-link").length]).toEqual([1, 1]);
        const made = await kysely
          .selectFrom("audit_log")
          .select("object")
          .where("action", "=", "create")
          .where("object", "=", "model one")
          .execute();
        expect(made).toHaveLength(1);
        expect(all.filter((one) => one.has("something else than the config file"))).toEqual([]);

        const other = start("other", "another");
        all.push(other);
        await other.until(started);
        await other.until("differs from the config file that process proc_");
        expect(await kysely.selectFrom("models").select("name").execute()).toEqual([{ name: "one" }]);

        const link = await Bun.file(join(holding("setup-link")[0]?.dataDir ?? "", "setup-link")).text();
        const token = /setup=([\w-]+)/.exec(link)?.[1] ?? "";
        const complete = (url: string, token: string) =>
          fetch(`${url}/api/setup`, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify({ token, email: "anna@example.com", password: "correct horse battery" }),
          });
        expect((await complete(other.url, "not-the-token-of-the-link")).status).toBe(403);
        expect((await complete(other.url, token)).status).toBe(201);
        expect((await complete(all[0]?.url ?? "", token)).status).toBe(403);
      } finally {
        await Promise.all(all.map((one) => one.stop()));
        await redis.stop();
        rmSync(folder, { recursive: true, force: true });
      }
    },
  );
});
