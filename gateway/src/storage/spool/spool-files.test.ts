import { afterEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { bounds } from "#core/index.ts";
import type { Spool, Spooled, SpoolWriter } from "#ports/index.ts";
import { until } from "../../../../test/until.ts";
import { createSpool, spoolMemoryBytesMax, spoolMemoryTotalBytesMax } from "./spool.ts";

const made: string[] = [];
afterEach(async () => {
  // Frees the bodies of a test, so that the next one does not count them.
  await settledFiles(0);
  for (const directory of made.splice(0)) rmSync(directory, { recursive: true, force: true });
});

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "sluice-spool-"));
  made.push(directory);
  return directory;
}

let owners = 0;
/** By default, each body belongs to a different key. */
const owner = (key = `key_${owners++}`, workspace = key) => ({ key: { id: key }, workspace: { id: workspace } });
let names = 0;
const open = (directory: string, diskBytesMax?: number): Spool =>
  createSpool({ directory, nextName: () => `n${names++}`, ...(diskBytesMax === undefined ? {} : { diskBytesMax }) });

/** Bytes that encode their position, so that a misplaced piece is detected. */
function body(size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at++) bytes[at] = (at * 31 + (at >> 8) * 7 + (at >> 16)) & 0xff;
  return bytes;
}

async function spooled(writer: SpoolWriter, bytes: Uint8Array, pieceBytes: number): Promise<Spooled> {
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const piece = bytes.slice(at, at + pieceBytes);
    await writer.write(piece);
    // The writer copies the bytes, so the sender may reuse its buffer.
    piece.fill(0);
  }
  return writer.end();
}

const readAll = async (stream: ReadableStream<Uint8Array>): Promise<Buffer> =>
  Buffer.from(await new Response(stream).arrayBuffer());
/** Spooled files of this process: they are unlinked, but /proc still shows their former names. */
const openFiles = (): number =>
  readdirSync("/proc/self/fd").filter((file) => {
    try {
      return readlinkSync(`/proc/self/fd/${file}`).includes(".spool");
    } catch {
      return false;
    }
  }).length;

describe("a spooled body", () => {
  test("can be read from any range, repeatedly", async () => {
    const spool = open(newDirectory());
    const size = fc.oneof(fc.nat({ max: 300_000 }), fc.integer({ min: 900_000, max: 2_500_000 }));
    await fc.assert(
      fc.asyncProperty(size, fc.integer({ min: 700, max: 400_000 }), fc.nat(), fc.nat(), async (total, piece, a, b) => {
        const bytes = body(total);
        const whole = await spooled(spool.open(owner()), bytes, piece);
        const [start = 0, end = 0] = [a % (total + 1), b % (total + 1)].sort((one, other) => one - other);
        expect(whole.size).toBe(total);
        expect((await readAll(whole.read(start, end))).equals(bytes.subarray(start, end))).toBe(true);
        const both = await Promise.all([readAll(whole.read(0, total)), readAll(whole.read(0, total))]);
        expect(both.every((read) => read.equals(bytes))).toBe(true);
        whole.discard();
      }),
      { numRuns: 30 },
    );
  });

  test("stays in memory up to a bound, and beyond that leaves no file name on disk", async () => {
    const directory = newDirectory();
    const before = openFiles();
    const small = await spooled(open(directory).open(owner()), body(spoolMemoryBytesMax), 65_536);
    expect(openFiles()).toBe(before);
    const large = await spooled(open(directory).open(owner()), body(spoolMemoryBytesMax + 1), 65_536);
    expect(openFiles()).toBe(before + 1);
    expect(readdirSync(directory)).toEqual([]);
    expect(await readAll(large.read(0, 10))).toHaveLength(10);
    large.discard();
    large.discard();
    small.discard();
    await settledFiles(before);
  });

  test("of fifty megabytes uses one megabyte of memory while the sender waits for the disk", async () => {
    const writer = open(newDirectory()).open(owner());
    const piece = new Uint8Array(65_536).fill(1);
    Bun.gc(true);
    const before = process.memoryUsage().arrayBuffers;
    let peak = 0;
    let waits = 0;
    for (let sent = 0; sent < 50 * 1024 * 1024; sent += piece.length) {
      const taken = writer.write(piece);
      if (taken instanceof Promise) waits++;
      await taken;
      peak = Math.max(peak, process.memoryUsage().arrayBuffers - before);
    }
    const whole = await writer.end();
    expect(whole.size).toBe(50 * 1024 * 1024);
    expect(peak).toBeLessThan(spoolMemoryBytesMax + 4 * bounds.spoolPieceBytes);
    expect(waits).toBeGreaterThan(300);
    whole.discard();
  });

  test("that arrives byte by byte uses no more memory", async () => {
    const writer = open(newDirectory()).open(owner());
    const crumb = new Uint8Array([7]);
    Bun.gc(true);
    const before = process.memoryUsage().heapUsed;
    for (let sent = 0; sent < 500_000; sent++) await writer.write(crumb);
    Bun.gc(true);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(4 * 1024 * 1024);
    const whole = await writer.end();
    expect((await readAll(whole.read(0, whole.size))).every((byte) => byte === 7)).toBe(true);
    whole.discard();
  });
});

