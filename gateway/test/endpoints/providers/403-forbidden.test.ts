import { afterAll, beforeAll, expect, test } from "bun:test";
import { errorOf, type StartedGateway } from "../../started-gateway.ts";
import { call, ownGrant, startGranted, startVendor, type Vendor, waitForBudgets } from "./vendor.ts";

let vendor: Vendor;
let gateway: StartedGateway;
beforeAll(async () => {
  vendor = await startVendor();
  gateway = await startGranted(vendor, {
    settings: { pass_through: { deny: ["fine_tuning/jobs", "/Files/Secret/"] } },
  });
});
afterAll(async () => {
  await gateway.stop();
  vendor.stop();
});

test.each([
  "/organization/admin_api_keys",
  "/v1/organization/users",
  "/V1/Organization/Users",
  "/v1/organizations/api_keys",
  "/organization%3Busers",
  "/organization;x/users",
  "/projects/proj_1/roles",
  "/v1/dashboard/billing/credit_grants",
  "/keys",
  "/v1/key/generate",
  "/auth/keys",
  "/credits/coinbase",
  "/account",
  "/tunedModels/mine/permissions",
  "/tunedModels/mine:transferOwnership",
  "/publishers/google/models/x:setIamPolicy",
  "/load_lora_adapter",
  "/libraries/lib-1/share",
  "/model/new",
  "/user/balance",
  "/fine_tuning/jobs",
  "/v1/fine_tuning/jobs/ftjob-1/cancel",
  "/update_weights_from_disk",
  "/update_weights_from_ipc",
  "/v1/Update_Weights_Group",
  "/flush_cache;a",
  "/v1/cache/flushall",
  "/customer/new",
  "/pause_generation",
  "/continue_generation",
  "/scale_elastic_ep",
  "/start_profile",
  "/stop_profile",
  "/reset_mm_cache",
  "/release_memory_occupation",
  "/resume_memory_occupation",
  "/get/config",
  "/spend/logs",
  "/fine_tuning;a/jobs",
  "/fine_tuning%3Ba/jobs",
  "/v1;a/fine_tuning/jobs;b",
  "/FINE_TUNING/Jobs/",
  "/%EF%BD%86ine_tuning/jobs",
  "/files/secret",
  "/files/secret:x",
  "/files/secret;x/content",
])("rejects %s, which administers the account", async (path) => {
  const before = vendor.received.length;
  const error = await errorOf(await call(gateway, "POST", path, { body: "{}" }));
  expect(error).toMatchObject({ status: 403, code: "forbidden" });
  expect(vendor.received.length).toBe(before);
  expect((await gateway.entries())[0]).toMatchObject({
    outcome: "rejected",
    httpStatus: 403,
    endpoint: "pass-through",
  });
});

test.each([
  "/files",
  "/batches",
  "/fine_tuning/checkpoints",
  "/vector_stores",
  "/models/organization-model",
  "/organizationx",
])("passes %s through", async (path) => {
  expect((await call(gateway, "GET", path)).status).toBe(200);
});

test("rejects calls without a known price under a budget, unless the provider has a price per call", async () => {
  const workspace = { ...ownGrant, budget: { usd: 100, period: "month" as const } };
  const unpriced = await startGranted(vendor, {}, { workspace });
  const free = await startGranted(vendor, { settings: { pass_through: { price_per_call: 0 } } }, { workspace });
  try {
    await waitForBudgets(unpriced);
    await waitForBudgets(free);
    const before = vendor.received.length;
    const error = await errorOf(await call(unpriced, "GET", "/files"));
    expect(error).toMatchObject({ status: 403, code: "forbidden" });
    expect(error.message).toContain("price_per_call");
    const background = { model: "upstream-gpt", input: "x", background: true };
    const later = await call(unpriced, "POST", "/responses", { body: JSON.stringify(background) });
    expect(later.status).toBe(403);
    expect(vendor.received.length).toBe(before);
    expect((await call(free, "GET", "/files")).status).toBe(200);
    expect((await free.entries())[0]).toMatchObject({ costNanoUsd: 0, priceVersion: "call:0" });
  } finally {
    await unpriced.stop();
    await free.stop();
  }
});

test("rejects another model than the one with a price", async () => {
  const models = [
    { name: "ours", deployments: [{ provider: "own", upstream_model: "theirs" }], price: { input: 1, output: 1 } },
  ];
  const workspace = { ...ownGrant, budget: { usd: 100, period: "month" as const } };
  const budgeted = await startGranted(vendor, { kind: "openai" }, { workspace, models });
  try {
    const messages = [{ role: "user", content: "hi" }];
    const send = (more: object) =>
      call(budgeted, "POST", "/v1/chat/completions", {
        body: JSON.stringify({ model: "theirs", messages, max_tokens: 5, ...more }),
      });
    await waitForBudgets(budgeted);
    expect((await send({})).status).toBe(200);
    for (const more of [{ model: "others" }, { models: ["x"] }]) {
      expect((await send(more)).status).toBe(403);
    }
  } finally {
    await budgeted.stop();
  }
});
