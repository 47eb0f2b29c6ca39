import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { AssetStore } from "#assets/index.ts";
import type { Asset, AssetBinding, AssetGroup } from "#core/index.ts";
import { newYear } from "./store-fixture.ts";
import { asset, assetGroup, fullTask, only, type TaskFixtureFactory, task } from "./task-fixture.ts";

/** Guarantees of the asset store on every database. */
export function assetStoreSuite(name: string, make: TaskFixtureFactory): void {
  describe(`asset store: ${name}`, () => {
    groupTests(make);
    assetTests(make);
    pageTests(make);
    workTests(make);
  });
}

const fullGroup = assetGroup("full", {
  platform: "volcengine",
  description: "ä '\"",
  projectName: "film",
  providerId: "ark",
  upstreamId: "group-1",
});

const fullAsset = asset("full", {
  groupId: fullGroup.id,
  platform: "volcengine",
  type: "Video",
  status: "Failed",
  error: { code: "x", message: "too dark '" },
  providerId: "ark",
  upstreamId: "asset-1",
  blobHash: "ab",
  sizeBytes: 2 ** 40,
  contentType: "video/mp4",
  dueAt: null,
});

const binding = (assetId: string, providerId: string, changes: Partial<AssetBinding> = {}): AssetBinding => ({
  assetId,
  providerId,
  upstreamGroupId: "g",
  upstreamId: "u",
  status: "Processing",
  updatedAt: newYear,
  ...changes,
});

function groupTests(make: TaskFixtureFactory): void {
  test("returns a group unchanged, and only to its workspace", async () => {
    await using fixture = await make();
    await fixture.assetStore.createGroup(fullGroup);
    expect(await fixture.assetStore.findGroup("ws_1", fullGroup.id)).toEqual(fullGroup);
    expect(await fixture.assetStore.findGroup("ws_2", fullGroup.id)).toBeNull();
    expect(await fixture.assetStore.findGroup("ws_1", "ag_none")).toBeNull();
  });

  test("deletes a group with its assets and their bindings, and only in its workspace", async () => {
    await using fixture = await make();
    const { assetStore } = fixture;
    await assetStore.createGroup(assetGroup("cast"));
    await assetStore.createGroup(assetGroup("kept"));
    await assetStore.createAsset(asset("a"));
    await assetStore.createAsset(asset("b", { groupId: "ag_kept" }));
    for (const id of ["as_a", "as_b"]) await assetStore.bind(binding(id, "ark"));
    expect(await assetStore.deleteGroup("ws_2", "ag_cast")).toBe(false);
    expect(await assetStore.findAsset("ws_1", "as_a")).not.toBeNull();
    expect(await assetStore.deleteGroup("ws_1", "ag_cast")).toBe(true);
    expect(await assetStore.deleteGroup("ws_1", "ag_cast")).toBe(false);
    expect(await assetStore.findAsset("ws_1", "as_a")).toBeNull();
    expect(await assetStore.bindings("as_a")).toEqual([]);
    expect(await assetStore.bindings("as_b")).toHaveLength(1);
    expect(await assetStore.findAsset("ws_1", "as_b")).not.toBeNull();
  });

  test("rejects an asset for a missing group and for another workspace's group", async () => {
    await using fixture = await make();
    await fixture.assetStore.createGroup(assetGroup("cast", { workspaceId: "ws_2" }));
    for (const groupId of ["ag_cast", "ag_gone"]) {
      await expect(fixture.assetStore.createAsset(asset("a", { groupId }))).rejects.toMatchObject({
        code: "asset_group_not_found",
      });
    }
    expect(await fixture.assetStore.findAsset("ws_1", "as_a")).toBeNull();
  });
}