describe("a spool", () => {
  test("refuses bodies beyond its disk space until one is discarded", async () => {
    const spool = open(newDirectory(), 8 * 1024 * 1024);
    const first = await spooled(spool.open(owner()), body(3 * 1024 * 1024), 65_536);
    const writer = spool.open(owner());
    const refused = spooled(writer, body(3 * 1024 * 1024), 65_536);
    await expect(refused).rejects.toMatchObject({ code: "no_deployment_available", status: 503, retryAfterMs: 1_000 });
    writer.discard();
    first.discard();
    const second = await spooled(spool.open(owner()), body(3 * 1024 * 1024), 65_536);
    second.discard();
  });

  test("shares its space between keys and workspaces", async () => {
    const mebibyte = 1024 * 1024;
    const spool = open(newDirectory(), 16 * mebibyte);
    const held: Spooled[] = [];
    const fill = async (who: ReturnType<typeof owner>) => {
      for (let bodies = 0; ; bodies++) {
        const writer = spool.open(who);
        try {
          held.push(await spooled(writer, body(2 * mebibyte), 65_536));
        } catch (refused) {
          writer.discard();
          return { bodies, refused };
        }
      }
    };
    // Half of the space, then three quarters with other keys of the same workspace.
    const first = await fill(owner("anna", "one"));
    expect(first.bodies).toBe(4);
    expect(first.refused).toMatchObject({ code: "rate_limit_exceeded", status: 429, details: { scope: "key" } });
    for (let key = 0; key < 5; key++) await fill(owner(`key_${key}`, "one"));
    const late = await fill(owner("late", "one"));
    expect(late).toMatchObject({ bodies: 0, refused: { status: 429, details: { scope: "workspace" } } });
    held.push(await spooled(spool.open(owner("bert", "two")), body(2 * mebibyte), 65_536));
    for (const whole of held) whole.discard();
  });

  test("writes to disk early when a key has used its share of memory", async () => {
    const spool = open(newDirectory());
    const before = openFiles();
    const [anna, bert] = [owner("anna"), owner("bert")];
    const count = spoolMemoryTotalBytesMax / spoolMemoryBytesMax / 2;
    const held = [];
    for (let turn = 0; turn < count; turn++) {
      held.push(await spooled(spool.open(anna), new Uint8Array(spoolMemoryBytesMax), 262_144));
    }
    held.push(await spooled(spool.open(bert), body(1_000), 100));
    expect(openFiles()).toBe(before);
    const late = await spooled(spool.open(anna), body(1_000), 100);
    expect(openFiles()).toBe(before + 1);
    expect((await readAll(late.read(0, 1_000))).equals(body(1_000))).toBe(true);
    for (const one of [...held, late]) one.discard();
    const again = await spooled(spool.open(anna), body(1_000), 100);
    await settledFiles(before);
    again.discard();
  });

  test("removes only files left by an earlier run", () => {
    const directory = join(newDirectory(), "spool");
    mkdirSync(directory);
    writeFileSync(join(directory, "old.spool"), "x");
    writeFileSync(join(directory, "note.txt"), "x");
    open(directory);
    expect(readdirSync(directory)).toEqual(["note.txt"]);
  });

  test("creates its directory, accessible to its user only", () => {
    const directory = join(newDirectory(), "spool");
    open(directory);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
  });

  test("throws internal_error when the disk fails", async () => {
    const directory = newDirectory();
    const writer = open(directory).open(owner());
    rmSync(directory, { recursive: true });
    await expect(spooled(writer, body(2_000_000), 65_536)).rejects.toMatchObject({ code: "internal_error" });
    writer.discard();
  });
});

describe("discard", () => {
  test("during a write closes the file after it and releases all space", async () => {
    const spool = open(newDirectory(), 8 * 1024 * 1024);
    const before = openFiles();
    for (let turn = 0; turn < 20; turn++) {
      const writer = spool.open(owner());
      const writing = writer.write(body(3 * 1024 * 1024));
      if (turn % 2 === 1) await new Promise((resolve) => setImmediate(resolve));
      writer.discard();
      await writing;
    }
    await settledFiles(before);
    const whole = await spooled(spool.open(owner()), body(4 * 1024 * 1024 - 1), 65_536);
    whole.discard();
  });

  test("fails running reads", async () => {
    for (const size of [500_000, 3_000_000]) {
      const whole = await spooled(open(newDirectory()).open(owner()), body(size), 65_536);
      const reader = whole.read(0, size).getReader();
      expect((await reader.read()).done).toBe(false);
      whole.discard();
      await expect(reader.read()).rejects.toThrow();
    }
  });
});

/** Files are closed in the runtime's own threads. */
async function settledFiles(count: number): Promise<void> {
  await until(() => openFiles() <= count);
}
