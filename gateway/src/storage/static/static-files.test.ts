import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStaticFiles } from "./static-files.ts";

let directory = "";

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "sluice-static-"));
  await mkdir(join(directory, "dist", "assets"), { recursive: true });
  await writeFile(join(directory, "secret.txt"), "outside");
  await writeFile(join(directory, "dist", "index.html"), "<!doctype html>".repeat(40));
  await writeFile(join(directory, "dist", "assets", "index-B1x9_Qz3.js"), "export const x = 1;");
  await writeFile(join(directory, "dist", "index.html.br"), "smaller");
  await writeFile(join(directory, "dist", "alone.br"), "a name like any other");
  await writeFile(join(directory, "dist", ".built-from"), "notes");
  await symlink(join(directory, "secret.txt"), join(directory, "dist", "link.txt"));
});

afterAll(() => rm(directory, { recursive: true }));

const open = (only?: readonly string[]) =>
  openStaticFiles([
    { prefix: "console", directory: join(directory, "dist"), ...(only === undefined ? {} : { only }) },
    { prefix: "docs", directory: join(directory, "not-there") },
  ]);

test("serves a file with its type, its tag and a compressed form", async () => {
  const page = await (await open()).find("console/index.html");
  expect(page?.type).toBe("text/html; charset=utf-8");
  expect(page?.etag).toMatch(/^W\/"[\w-]+"$/);
  expect(page?.immutable).toBe(false);
  expect(Bun.gunzipSync(page?.gzip ?? new Uint8Array())).toEqual(page?.bytes ?? new Uint8Array());
});

test("serves a .br file as the Brotli form of its file only", async () => {
  const files = await open();
  expect(new TextDecoder().decode((await files.find("console/index.html"))?.brotli ?? new Uint8Array())).toBe(
    "smaller",
  );
  expect(await files.find("console/index.html.br")).toBeNull();
  expect((await files.find("console/alone.br"))?.brotli).toBeNull();
});

test("marks only hashed names as immutable, and does not compress what would not shrink", async () => {
  const script = await (await open()).find("console/assets/index-B1x9_Qz3.js");
  expect([script?.immutable, script?.gzip]).toEqual([true, null]);
});

test("serves only files found at the start, not links or paths outside", async () => {
  const files = await open();
  await writeFile(join(directory, "dist", "late.txt"), "late");
  const paths = [
    "console/.built-from",
    "console/late.txt",
    "console/link.txt",
    "console/../secret.txt",
    "../secret.txt",
    "console/",
    "",
  ];
  for (const path of [...paths, "/etc/passwd", "console/%2e%2e/secret.txt", "docs/index.html"]) {
    expect(await files.find(path), path).toBeNull();
  }
});

test("serves only listed names", async () => {
  const files = await open(["index.html"]);
  expect(await files.find("console/index.html")).not.toBeNull();
  expect(await files.find("console/assets/index-B1x9_Qz3.js")).toBeNull();
});
