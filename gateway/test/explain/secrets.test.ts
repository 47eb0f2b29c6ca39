import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { hello, startGateway, upstream } from "../started-gateway.ts";
import { captureOf, explanationOf } from "./fixture.ts";

/** None of these has the form of a credential, so redaction must know the values. */
const callerKey = "canary-of-the-caller-0123456789";
const providerKey = "canary-of-the-provider-9876543210";
const settingKey = "canary-of-the-settings-5555";
const cookie = "canary-of-the-cookie-7777777777";
const canaries = [callerKey, providerKey, settingKey, cookie];

test("writes no credential to any file of the data directory", async () => {
  const gateway = await startGateway({
    providers: (simulator) => [
      upstream("main", simulator, { api_key: providerKey, settings: { secret_access_key: settingKey } }),
    ],
    keys: [{ name: "alice", secret: callerKey, capture: "bodies" }],
  });
  const upstreamMessage = `The key ${providerKey} (${settingKey}) is wrong; you are ${callerKey} with ${cookie}.`;
  const headers = { cookie: `session=${cookie}`, "x-api-key": callerKey, "x-of-a-tool-token": cookie };
  const script = { error_message: upstreamMessage };
  const echo = { ...hello, messages: [{ role: "user", content: `my key is ${callerKey}, my cookie ${cookie}` }] };
  try {
    // The upstream refuses with a message that contains all credentials. The gateway passes some of these messages on
    // and replaces others.
    for (const status of [400, 403, 401, 500]) {
      const response = await gateway.chat(echo, { key: callerKey, headers, script: { ...script, status } });
      const explanation = await explanationOf(gateway, response);
      expect(explanation?.failures.length).toBeGreaterThan(0);
      const capture = await captureOf(gateway, response);
      expect(capture?.request_body).toContain("my key is [redacted], my cookie [redacted]");
    }
    for (const body of [echo, { ...echo, stream: true }]) {
      const response = await gateway.chat(body, { key: callerKey, headers, script: { tokens: 3 } });
      await response.arrayBuffer();
      expect(await captureOf(gateway, response)).not.toBeNull();
    }
    await gateway.entries();
    for (const file of filesBelow(gateway.dataDir)) {
      const bytes = readFileSync(file);
      for (const canary of canaries) {
        expect({ file, canary, found: bytes.includes(canary) }).toEqual({ file, canary, found: false });
      }
    }
  } finally {
    await gateway.stop();
  }
});

function filesBelow(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
