import { afterAll, beforeAll, expect, test } from "bun:test";
import { errorOf, type StartedGateway } from "../../started-gateway.ts";
import { bearer, fileForm, startFilesGateway, untilStored } from "./files-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startFilesGateway({ settings: { files: { workspace_gigabytes: 0 } } });
});
afterAll(() => gateway.stop());

test("returns 400 when the workspace has no room for the file, and stores nothing", async () => {
  const body = fileForm({ purpose: "user_data" }, "x");
  const answer = await fetch(`${gateway.url}/v1/files`, { method: "POST", headers: bearer(), body });
  expect(await errorOf(answer)).toMatchObject({ status: 400, code: "file_quota_exceeded" });
  await untilStored(gateway, []);
});
