import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { refuseOtherBlobFolder } from "#storage/index.ts";
import { createIds, systemClock } from "#system/index.ts";
import { openPostgresFixture, type PostgresFixture } from "../postgres-fixture.ts";
import { onPostgres } from "../postgres-server.ts";

await onPostgres("blob folders of several machines", () => {
  let fixture: PostgresFixture;
  let folder: string;
  const ids = createIds(systemClock);
  const use = (name: string) =>
    refuseOtherBlobFolder({ directory: join(folder, name), database: fixture.database, ids });
  beforeAll(async () => {
    fixture = await openPostgresFixture();
    folder = mkdtempSync(join(tmpdir(), "sluice-blob-folders-"));
  });
  afterAll(async () => {
    await fixture?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  test("ten processes that start at once in one folder agree, and another machine's folder is refused in one line", async () => {
    await Promise.all(Array.from({ length: 10 }, () => use("one")));
    const { name, message } = await use("other").then(
      () => new Error("it was taken"),
      (thrown: Error) => thrown,
    );
    expect(name).toBe("DataUnusable");
    expect(message).toContain(join(folder, "other"));
    expect(message).toContain("SLUICE_S3_BUCKET");
    expect(message).not.toContain("\n");
    await use("one");
  });

  test("a copied folder counts as the same one", async () => {
    cpSync(join(folder, "one"), join(folder, "copy"), { recursive: true });
    await use("copy");
    expect(readFileSync(join(folder, "copy", "folder-id"), "utf8")).toMatch(/^blobs_\w+\n$/);
  });
});
