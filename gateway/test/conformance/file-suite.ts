import { describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bounds, type FileCopy, pulledStream, type StoredFile } from "#core/index.ts";
import { fileLeaseMs } from "#files/files.ts";
import { createFileStore, type FileStore, Files, type FilesDependencies, type NewFile } from "#files/index.ts";
import { ProviderClient } from "#provider-client/index.ts";
import { createDiskBlobStore } from "#storage/index.ts";
import { createIds } from "#system/index.ts";
import { until } from "../../../test/until.ts";
import { FakeClock } from "../fake-clock.ts";
import { quietConfigSnapshot } from "../quiet-config-snapshot.ts";
import { noWorkload } from "../workload-fixture.ts";
import { streamOf } from "./blob-store-suite.ts";
import { newYear, silentObserver } from "./store-fixture.ts";
import type { TaskFixtureFactory } from "./task-fixture.ts";

const never = new AbortController().signal;
const owner = { workspaceId: "ws_1", keyId: "key_1", personId: null };
const facts: NewFile = {
  purpose: "user_data",
  filename: "ä '\".txt",
  mediaType: "text/plain",
  expiresAt: null,
  sizeBytes: null,
};

/** Guarantees of files on every database, with any number of processes. */
export function fileSuite(name: string, make: TaskFixtureFactory): void {
  const open = async () => openSetup(await make());
  describe(`files: ${name}`, () => {
    storeTests(open);
    byteTests(open);
    copyTests(open);
  });
}

type Setup = Awaited<ReturnType<typeof openSetup>>;

