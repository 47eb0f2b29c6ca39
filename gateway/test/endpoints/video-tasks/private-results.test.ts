import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { startVendor, type Vendor } from "../providers/vendor.ts";
import { settledTask, taskRequest, videoGateway } from "./video-gateway.ts";

/** An account in the private network, and another service there that is not configured in the gateway. */
let vendor: Vendor;
let otherService: Vendor;
let gateway: StartedGateway;
beforeAll(async () => {
  [vendor, otherService] = await Promise.all([startVendor(), startVendor()]);
  const sendFilm = (response: {
    setHeader(name: string, value: string): unknown;
    end(body: string): unknown;
  }): void => {
    response.setHeader("content-type", "video/mp4");
    response.end("bytes");
  };
  otherService.answer = (_, response) => sendFilm(response);
  vendor.answer = ({ method, target, body }, response) => {
    if (target === "/moved") {
      response.statusCode = 302;
      response.setHeader("location", `${otherService.url}/secret`);
      response.end();
    } else if (target === "/film") sendFilm(response);
    else {
      response.setHeader("content-type", "application/json");
      const prompt = Object.keys(addresses).find((prompt) => body.toString().includes(`"${prompt}"`));
      const id = target.split("/").at(-1) ?? "";
      const done = { id, status: "succeeded", content: { video_url: addresses[id]?.() } };
      response.end(JSON.stringify(method === "POST" ? { id: prompt } : done));
    }
  };
  gateway = await startGateway({
    ...videoGateway,
    providers: () => [
      { id: "volc", kind: "ark", base_url: vendor.url, api_key: "sk-of-volc", allow_private_network: true },
    ],
    models: [
      {
        name: "clip-test",
        type: "video",
        deployments: [{ provider: "volc", upstream_model: "doubao-seedance-2-0-260128" }],
        price: { output: 6 },
      },
    ],
    keys: [{ name: "alice", secret: aliceKey }],
  });
});
afterAll(async () => {
  await gateway.stop();
  vendor.stop();
  otherService.stop();
});

const addresses: Readonly<Record<string, () => string>> = {
  own: () => `${new URL(vendor.url).origin}/film`,
  named: () => `${otherService.url}/secret`,
  moved: () => `${new URL(vendor.url).origin}/moved`,
  alike: () => `${new URL(vendor.url).origin}@127.0.0.1:${new URL(otherService.url).port}/secret`,
};

test("fetches a result from the private network only at the account's own origin", async () => {
  const contents = await Promise.all(
    Object.keys(addresses).map(async (prompt) => {
      const { id } = (await (await gateway.post("/v1/video/tasks", { ...taskRequest, prompt })).json()) as {
        id: string;
      };
      expect(await settledTask(gateway, id)).toMatchObject({ status: "succeeded" });
      const response = await gateway.get(`/v1/video/tasks/${id}/content`);
      return [prompt, response.status, response.ok ? await response.text() : null];
    }),
  );
  expect(contents).toEqual([
    ["own", 200, "bytes"],
    ["named", 404, null],
    ["moved", 404, null],
    ["alike", 404, null],
  ]);
  expect(otherService.received).toHaveLength(0);
});
