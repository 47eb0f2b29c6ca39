import { expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { until } from "../../../../test/until.ts";
import { resultBytes } from "../../../test/simulation/simulated-ark.ts";
import {
  catOnRoof,
  createCall,
  failureOf,
  oneUsd,
  openTaskSetup,
  openTaskWorld,
  passTime,
  settleDown,
} from "../../../test/simulation/task-setup.ts";

test("a result is streamed from the vendor with its range, without the vendor's own headers", async () => {
  await using world = await openTaskWorld();
  const { videos } = openTaskSetup(world);
  const made = await videos.create(createCall(world, catOnRoof));
  const signal = new AbortController().signal;
  expect((await failureOf(videos.content("ws_1", made.id, { range: null, still: null }, signal))).code).toBe(
    "not_found",
  );
  videos.start();
  await passTime(world.clock, 60_000);
  const whole = await videos.content("ws_1", made.id, { range: null, still: null }, signal);
  expect([whole.status, whole.headers["content-type"], whole.headers["set-cookie"]]).toEqual([
    200,
    "video/mp4",
    undefined,
  ]);
  expect(await new Response(whole.body).bytes()).toEqual(resultBytes);
  const part = await videos.content("ws_1", made.id, { range: "bytes=4-8", still: null }, signal);
  expect([part.status, part.headers["content-range"]]).toEqual([206, `bytes 4-8/${resultBytes.length}`]);
  expect(await new Response(part.body).text()).toBe("bytes");
  const request = world.ark.sent.at(-1);
  expect([request?.headers["authorization"], request?.allowPrivateNetwork]).toEqual([undefined, false]);

  world.ark.resultStatus = 403;
  expect((await failureOf(videos.content("ws_1", made.id, { range: null, still: null }, signal))).message).toContain(
    "dead",
  );
  await videos.stop();
  world.clock.advance(2 * 86_400_000);
  const expired = await failureOf(videos.content("ws_1", made.id, { range: null, still: null }, signal));
  expect([expired.code, expired.message.includes("expired at 2026")]).toEqual(["not_found", true]);
});

test("serves a copied result after the vendor's link has expired", async () => {
  await using world = await openTaskWorld();
  const { videos } = openTaskSetup(world, { blobs: world.blobs, copyResults: () => true });
  const made = await videos.create(createCall(world, catOnRoof));
  videos.start();
  await passTime(world.clock, 60_000);
  // The copy is written to a real disk, which the fake clock does not control.
  await until(async () => {
    await settleDown();
    return videos.busy === 0;
  });
  world.ark.resultStatus = 404;
  const signal = new AbortController().signal;
  const copy = await videos.content("ws_1", made.id, { range: "bytes=-5", still: null }, signal);
  expect([copy.status, copy.headers["content-length"], copy.headers["content-type"]]).toEqual([206, "5", "video/mp4"]);
  expect(await new Response(copy.body).text()).toBe("video");
  expect((await videos.content("ws_1", made.id, { range: "bytes=900-", still: null }, signal)).status).toBe(416);
  expect(await videos.get("ws_1", made.id)).toMatchObject({ state: "succeeded", costNanoUsd: oneUsd });
  await videos.stop();
});

test("copies results of a stopped process after the next start, while their links are valid", async () => {
  await using world = await openTaskWorld();
  const first = openTaskSetup(world).videos;
  const { id } = await first.create(createCall(world, catOnRoof));
  first.start();
  await passTime(world.clock, 60_000);
  await first.stop();
  expect((await first.find("ws_1", id)).output).toMatchObject({ blobHash: null });
  const { videos } = openTaskSetup(world, { blobs: world.blobs, copyResults: () => true });
  videos.start();
  await until(() => videos.busy === 0);
  const { output } = await videos.find("ws_1", id);
  expect(await world.blobs.stat(output?.blobHash ?? "")).toMatchObject({ size: resultBytes.length });
  await videos.stop();

  const asked = world.ark.sent.length;
  const later = openTaskSetup(world, { blobs: world.blobs, copyResults: () => true }).videos;
  later.start();
  await until(() => later.busy === 0);
  expect(world.ark.sent.length).toBe(asked);
  await later.stop();
});

test("does not copy a result with an expired link", async () => {
  await using world = await openTaskWorld();
  const first = openTaskSetup(world).videos;
  const { id } = await first.create(createCall(world, catOnRoof));
  first.start();
  await passTime(world.clock, 60_000);
  await first.stop();
  world.clock.advance(2 * 86_400_000);
  const asked = world.ark.sent.length;
  const { videos } = openTaskSetup(world, { blobs: world.blobs, copyResults: () => true });
  videos.start();
  await until(() => videos.busy === 0);
  expect([world.ark.sent.length, (await videos.find("ws_1", id)).output?.blobHash]).toEqual([asked, null]);
  await videos.stop();
});

test("neither serves nor copies a text page behind the link of a video", async () => {
  await using world = await openTaskWorld();
  const { videos } = openTaskSetup(world, { blobs: world.blobs, copyResults: () => true });
  const signal = new AbortController().signal;
  videos.start();
  for (const type of ["text/html; charset=utf-8", "application/problem+json", "application/xml"]) {
    world.ark.resultType = type;
    const { id } = await videos.create(createCall(world, catOnRoof));
    await passTime(world.clock, 90_000);
    expect([videos.busy, (await videos.find("ws_1", id)).output?.blobHash]).toEqual([0, null]);
    const failure = await failureOf(videos.content("ws_1", id, { range: null, still: null }, signal));
    expect(failure).toMatchObject({ code: "not_found", message: "The upstream's link to the result is dead." });
    world.ark.resultType = "binary/octet-stream";
    const late = await videos.content("ws_1", id, { range: null, still: null }, signal);
    expect(await new Response(late.body).bytes()).toEqual(resultBytes);
  }
  await videos.stop();
});

test("serves the vendor's file while the copy cannot be read, and reports the storage fault if both fail", async () => {
  await using world = await openTaskWorld();
  const { videos } = openTaskSetup(world, { blobs: world.blobs, copyResults: () => true });
  const made = await videos.create(createCall(world, catOnRoof));
  videos.start();
  await passTime(world.clock, 60_000);
  await until(async () => {
    await settleDown();
    return videos.busy === 0;
  });
  rmSync(world.blobDirectory, { recursive: true });
  writeFileSync(world.blobDirectory, "a file where the folder was");
  const signal = new AbortController().signal;
  const whole = await videos.content("ws_1", made.id, { range: null, still: null }, signal);
  expect(await new Response(whole.body).bytes()).toEqual(resultBytes);
  world.ark.resultStatus = 404;
  expect(
    await videos.content("ws_1", made.id, { range: null, still: null }, signal).catch((thrown: unknown) => thrown),
  ).not.toMatchObject({
    code: "not_found",
  });
  await videos.stop();
});
