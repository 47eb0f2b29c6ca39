import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serveSimulator } from "@sluice/simulator";
import { upstream } from "../../started-gateway.ts";
import { bearer, startFilesGateway, strangerKey } from "../files/files-gateway.ts";

test("an object belongs to its workspace after a restart, and is listed", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "sluice-objects-"));
  const vendor = serveSimulator();
  const start = () =>
    startFilesGateway({
      environment: { dataDir },
      providers: (simulator) =>
        (["openai", "anthropic", "gemini"] as const).map((kind) =>
          upstream(kind, simulator, { kind, base_url: vendor.url }),
        ),
    });
  try {
    const first = await start();
    const made = await first.post("/v1/containers", { name: "kept" });
    const { id } = (await made.json()) as { id: string };
    await first.stop();
    const second = await start();
    expect(await (await second.get("/v1/containers")).json()).toMatchObject({ data: [{ id }], has_more: false });
    expect((await second.get(`/v1/containers/${id}`)).status).toBe(200);
    expect((await second.get(`/v1/containers/${id}`, bearer(strangerKey))).status).toBe(404);
    await second.stop();
  } finally {
    await vendor.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
});
