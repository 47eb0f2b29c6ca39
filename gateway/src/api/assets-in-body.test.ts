import { expect, test } from "bun:test";
import { BodyWork } from "#bodies/index.ts";
import { CallerMemory } from "#core/index.ts";
import type { ApiDependencies } from "./dependencies.ts";
import { withAssets } from "./endpoints/model-calls.ts";

test("stops reading assets that do not fit into the memory for bodies", async () => {
  let read = 0;
  const portable = async (): Promise<object> => {
    read++;
    return { url: `asset://copy_${read}`, inline: { mediaType: "image/png", bytes: new Uint8Array(1_000) } };
  };
  const bodies = new BodyWork({ offload: null, newId: (prefix) => prefix });
  const dependencies = { bodies, assets: { portable } } as unknown as ApiDependencies;
  const image = Array.from({ length: 5 }, (_, index) => `asset://as_${index}`);
  const principal = { key: { id: "key_1" }, workspace: { id: "ws_1" } } as Parameters<typeof withAssets>[1];
  const memory = new CallerMemory({ largeBytes: 20_000, smallBytes: 0, smallBytesMax: 0 });
  const place = memory.open(principal, "request");
  const put = withAssets(dependencies, principal, { body: Buffer.from(JSON.stringify({ image })), marks: null }, place);
  await expect(put).rejects.toMatchObject({ code: "overloaded" });
  expect(read).toBe(3);
  place.release();
  expect(memory.bytes).toBe(0);
});