async function openSetup(fixture: Awaited<ReturnType<TaskFixtureFactory>>) {
  const directory = mkdtempSync(join(tmpdir(), "sluice-files-"));
  const clock = new FakeClock(newYear);
  const store = createFileStore({ database: fixture.database });
  const blobs = createDiskBlobStore({ directory, clock });
  const unreachable = () => Promise.reject(new Error("there is no network"));
  const dependencies: FilesDependencies = {
    ...{ store, blobs, clock, ids: createIds(clock), observer: silentObserver },
    providerClient: new ProviderClient({ send: unreachable, begin: unreachable }, clock, noWorkload),
    configSnapshot: () => quietConfigSnapshot({}),
  };
  const started: Files[] = [];
  return {
    store,
    blobs,
    clock,
    /** The files of one more process. */
    process(changes: Partial<FilesDependencies> = {}): Files {
      const files = new Files({ ...dependencies, ...changes });
      files.start();
      started.push(files);
      return files;
    },
    /** Lets the workers of all processes work until nothing is due. */
    async settle(): Promise<void> {
      await until(async () => {
        clock.advance(bounds.fileRemovalPollMs * 50);
        const next = await store.nextDue();
        // A leased row is due again when its lease ends.
        return next === null || next > clock.now() + fileLeaseMs;
      });
    },
    stored: () =>
      readdirSync(directory, { recursive: true, withFileTypes: true })
        .filter((each) => each.isFile())
        .map(({ name }) => name),
    async [Symbol.asyncDispose]() {
      await Promise.all(started.map((files) => files.stop()));
      await fixture[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

const create = (files: Files, text: string, more: Partial<NewFile> = {}, by: typeof owner = owner) =>
  files.create(by, { ...facts, ...more }, streamOf(Buffer.from(text)), never);
const textOf = async (files: Files, file: StoredFile) => new Response(await files.open(file)).text();

function storeTests(open: () => Promise<Setup>): void {
  test("returns a file unchanged, and only to its workspace", async () => {
    await using setup = await open();
    const files = setup.process();
    const file = await create(files, "words");
    expect(await files.get("ws_1", file.id)).toEqual(file);
    expect(await textOf(files, file)).toBe("words");
    await expect(files.get("ws_2", file.id)).rejects.toMatchObject({ code: "not_found" });
    await expect(files.delete("ws_2", file.id)).rejects.toMatchObject({ code: "not_found" });
    await expect(files.get("ws_1", null)).rejects.toMatchObject({ code: "not_found" });
  });

  test("stores a result that is larger than an upload may be, within the room of its workspace", async () => {
    await using setup = await open();
    const files = setup.process();
    const piece = new Uint8Array(4 * 1024 * 1024);
    const sized = (size: number) => {
      let left = size;
      return pulledStream(() => {
        const next = piece.subarray(0, Math.min(left, piece.length));
        left -= next.length;
        return next.length === 0 ? null : next;
      });
    };
    const larger = bounds.fileBytesMax + 1;
    await expect(files.create(owner, { ...facts, sizeBytes: larger }, sized(larger), never)).rejects.toMatchObject({
      code: "request_too_large",
    });
    expect((await files.create(owner, facts, sized(larger), never)).sizeBytes).toBe(larger);
  });

  test("lists in pages, both orders and with every filter, and counts bytes", async () => {
    await using setup = await open();
    const files = setup.process();
    const ids: string[] = [];
    for (let index = 0; index < 7; index++) {
      const by = { ...owner, keyId: index % 2 === 0 ? "key_1" : "key_2" };
      ids.push((await create(files, `file ${index}`, { purpose: index < 3 ? "batch" : "vision" }, by)).id);
      setup.clock.advance(1);
    }
    await create(files, "of another workspace", {}, { ...owner, workspaceId: "ws_2" });
    const all = async (filter: Parameters<Files["list"]>[0], order: "newest first" | "oldest first") => {
      const found: string[] = [];
      for (let after: string | null = null; ; ) {
        const page = await files.list(filter, { after, limit: 2, order });
        found.push(...page.files.map(({ id }) => id));
        after = page.next;
        if (after === null) return found;
      }
    };
    expect(await all({ workspaceId: "ws_1" }, "oldest first")).toEqual(ids);
    expect(await all({ workspaceId: "ws_1" }, "newest first")).toEqual(ids.toReversed());
    expect(await all({ workspaceId: "ws_1", purpose: "batch" }, "oldest first")).toEqual(ids.slice(0, 3));
    expect(await all({ workspaceId: "ws_1", keyId: "key_2" }, "oldest first")).toEqual(
      [1, 3, 5].map((at) => ids[at] ?? ""),
    );
    expect(await all({ workspaceId: "ws_3" }, "oldest first")).toEqual([]);
    expect(await files.totals({ workspaceId: "ws_1" })).toEqual({ files: 7, bytes: 42 });
    expect(await files.totals({})).toEqual({ files: 8, bytes: 62 });
    expect(await files.totals({ workspaceId: "ws_3" })).toEqual({ files: 0, bytes: 0 });
  });

  test("leases a due file to one of several processes", async () => {
    await using setup = await open();
    const { store, clock } = setup;
    await setup.process().stop();
    const files = new Set<string>();
    const process = setup.process();
    await process.stop();
    for (let index = 0; index < 5; index++) {
      files.add((await create(process, `due ${index}`, { expiresAt: clock.now() + 1 })).id);
    }
    clock.advance(1);
    const leased = await Promise.all(Array.from({ length: 4 }, () => store.leaseDue(clock.now(), 60_000, 3)));
    const ids = leased.flat().map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBe(5);
    expect(await store.leaseDue(clock.now(), 60_000, 3)).toEqual([]);
  });
}

function byteTests(open: () => Promise<Setup>): void {
  test("keeps equal bytes whole while several processes create and delete files with them", async () => {
    await using setup = await open();
    const processes = [setup.process(), setup.process(), setup.process()];
    let isOver = false;
    const workers = until(() => {
      setup.clock.advance(bounds.fileRemovalPollMs);
      return isOver;
    });
    for (let round = 0; round < 6; round++) {
      await Promise.all(
        processes.map(async (files, index) => {
          const file = await create(files, "the same bytes");
          expect(await textOf(files, file)).toBe("the same bytes");
          if ((round + index) % 3 !== 0) await files.delete("ws_1", file.id);
        }),
      );
    }
    isOver = true;
    await workers;
    await setup.settle();
    const files = processes[0] as Files;
    const { files: left } = await files.list(
      { workspaceId: "ws_1" },
      { after: null, limit: 100, order: "newest first" },
    );
    expect(left).toHaveLength(6);
    expect(setup.stored()).toEqual([left[0]?.sha256 ?? ""]);
    for (const { id } of left) await files.delete("ws_1", id);
    await setup.settle();
    expect(setup.stored()).toEqual([]);
  });

  test("removes what a process left that died between storing the bytes and finishing the row", async () => {
    await using setup = await open();
    const stored = Promise.withResolvers<void>();
    const dying = setup.process({
      blobs: {
        ...setup.blobs,
        async put(...call) {
          await setup.blobs.put(...call);
          stored.resolve();
          return new Promise<never>(() => {});
        },
      },
    });
    void create(dying, "left over");
    await stored.promise;
    expect(setup.stored()).toHaveLength(1);
    const files = setup.process();
    await setup.settle();
    expect((await files.list({ workspaceId: "ws_1" }, { after: null, limit: 9, order: "newest first" })).files).toEqual(
      [],
    );
    expect(setup.stored()).toHaveLength(1);
    setup.clock.advance(bounds.fileArrivalMs);
    await setup.settle();
    expect(setup.stored()).toEqual([]);
    expect(await setup.store.nextDue()).toBeNull();
  });

  test("keeps neither bytes nor a row of a file that fails while it is stored", async () => {
    await using setup = await open();
    const files = setup.process();
    const broken = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(new Uint8Array(70_000));
        controller.error(new Error("the caller went away"));
      },
    });
    await expect(files.create(owner, facts, broken, never)).rejects.toThrow();
    await expect(create(files, "")).rejects.toMatchObject({ code: "invalid_request" });
    await setup.settle();
    expect(setup.stored()).toEqual([]);
    expect(await setup.store.usedBytes("ws_1", {})).toBe(0);
  });

  test("an expired file has a clear error for a week, and no bytes", async () => {
    await using setup = await open();
    const { clock } = setup;
    const files = setup.process();
    const file = await create(files, "short-lived", { expiresAt: clock.now() + 3_600_000 });
    const same = await create(files, "short-lived");
    clock.advance(3_600_000);
    await expect(files.get("ws_1", file.id)).rejects.toMatchObject({ code: "file_expired", status: 404 });
    await setup.settle();
    await expect(files.get("ws_1", file.id)).rejects.toMatchObject({ code: "file_expired" });
    expect(await textOf(files, same)).toBe("short-lived");
    await files.delete("ws_1", same.id);
    await setup.settle();
    expect(setup.stored()).toEqual([]);
    clock.advance(bounds.fileExpiredRowMs);
    await setup.settle();
    await expect(files.get("ws_1", file.id)).rejects.toMatchObject({ code: "not_found" });
  });

  test("a file that is deleted while it is read is read to its end", async () => {
    await using setup = await open();
    const files = setup.process();
    const text = "x".repeat(1_000_000);
    const file = await create(files, text);
    const reader = (await files.open(file)).getReader();
    const first = await reader.read();
    await files.delete("ws_1", file.id);
    await setup.settle();
    expect(setup.stored()).toEqual([]);
    let size = first.value?.length ?? 0;
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) size += piece.value.length;
    expect(size).toBe(text.length);
    await expect(files.open(file)).rejects.toMatchObject({ code: "not_found" });
  });

  test("an upload that is never completed is removed with its parts", async () => {
    await using setup = await open();
    const files = setup.process();
    const { uploads } = files;
    const upload = await uploads.create(owner, { ...facts, sizeBytes: 6, fileLifeMs: null });
    await uploads.addPart(owner, upload, 3, streamOf(Buffer.from("abc")), never);
    expect(setup.stored()).toHaveLength(1);
    setup.clock.advance(bounds.fileUploadMs);
    expect(await uploads.get("ws_1", upload.id)).toMatchObject({ status: "expired" });
    await setup.settle();
    expect(setup.stored()).toEqual([]);
    expect(await setup.store.usedBytes("ws_1", {})).toBe(0);
  });
}

