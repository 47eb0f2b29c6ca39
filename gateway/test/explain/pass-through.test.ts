import { expect, test } from "bun:test";
import { call, ownGrant, startGranted, startVendor } from "../endpoints/providers/vendor.ts";
import { aliceKey } from "../started-gateway.ts";
import { captureOf, explanationOf } from "./fixture.ts";

test("explains why a passed-through call failed or was refused", async () => {
  const vendor = await startVendor();
  const gateway = await startGranted(vendor);
  try {
    vendor.answer = (_, response) => {
      response.writeHead(404, { "content-type": "application/json" });
      response.end('{"error":{"message":"No such File object"}}');
    };
    const failed = await explanationOf(gateway, await call(gateway, "GET", "/files/file-1"));
    expect(failed?.failures.map(({ message }) => message)).toEqual([expect.stringContaining("No such File object")]);
    const headers = { authorization: `Bearer ${aliceKey}` };
    const other = await fetch(`${gateway.url}/v1/providers/main/files`, { headers });
    expect((await explanationOf(gateway, other))?.refusal).toMatchObject({
      code: "not_found",
      message: expect.stringContaining("The workspace acme does not name"),
    });
    const denied = await call(gateway, "GET", "/organization/users");
    expect((await explanationOf(gateway, denied))?.refusal).toMatchObject({ code: "forbidden" });
  } finally {
    await gateway.stop();
    vendor.stop();
  }
});

test("captures passed-through bodies without the account's key, and of an upload only the size", async () => {
  const vendor = await startVendor();
  const keys = [{ name: "alice", secret: aliceKey, pass_through: ["own"], capture: "bodies" as const }];
  const gateway = await startGranted(vendor, {}, { workspace: { ...ownGrant, keys } });
  try {
    vendor.answer = ({ headers }, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ echoed: headers["authorization"] }));
    };
    const upload = { body: new Uint8Array(1_234), headers: { "content-type": "application/octet-stream" } };
    const uploaded = await call(gateway, "POST", "/uploads", upload);
    await uploaded.text();
    const capture = await captureOf(gateway, uploaded);
    expect(capture).toMatchObject({ request_bytes: 1_234 });
    expect(capture?.response_body).toContain("echoed");
    expect(JSON.stringify(capture)).not.toContain("sk-upstream-of-own");
    expect(JSON.stringify(capture)).not.toContain(aliceKey);
  } finally {
    await gateway.stop();
    vendor.stop();
  }
});