function assetTests(make: TaskFixtureFactory): void {
  test("returns an asset unchanged, and only to its workspace", async () => {
    await using fixture = await make();
    await fixture.assetStore.createGroup(fullGroup);
    await fixture.assetStore.createAsset(fullAsset);
    expect(await fixture.assetStore.findAsset("ws_1", fullAsset.id)).toEqual(fullAsset);
    expect(await fixture.assetStore.findAsset("ws_2", fullAsset.id)).toBeNull();
    const { status, error, sizeBytes, dueAt } = asset("x", { dueAt: newYear + 7 });
    await fixture.assetStore.updateAsset(fullAsset.id, { status, error, sizeBytes, dueAt });
    await fixture.assetStore.updateAsset(fullAsset.id, {});
    const changed: Asset = { ...fullAsset, status, error, sizeBytes, dueAt };
    expect(await fixture.assetStore.findAsset("ws_1", fullAsset.id)).toEqual(changed);
    const renamed = { name: "n", type: "Audio", sourceUrl: "https://b", providerId: null, upstreamId: null } as const;
    const rest = { blobHash: "cd", contentType: "audio/mpeg", updatedAt: newYear + 9 };
    await fixture.assetStore.updateAsset(fullAsset.id, { ...renamed, ...rest });
    expect(await fixture.assetStore.findAsset("ws_1", fullAsset.id)).toEqual({ ...changed, ...renamed, ...rest });
  });

  test("deletes an asset with its bindings, and only in its workspace", async () => {
    await using fixture = await make();
    await fixture.assetStore.createGroup(assetGroup("cast"));
    await fixture.assetStore.createAsset(asset("a"));
    await fixture.assetStore.bind(binding("as_a", "ark"));
    expect(await fixture.assetStore.deleteAsset("ws_2", "as_a")).toBe(false);
    expect(await fixture.assetStore.deleteAsset("ws_1", "as_a")).toBe(true);
    expect(await fixture.assetStore.deleteAsset("ws_1", "as_a")).toBe(false);
    expect(await fixture.assetStore.bindings("as_a")).toEqual([]);
    expect(await fixture.assetStore.findGroup("ws_1", "ag_cast")).not.toBeNull();
  });

  test("keeps only the latest binding of an asset per account", async () => {
    await using fixture = await make();
    await fixture.assetStore.createGroup(assetGroup("cast"));
    await fixture.assetStore.createAsset(asset("a"));
    await fixture.assetStore.bind(binding("as_a", "two"));
    await fixture.assetStore.bind(binding("as_a", "one"));
    const later = binding("as_a", "one", {
      upstreamId: "u2",
      upstreamGroupId: "g2",
      status: "Active",
      updatedAt: newYear + 1,
    });
    await fixture.assetStore.bind(later);
    expect(await fixture.assetStore.binding("as_a", "one")).toEqual(later);
    expect(await fixture.assetStore.binding("as_a", "three")).toBeNull();
    expect(await fixture.assetStore.bindings("as_a")).toEqual([later, binding("as_a", "two")]);
    await expect(fixture.assetStore.bind(binding("as_gone", "one"))).rejects.toThrow();
  });
}

function pageTests(make: TaskFixtureFactory): void {
  const platforms = ["local", "volcengine", "byteplus"] as const;
  const newestFirst = (rows: readonly { id: string; createdAt: number }[]): string[] =>
    rows.toSorted((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1)).map((row) => row.id);

  test("lists each group of a workspace once, newest first, while groups are added", async () => {
    await using fixture = await make();
    const groups = Array.from({ length: 40 }, (_, n) =>
      assetGroup(`${n}`, {
        workspaceId: `ws_${n % 2}`,
        platform: platforms[n % 3] ?? "local",
        createdAt: newYear + Math.floor(n / 9),
      }),
    );
    for (const group of groups) await fixture.assetStore.createGroup(group);
    for (const platform of [undefined, ...platforms]) {
      const listed: AssetGroup[] = [];
      let cursor: string | null = null;
      do {
        const filter = { workspaceId: "ws_1", ...(platform === undefined ? {} : { platform }) };
        const page: Awaited<ReturnType<typeof fixture.assetStore.groups>> = await fixture.assetStore.groups(
          filter,
          cursor,
          3,
        );
        listed.push(...page.groups);
        cursor = page.next;
        const late = assetGroup(`late${platform}${listed.length}`, {
          createdAt: newYear + 99,
          platform: platform ?? "local",
        });
        await fixture.assetStore.createGroup(late);
      } while (cursor !== null);
      const own = groups.filter((g) => g.workspaceId === "ws_1" && (platform ?? g.platform) === g.platform);
      expect(listed.map((g) => g.id).filter((id) => !id.includes("late"))).toEqual(newestFirst(own));
    }
  });

  test("lists exactly the assets that match a filter, for any page size", async () => {
    await using fixture = await make();
    const statuses = ["Processing", "Active", "Failed"] as const;
    const assets: Asset[] = [];
    for (let n = 0; n < 6; n++) {
      await fixture.assetStore.createGroup(
        assetGroup(`${n}`, { workspaceId: `ws_${n % 2}`, platform: platforms[n % 3] ?? "local" }),
      );
    }
    for (let n = 0; n < 60; n++) {
      const group = { groupId: `ag_${n % 6}`, workspaceId: `ws_${n % 2}`, platform: platforms[n % 3] ?? "local" };
      assets.push(
        asset(`${n}`, { ...group, status: statuses[(n >> 2) % 3] ?? "Active", createdAt: newYear + (n % 5) }),
      );
    }
    for (const one of assets) await fixture.assetStore.createAsset(one);
    const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
    const query = fc.record({
      workspace: fc.nat(1),
      group: maybe(fc.nat(6)),
      platform: maybe(fc.constantFrom(...platforms)),
      status: maybe(fc.constantFrom(...statuses)),
      size: fc.integer({ min: 1, max: 30 }),
    });
    await fc.assert(
      fc.asyncProperty(query, async ({ workspace, group, platform, status, size }) => {
        const filter: Parameters<AssetStore["assets"]>[0] = {
          workspaceId: `ws_${workspace}`,
          ...(group === null ? {} : { groupId: `ag_${group}` }),
          ...(platform === null ? {} : { platform }),
          ...(status === null ? {} : { status }),
        };
        const listed: string[] = [];
        let cursor: string | null = null;
        do {
          const page: Awaited<ReturnType<typeof fixture.assetStore.assets>> = await fixture.assetStore.assets(
            filter,
            cursor,
            size,
          );
          listed.push(...page.assets.map((one) => one.id));
          cursor = page.next;
        } while (cursor !== null);
        const expected = assets.filter(
          (one) =>
            one.workspaceId === filter.workspaceId &&
            (group === null || one.groupId === filter.groupId) &&
            (platform === null || one.platform === platform) &&
            (status === null || one.status === status),
        );
        expect(listed).toEqual(newestFirst(expected));
      }),
      { numRuns: 50 },
    );
  });

  test("rejects an invalid cursor as the caller's error", async () => {
    await using fixture = await make();
    const wrong = { code: "invalid_request", param: "cursor" };
    await expect(fixture.assetStore.groups({ workspaceId: "ws_1" }, "x", 10)).rejects.toMatchObject(wrong);
    await expect(fixture.assetStore.assets({ workspaceId: "ws_1" }, "x", 10)).rejects.toMatchObject(wrong);
  });
}

