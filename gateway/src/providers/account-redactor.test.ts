import { expect, test } from "bun:test";
import { Secret } from "#core/index.ts";
import { bytes, providerOf } from "../../test/provider-fixture.ts";
import { accountRedactor } from "./setting-secrets.ts";

const keyId = "0123456789abcdef0123456789abcdef01234567";
const account = {
  type: "service_account",
  project_id: "proj",
  private_key_id: keyId,
  private_key: "-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----\n",
  client_email: "sluice@proj.iam.gserviceaccount.com",
};
const provider = providerOf("vertex", { secret: new Secret(JSON.stringify(account)) });
const redacted = (text: string): string => new TextDecoder().decode(accountRedactor(provider).bytes(bytes(text)));

test("does not redact a refusal that only starts like a key file", () => {
  const refusal = '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long"}}';
  expect(redacted(refusal)).toBe(refusal);
});

test("redacts a key file's secrets, whether alone, truncated or within the whole file", () => {
  expect(redacted(`The key ${keyId} of ${account.client_email} was revoked.`)).toBe(
    `The key [redacted] of ${account.client_email} was revoked.`,
  );
  expect(redacted(`The key ${keyId.slice(0, 12)} was revoked.`)).toBe("The key [redacted] was revoked.");
  expect(redacted(`Cannot read ${JSON.stringify(account)}.`)).not.toContain("MIIEvQ");
  expect(redacted(`Cannot read ${account.private_key}.`)).not.toContain("MIIEvQ");
});
