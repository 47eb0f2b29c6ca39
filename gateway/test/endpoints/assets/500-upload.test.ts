import { expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { aliceKey, errorOf, startGateway } from "../../started-gateway.ts";
import { videoGateway } from "../video-tasks/video-gateway.ts";
import { png, uploadForm } from "./upload-form.ts";

test("returns 500 and creates no asset when the file cannot be stored", async () => {
  const gateway = await startGateway(videoGateway);
  try {
    const created = await gateway.post("/v1/asset-groups", { platform: "local", name: "heroes" });
    const { id } = (await created.json()) as { id: string };
    // Replace the folder of the blobs with a file.
    rmSync(join(gateway.dataDir, "blobs"), { recursive: true, force: true });
    writeFileSync(join(gateway.dataDir, "blobs"), "");
    const body = uploadForm({ group_id: id }, png(300, 300));
    const headers = { authorization: `Bearer ${aliceKey}` };
    const answer = await fetch(`${gateway.url}/v1/assets`, { method: "POST", headers, body });
    expect(await errorOf(answer)).toMatchObject({ status: 500, code: "internal_error" });
    expect(((await (await gateway.get("/v1/assets")).json()) as { data: object[] }).data).toEqual([]);
  } finally {
    await gateway.stop();
  }
});