function workTests(make: TaskFixtureFactory): void {
  test("leases due assets to one worker at a time, oldest first, and again when the lease expires", async () => {
    await using fixture = await make();
    await fixture.assetStore.createGroup(assetGroup("cast"));
    for (const [n, dueAt] of [newYear + 1, newYear, newYear + 9, null].entries()) {
      await fixture.assetStore.createAsset(asset(`${n}`, { dueAt }));
    }
    expect(await fixture.assetStore.nextDueAsset()).toBe(newYear);
    const due = async (now: number, limit = 9) =>
      (await fixture.assetStore.dueAssets(now, 100, limit)).map((one) => [one.id, one.dueAt]);
    expect(await due(newYear + 1, 1)).toEqual([["as_1", newYear + 101]]);
    const both = await Promise.all([due(newYear + 1), due(newYear + 1)]);
    expect(both.flat()).toEqual([["as_0", newYear + 101]]);
    await fixture.assetStore.updateAsset("as_0", { dueAt: null });
    expect((await due(newYear + 101)).map(([id]) => id).toSorted()).toEqual(["as_1", "as_2"]);
  });

  test("ignores writes of a worker that lost its lease", async () => {
    await using fixture = await make();
    await fixture.assetStore.createGroup(assetGroup("cast"));
    await fixture.assetStore.createAsset(asset("a", { status: "Processing", dueAt: newYear }));
    const slow = only(await fixture.assetStore.dueAssets(newYear, 100, 9));
    const quick = only(await fixture.assetStore.dueAssets(newYear + 100, 100, 9));
    const write = (dueAt: number | null) =>
      fixture.assetStore.updateAsset("as_a", { status: "Active", dueAt: null }, { dueAt });
    expect(await write(slow.dueAt)).toBe(false);
    expect(await fixture.assetStore.findAsset("ws_1", "as_a")).toEqual(quick);
    expect(await write(quick.dueAt)).toBe(true);
    expect(await write(quick.dueAt)).toBe(false);
    expect(await fixture.assetStore.updateAsset("as_a", { error: null }, { status: "Processing" })).toBe(false);
    expect(await fixture.assetStore.updateAsset("as_none", { error: null })).toBe(false);
  });

  test("counts every asset and every task result that uses a blob, in all workspaces", async () => {
    await using fixture = await make();
    const uses = () => fixture.assetStore.blobUses("ab");
    expect(await uses()).toBe(0);
    await fixture.assetStore.createGroup(assetGroup("cast"));
    await fixture.assetStore.createGroup(assetGroup("theirs", { workspaceId: "ws_2" }));
    await fixture.assetStore.createAsset(asset("a", { blobHash: "ab" }));
    await fixture.assetStore.createAsset(asset("b", { blobHash: "ab", workspaceId: "ws_2", groupId: "ag_theirs" }));
    await fixture.assetStore.createAsset(asset("c", { blobHash: "cd" }));
    expect(await uses()).toBe(2);
    const others = [{ id: "as_a" }, { id: "as_c" }, { groupId: "ag_cast" }, { groupId: "ag_theirs" }];
    expect(await Promise.all(others.map((except) => fixture.assetStore.blobUses("ab", except)))).toEqual([1, 2, 1, 1]);
    const output = only([fullTask.output]);
    await fixture.taskStore.create(task("t", { output: output === null ? null : { ...output, blobHash: null } }));
    await fixture.taskStore.attachBlob("vt_t", "ab", null);
    expect([await uses(), await fixture.assetStore.blobUses("ab", { id: "vt_t" })]).toEqual([3, 2]);
    await fixture.assetStore.deleteGroup("ws_1", "ag_cast");
    await fixture.assetStore.deleteAsset("ws_2", "as_b");
    expect(await uses()).toBe(1);
  });
}
