import { expect, test } from "bun:test";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Secret } from "#core/index.ts";
import { postgresPrograms } from "../../../scripts/postgres.mjs";
import { bareEnvironment } from "../../../test/bare-environment.ts";
import { shellCommandOf, programs as started } from "../../../test/programs.ts";
import { asOwner, emptyPostgres } from "../postgres-fixture.ts";
import { onPostgres } from "../postgres-server.ts";
import { hello, startGateway } from "../started-gateway.ts";

const documents = join(import.meta.dir, "..", "..", "..", "docs", "operations", "backup.md");
const programs = postgresPrograms();
const none =
  programs !== null && Bun.which("pg_dump", { PATH: programs }) !== null ? null : "no pg_dump next to the server";
const masterKey = "a-master-key-of-the-installation-0123456789";

/** The documented commands, for a shell. */
function printedCommands(): string {
  const block = /```sh\n(pg_dump [\s\S]*?)```/.exec(readFileSync(documents, "utf8"))?.[1];
  if (block === undefined) throw new Error("the documents print no pg_dump");
  return block;
}

await onPostgres("a dump", () => {
  test.skipIf(none !== null)(
    `a dump and restore by the documented commands keeps every entry${none === null ? "" : ` (${none})`}`,
    async () => {
      await using empty = await emptyPostgres();
      const folder = mkdtempSync(join(tmpdir(), "sluice-dump-"));
      const restored = `sluice_restored_${process.pid}`;
      const server = new URL(empty.url);
      const gateway = await startGateway({
        environment: { databaseUrl: new Secret(empty.url), masterKey: new Secret(masterKey) },
      });
      try {
        for (let call = 0; call < 3; call++)
          expect((await gateway.chat(hello, { script: { tokens: 2 } })).status).toBe(200);
        expect(await gateway.entries()).toHaveLength(3);
        const sluice = join(folder, "sluice");
        writeFileSync(sluice, `#!/bin/sh\nexec ${shellCommandOf(started.cli)} "$@"\n`);
        chmodSync(sluice, 0o755);
        server.pathname = "/";
        const commands = printedCommands()
          .replaceAll("postgres://user:password@host:5432/", server.href)
          .replaceAll("sluice_restored", restored);
        const shell = Bun.spawn(["sh", "-e", "-c", commands], {
          cwd: folder,
          env: {
            ...bareEnvironment(),
            PATH: `${folder}:${programs}:${process.env["PATH"]}`,
            PGHOST: server.hostname,
            PGPORT: server.port,
            PGUSER: decodeURIComponent(server.username),
            PGPASSWORD: decodeURIComponent(server.password),
            SLUICE_DATABASE_URL: empty.url,
            SLUICE_MASTER_KEY: masterKey,
            SLUICE_DATA_DIR: join(folder, "data"),
          },
          stdout: "pipe",
          stderr: "pipe",
        });
        const [status, output, complaint] = await Promise.all([
          shell.exited,
          new Response(shell.stdout).text(),
          new Response(shell.stderr).text(),
        ]);
        expect([status, complaint]).toEqual([0, ""]);
        expect(output).toContain("no errors found");
        server.pathname = `/${restored}`;
        const count = await asOwner(server.href, (client) =>
          client.query("select count(*)::int as count from ledger_entries"),
        );
        expect(count.rows).toEqual([{ count: 3 }]);
      } finally {
        await gateway.stop();
        await asOwner(
          empty.url,
          async (client) => void (await client.query(`drop database if exists ${restored} with (force)`)),
        );
        rmSync(folder, { recursive: true, force: true });
      }
    },
  );
});