function copyTests(open: () => Promise<Setup>): void {
  const copyOf = (fileId: string, changes: Partial<FileCopy> = {}): FileCopy => ({
    ...{ fileId, provider: "main", upstreamId: "file-1", uri: "file-1", createdAt: newYear, expiresAt: null },
    ...changes,
  });

  test("keeps one copy for each account, and replaces an expired one", async () => {
    await using setup = await open();
    const store: FileStore = setup.store;
    const files = setup.process();
    const { id } = await create(files, "copied");
    expect(await store.putCopy(copyOf(id, { expiresAt: newYear + 10 }))).toBe(true);
    expect(await store.putCopy(copyOf(id, { upstreamId: "file-2" }))).toBe(false);
    expect(await store.putCopy(copyOf(id, { provider: "other", upstreamId: "file-3" }))).toBe(true);
    expect(await store.copy(id, "main")).toMatchObject({ upstreamId: "file-1" });
    expect(await store.putCopy(copyOf(id, { upstreamId: "file-4", createdAt: newYear + 10 }))).toBe(true);
    expect((await store.copies(id)).map(({ upstreamId }) => upstreamId)).toEqual(["file-4", "file-3"]);
    await files.delete("ws_1", id);
    expect(await store.putCopy(copyOf(id, { provider: "third" }))).toBe(false);
  });
}
